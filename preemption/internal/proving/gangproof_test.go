package proving_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/proving"
	"github.com/preempt-go/preempt/reprieve"
	"github.com/preempt-go/preempt/victims"
)

// newGang is a world in which a gang of equal members asks for room, in one domain or in one of two, or each of them on a node.
func newGang(t *testing.T, draw *rand.Rand) (w *world, domains []domain.Domain) {
	s, ranking := anyCluster(draw, 2+draw.IntN(2), 4), rankings[draw.IntN(len(rankings))]
	if !slices.Contains(ranking, victims.CriterionStarted) && draw.IntN(3) == 0 {
		elastic(draw, s)
	}
	high, one := int32(25+10*draw.IntN(2)), int32(1)
	s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: "job", MinCount: &one, Priority: &high})
	requests := cluster.Resources{cluster.CPU: 1 + draw.Int64N(5), cluster.Memory: draw.Int64N(5)}
	for i := range 1 + draw.IntN(5) {
		s.Pods = append(s.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprint("job-", i), Group: "job", Requests: requests})
	}
	w = ofCluster(t, s, &ask.Settings{Ranking: ranking, Effort: ask.Exact})
	g := w.Index.GroupByName(cluster.KindPodGroup, "default", "job")
	w.Group, w.Priority = w.Index.Group(g), high
	w.Tree = seating.NewGroup(w.Index, g, func(p cluster.PodID) domain.MemberID {
		w.Members = append(w.Members, w.NewMember(w.Index.Pod(p), p))
		return domain.MemberID(len(w.Members) - 1)
	})
	w.SettleClaim()
	domains = seating.Split(w.Index, nil)
	if all := domains[0].Nodes; draw.IntN(2) == 0 {
		domains = []domain.Domain{{Name: "one", Nodes: all[:1]}, {Name: "two", Nodes: all[1:]}}
	}
	if draw.IntN(4) == 0 {
		w.given = map[cluster.NodeID]int64{}
		for m := range w.Members {
			n := cluster.NodeID(draw.IntN(w.Index.NumNodes()))
			w.Given, w.given[n] = append(w.Given, domain.Assignment{Member: domain.MemberID(m), Node: n}), w.given[n]+1
		}
		domains = seating.Split(w.Index, nil)
	}
	return w, domains
}

// slots is for how many members there is room on node n once a set has gone; those who are to go there count as one.
func (w *world) slots(n cluster.NodeID, list []cluster.PodID, s set) int64 {
	most := int64(len(w.Members))
	if w.given != nil {
		most = min(w.given[n], 1)
	}
	for r, v := range w.Members[0].Request() {
		if v *= w.together(n); v > 0 {
			most = min(most, max(w.Index.Free(n)[r]+w.frees(list, s, r), 0)/v)
		}
	}
	return most
}

// fits reports whether so many members have places with nobody gone.
func (w *world) fits(domains []domain.Domain, seats int64) bool {
	return slices.ContainsFunc(domains, func(d domain.Domain) bool {
		room := int64(0)
		for _, n := range d.Nodes {
			room += w.slots(n, nil, 0)
		}
		return room >= seats
	})
}

// leastOfGang is the least that a set of pods of one domain has with which so many members have places, by criterion, and the first
// such set; nil: there is none.
func (w *world) leastOfGang(domains []domain.Domain, seats int64) (best []int64, parts victims.Parts) {
	for _, d := range domains {
		var list []cluster.PodID
		for _, n := range d.Nodes {
			list = append(list, w.lower(n)...)
		}
		for s := range set(1) << len(list) {
			room := int64(0)
			for _, n := range d.Nodes {
				at := set(0)
				for i, p := range list {
					if has(s, i) && w.Index.NodeOf(p) == n {
						at |= 1 << slices.Index(w.lower(n), p)
					}
				}
				room += w.slots(n, w.lower(n), at)
			}
			if room < seats {
				continue
			}
			var values []int64
			for _, c := range w.criteria {
				values = append(values, w.value(list, s, c))
			}
			if best == nil || slices.Compare(values, best) < 0 {
				best, parts = values, victims.Parts{}
				for i, p := range list {
					if u, ok := w.Units.UnitOf(p); ok && has(s, i) {
						parts[u] = append(parts[u], p)
					}
				}
			}
		}
	}
	return best, parts
}

// shown is how much of a criterion so many members cost on node n at least, by steps.
func (w *world) shown(n cluster.NodeID, steps []proving.Step, bound []int64, members int64) (most int64) {
	for _, step := range steps {
		if w.members = step.Members; step.Members <= members {
			low, high := int64(0), int64(1)<<36 // the first of which they don't
			for low < high {
				if mid := (low + high) / 2; w.reads(n, step, bound, mid) {
					low = mid + 1
				} else {
					high = mid
				}
			}
			most = max(most, low)
		}
	}
	return most
}

