package quotatext

import (
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Answer asks the library.
func (s *Scenario) Answer() (string, error) {
	if s.Evict != nil {
		return s.search()
	}
	r, err := s.Options.Preempt(s.Preemptor, &s.Snapshot)
	if err != nil {
		return "", err
	}
	return s.Render(r), nil
}

// search asks the search for victims alone.
func (s *Scenario) search() (string, error) {
	ix, err := quota.NewIndex(&s.Snapshot)
	if err != nil {
		return "", err
	}
	usage := quota.NewTree(ix).NewUsage()
	for _, r := range ix.Reservations() {
		usage.Add(r.Queue, r.Usage)
	}
	w := *s.Evict
	w.Admission = &cluster.Admission{ClusterQueue: w.Queue}
	asks, _, err := ix.Reserve(&w, ix.Now())
	if err != nil {
		return "", err
	}
	q := &quotasearch.Question{Queue: asks.Queue, Priority: asks.Priority, Ordered: asks.Ordered}
	for _, u := range asks.Usage {
		if u.Amount > 0 {
			q.Request = append(q.Request, u)
		}
		if !slices.Contains(s.Free, ix.ResourceName(u.Column)) {
			q.Contested = append(q.Contested, u.Column)
		}
	}
	order := quotasearch.NewOrder(ix.Queue(q.Queue).Preemption.Order)
	search := quotasearch.New(ix, usage, quotasearch.NewReservations(ix, order))
	var list []quotasearch.Victim
	if o := s.Options.Quota; o.FairSharing != nil {
		precision := quota.Exact
		if o.KueueFloat {
			precision = quota.KueueFloat
		}
		list = search.Fair(q, quotasearch.Strategies(o.FairSharing.Strategies), precision)
	} else {
		list = search.Classical(q)
	}
	grounds := map[string]string{}
	for _, v := range list {
		grounds[v.Workload.Name] = string(v.Reason)
	}
	return RenderVictims(grounds), nil
}

// RenderVictims writes down who goes on what ground, in order of name.
func RenderVictims(grounds map[string]string) string {
	var list []string
	for name, ground := range grounds {
		list = append(list, name+" "+ground)
	}
	slices.Sort(list)
	if len(list) == 0 {
		return "nobody"
	}
	return strings.Join(list, ", ")
}
