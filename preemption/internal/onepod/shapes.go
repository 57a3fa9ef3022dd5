package onepod

import (
	"slices"
	"sync"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
)

// Shapes remembers how the nodes stand for the shapes of pods that are asked about
// again and again: what a question reads of a pod where each node stands by itself,
// whoever runs on others. The zero value knows none. Safe for concurrent use, but for Reset.
type Shapes struct {
	mu    sync.Mutex
	shape map[string]*shape
	order []string // the keys, the longest known first
	warm  int      // how many have a ranking
}

// shape is one shape of pod.
type shape struct {
	looked int // how many nodes questions have looked at without a ranking
	warm   bool

	mu        sync.Mutex
	ranking   *columns.ShapeRanking // where columns tell everything; nil as long as nobody needed it
	standings *standings            // elsewhere; likewise
	shared    bool                  // with a fork: both are cloned before they are changed
}

// own lets both be changed.
func (s *shape) own() {
	if !s.shared {
		return
	}
	s.shared = false
	if s.ranking != nil {
		s.ranking = s.ranking.Clone()
	}
	if s.standings != nil {
		s.standings = s.standings.clone()
	}
}

// mostShapes bounds how many shapes are known, mostSeats how many nodes there are in
// what is known of all of them, at some 36 bytes each in a ranking, 96 in standings.
const (
	mostShapes = 1024
	mostSeats  = 1 << 20
)

// of returns a shape, and whether it is warm, and what is found out about it worth keeping:
// once questions have looked at as many nodes as there are, since that costs more.
func (s *Shapes) of(key []byte, nodes int) (known *shape, warm bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known = s.shape[string(key)]
	switch {
	case known == nil:
		known = s.add(string(key))
	case !known.warm && known.looked >= nodes:
		for (s.warm+1)*nodes > mostSeats && s.warm > 0 {
			s.forget(slices.IndexFunc(s.order, func(key string) bool { return s.shape[key].warm }))
		}
		known.warm = true
		s.warm++
	}
	return known, known.warm
}

// looked notes that a question has looked at some nodes.
func (s *Shapes) looked(known *shape, nodes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known.looked += nodes
}

func (s *Shapes) add(key string) *shape {
	if s.shape == nil {
		s.shape = map[string]*shape{}
	}
	if len(s.order) == mostShapes {
		s.forget(0)
	}
	known := &shape{}
	s.shape[key] = known
	s.order = append(s.order, key)
	return known
}

// mostInherited is how many shapes a fork begins with.
const mostInherited = 16

// Inherit takes the youngest shapes of parent, which is forked. Questions may ask parent
// meanwhile.
func (s *Shapes) Inherit(parent *Shapes) {
	parent.mu.Lock()
	defer parent.mu.Unlock()
	var list []string // the youngest first
	for i := len(parent.order) - 1; i >= 0 && len(list) < mostInherited; i-- {
		if parent.shape[parent.order[i]].warm {
			list = append(list, parent.order[i])
		}
	}
	for _, key := range slices.Backward(list) {
		known := parent.shape[key]
		known.mu.Lock()
		if known.ranking != nil || known.standings != nil {
			known.shared = true
			s.add(key)
			s.shape[key] = &shape{warm: true, ranking: known.ranking, standings: known.standings, shared: true}
			s.warm++
		}
		known.mu.Unlock()
	}
}

// follow lets the ranking follow what has changed. One that a filter leaves half done, as it
// panics, is forgotten.
func (s *shape) follow(sweep *columns.Sweep, ix *cluster.Index) {
	done := false
	defer func() {
		if !done {
			s.ranking = nil
		}
	}()
	s.own()
	s.ranking.Update(sweep, ix)
	done = true
}

// forget forgets the i-th shape in order.
func (s *Shapes) forget(i int) {
	key := s.order[i]
	if s.shape[key].warm {
		s.warm--
	}
	delete(s.shape, key)
	s.order = slices.Delete(s.order, i, i+1)
}

// Reset forgets everything.
func (s *Shapes) Reset() { s.shape, s.order, s.warm = nil, nil, 0 }