// TestProofsOfAGang: what the best of all sets has is shown to be the least, or less, by numbers that add up; of the
// highest priority all of it is shown. That none helps is shown where none does.
func TestProofsOfAGang(t *testing.T) {
	exact, less, refuted, weights, sum := 0, 0, 0, 0, fnv.New64a()
	for seed := range uint64(700) {
		w, domains := newGang(t, rand.New(rand.NewPCG(seed, 9)))
		runner := reprieve.NewRunner(w.Units, w.Budgets)
		polls := 0
		w.Poll = func() { polls++ }
		for seats := range len(w.Members) {
			if seats++; w.fits(domains, int64(seats)) || w.given != nil && seats != len(w.given) {
				continue
			}
			best, parts := w.leastOfGang(domains, int64(seats))
			at := fmt.Sprint("seed ", seed, ", ", seats, " members ", w.criteria)
			polls = 0
			proof, ok := proving.RefuteGang(w.Question, runner, domains, seats)
			require.Equal(t, best == nil, ok, at)
			fmt.Fprintln(sum, proof, polls)
			if best == nil {
				require.Len(t, proof.Domains, len(domains))
				require.GreaterOrEqual(t, polls, w.Index.NumNodes(), at)
				refuted++
				continue
			}
			for _, more := range []int64{0, 1} {
				bound := slices.Clone(best)
				bound[0] += more
				proof = proving.ProveGang(w.Question, runner, domains, seats, bound, slices.Sorted(maps.Keys(parts)), parts)
				require.LessOrEqual(t, slices.Compare(proof.Bound, best), 0, at)
				fmt.Fprintln(sum, proof, polls)
				if w.criteria[0] == victims.CriterionHighest {
					require.Equal(t, best[0], proof.Bound[0], at)
				}
				if len(proof.Bound) > 0 && slices.Equal(proof.Bound, best[:len(proof.Bound)]) {
					exact++
				} else {
					less++
				}
				for _, d := range proof.Domains {
					w.addsUp(t, &domains[d.Domain], d, proof.Bound, int64(seats), at)
					for i, nodes := range d.Nodes {
						for _, other := range d.Nodes[:i] {
							require.False(t, nodes.Spare == other.Spare && reflect.DeepEqual(nodes.Steps, other.Steps), "%s: told twice", at)
						}
						for _, step := range nodes.Steps {
							for _, c := range step.Cases {
								weights += len(c.Weights)
							}
						}
					}
				}
			}
		}
	}
	t.Log(exact, less, refuted, weights)
	require.Equal(t, []int{624, 2_660}, []int{exact, weights}, "what is shown, and in how many words")
	require.Equal(t, uint64(0xedeb73d3dc07b1bb), sum.Sum64(), "they are the same proofs")
	require.Greater(t, refuted, 50)
}

// addsUp: members on each node cost no less than their price but for what is spared, and all together as much as the
// bound says; of overruns, what some budgets are charged costs, and there is room for as much.
func (w *world) addsUp(t *testing.T, d *domain.Domain, shown proving.Domain, bound []int64, seats int64, at string) {
	k := shown.Criterion
	if shown.Times == 0 { // so few have room where nobody goes who has more
		require.EqualValues(t, 1, shown.Price, at)
		return
	}
	steps, spare := map[cluster.NodeID][]proving.Step{}, map[cluster.NodeID]int64{}
	for _, nodes := range shown.Nodes {
		for _, n := range nodes.Nodes {
			steps[n], spare[n] = nodes.Steps, nodes.Spare
		}
	}
	left, most := shown.Price*seats, bound[k]-1
	if w.counting = nil; w.criteria[k] == victims.CriterionOverruns {
		w.counting = shown.Budgets
		for _, b := range shown.Budgets {
			most += w.room(b)
		}
	}
	for _, n := range d.Nodes {
		list := w.lower(n)
		may := set(0)
		for i := range list {
			if !w.barred(list, i, bound, k, 1<<62) {
				may |= 1 << i
			}
		}
		room := min(w.slots(n, list, may), seats)
		if steps[n] == nil {
			left -= shown.Price * room
			continue
		}
		left -= spare[n]
		for m := range room + 1 {
			require.LessOrEqual(t, shown.Price*m-shown.Times*w.shown(n, steps[n], bound, m), spare[n], "%s: %d on node %d", at, m, n)
		}
	}
	require.Greater(t, left, shown.Times*most, at)
}
