package quotasearch

import (
	"github.com/preempt-go/preempt/internal/cover"
	"github.com/preempt-go/preempt/internal/quota"
)

// Ground is who may go in an attempt of [Search.Classical], and what any of them have to free.
type Ground struct {
	Borrow  bool // the preemptor may
	Victims []Victim
	Rows    []Row
}

// Row says how much of a column has to become free.
type Row struct {
	Column quota.ColumnID
	Up     int       // it is for the holder so many above the queue, 0 the queue itself, or OwnQuota
	Need   int64     // above zero
	Frees  cover.Row // who frees how much of it at most, by position among those who may go
}

// OwnQuota is in place of a holder where the queue must not borrow.
const OwnQuota = -1

// Grounds lists the grounds of all attempts.
func (s *Search) Grounds(q *Question) (list []Ground) {
	s.begin(q)
	s.discover()
	for _, borrow := range s.attempts() {
		l := &quotaLeaster{Search: s, borrow: borrow}
		l.list()
		g := Ground{Borrow: borrow, Rows: l.rows()}
		for i := range l.items {
			g.Victims = append(g.Victims, l.items[i].Victim)
		}
		list = append(list, g)
	}
	return list
}
