package ask

import (
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/victims"
)

// Settings are what rules and options say to the searches.
type Settings struct {
	// Of the rules, each as the options override it.
	MembersWait     bool // a pod that belongs to a group does not preempt by itself
	GroupPolicy     bool // the group's own policy decides; otherwise Never of any pending member
	UniformMembers  bool // members that differ from the group in priority or policy make it not eligible
	Composites      bool // composite groups may preempt, and do so for their child groups
	Topology        bool // groups with topology constraints may preempt
	WaitsForVictims bool // a group waits while victims on its nominated nodes terminate
	OneByOne        bool // the pods of a gang ask one after the other, and how many it needs is not said
	Fewest          bool // room is made for as few members as a gang needs
	Mobile          bool // the gang may move while victims are given back
	Lowest          bool // the lowest sufficient level of victims is looked for
	RepeatOfPod     bool // further passes of the reprieve, for a lone pod
	RepeatOfGang    bool // and for a gang

	// Of the options.
	Sampling    *Sampling // nil: every node is examined
	Candidates  bool      // every domain on which preemption helps is asked for
	Trace       bool      // every step is asked for
	Proof       bool      // of how little may be disrupted
	BrokenFree  bool      // what is left of a broken gang costs nothing
	NoCascade   bool      // who was evicted evicts nobody
	Chain       int       // how many moves may follow from one another where it is asked who has another place
	Effort      Effort    // how hard the least disruption is looked for
	OwnPrices   bool      // the user's, who may price several pods below what each of them costs
	Steps       int       // of one search for victims; 0: the default
	WaitSeconds int64     // before a preemptor evicts anybody, unless it says otherwise
	Ranking     victims.Ranking
	Prefer      domain.Preference // of several nodes that are as good

	// Of the hooks.
	Hooks          bool          // one is set that has a say
	Filter         domain.Filter // nil: none
	Declared       bool          // no other hooks are set than a filter and constraints that declare whom they concern
	OwnConstraints []domain.Constraint
	Compare        victims.Comparison // nil: Ranking
	OwnLiking      Liking             // in place of Prefer; nil: Prefer

	// Where a gang goes.
	Placers   []domain.Placer // tried one after the other; the first wins ties
	OwnPlacer bool            // the user's
	Improves  bool            // placements beyond those of the placers are looked at
	Splitter  domain.Splitter // nil: its topology decides
	Checks    int             // that placements beyond those of the placers may cost

	Asked *int // if set, how often the searches for gangs ask about a member on a node is added to it

	Goroutines int // at most so many work on one question; 0: GOMAXPROCS
	ChunkSize  int // nodes that one of them looks at in a go; 0: the default
}

// Chosen is the placer that options or hooks choose, nil where several are tried for what
// disrupts least: none of them knows better where nobody has to go.
func (s *Settings) Chosen() domain.Placer {
	if len(s.Placers) > 1 {
		return nil
	}
	return s.Placers[0]
}

// Liking says how much a pod prefers a node: more is better.
type Liking func(ix *cluster.Index, pod *cluster.Pod, n cluster.NodeID) int64

// Prefers reports whether nodes that are as good are told apart by more than their names.
func (s *Settings) Prefers() bool { return s.Prefer != domain.FirstByName || s.OwnLiking != nil }

// Sampling limits how many candidates are looked for.
type Sampling struct{ Percent, Minimum, Offset int32 }

// Wanted is how many candidates are wanted among n potential nodes.
func (s *Sampling) Wanted(n int) int {
	return min(max(n*int(s.Percent)/100, int(s.Minimum), 1), n)
}

// Liking is how much member m prefers node n once some units have left, those of parts in
// part; more is better.
func (q *Question) Liking(m *domain.Member, n cluster.NodeID, out []victims.UnitID, parts victims.Parts) int64 {
	switch {
	case q.OwnLiking != nil:
		return q.OwnLiking(q.Index, m.Pod, n)
	case q.Prefer == domain.FirstByName:
		return 0
	}
	l := columns.Likings{Prefer: q.Prefer, Member: m, Index: q.Index}
	l.On(n)
	for _, u := range out {
		l.Leave(parts.Of(q.Units, u))
	}
	return l.Liking()
}
