package domain_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// gangWorld is a small cluster with members that want to go there.
type gangWorld struct {
	ix    *cluster.Index
	trial *domain.GangTrial
	whole domain.Domain
}

// newGangWorld makes nodes of so many cpu, running pods as node and cpu, and members. There may be many resources more, of which
// each pod holds one.
func newGangWorld(t fataler, nodes []int64, pods [][2]int64, members []int64, more ...string) *gangWorld {
	s := &cluster.Snapshot{}
	for i, cpu := range nodes {
		s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprintf("n%d", i), Allocatable: cluster.Resources{cluster.CPU: cpu}})
	}
	for i, p := range pods {
		s.Pods = append(s.Pods, cluster.Pod{
			Name: fmt.Sprintf("p%02d", i), Node: s.Nodes[p[0]].Name, Requests: cluster.Resources{cluster.CPU: p[1]},
		})
	}
	for i, name := range more {
		s.Nodes[0].Allocatable[name] = 3
		if i < len(s.Pods) {
			s.Pods[i].Requests[name] = int64(i)
		}
	}
	ix, err := cluster.NewIndex(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	w := &gangWorld{ix: ix, whole: domain.WholeCluster{}.Split(nil, ix)[0]}
	var list []*domain.Member
	for i, cpu := range members {
		pod := cluster.Pod{Name: fmt.Sprintf("m%d", i), Requests: cluster.Resources{cluster.CPU: cpu}}
		list = append(list, domain.NewMember(ix, &pod, cluster.NoPod))
	}
	w.trial = domain.NewGangTrial(ix, list, nil, func(cluster.PodID) bool { return false })
	return w
}

type fataler interface{ Fatalf(string, ...any) }

// drawGangWorld makes a gangWorld of few sizes, so that much ties.
func drawGangWorld(t *rapid.T, alike bool) (w *gangWorld, members int) {
	size := rapid.Int64Range(1, 3)
	nodes := rapid.SliceOfN(rapid.Int64Range(2, 5), 1, 4).Draw(t, "nodes")
	var pods [][2]int64
	for range rapid.IntRange(0, 6).Draw(t, "pods") {
		pods = append(pods, [2]int64{int64(rapid.IntRange(0, len(nodes)-1).Draw(t, "node")), size.Draw(t, "cpu")})
	}
	list := rapid.SliceOfN(size, 1, 4).Draw(t, "members")
	if alike {
		for i := range list {
			list[i] = list[0]
		}
	}
	var more []string
	for i := range rapid.SampledFrom([]int{0, 0, 70}).Draw(t, "resources") {
		more = append(more, fmt.Sprintf("example.com/r%d", i))
	}
	return newGangWorld(t, nodes, pods, list, more...), len(list)
}

func (w *gangWorld) room() (rows [][]int64) {
	for n := range cluster.NodeID(w.ix.NumNodes()) {
		rows = append(rows, slices.Clone(w.trial.Free(n)))
	}
	return rows
}

// most is how many members any placement on all nodes seats, by trying every one.
func (w *gangWorld) most(members int) int {
	best := 0
	var try func(m int)
	try = func(m int) {
		best = max(best, len(w.trial.Placed()))
		if m == members {
			return
		}
		for _, n := range w.whole.Nodes {
			if w.trial.CanPlace(domain.MemberID(m), n).OK() {
				w.trial.Place(domain.MemberID(m), n)
				try(m + 1)
				w.trial.Unplace()
			}
		}
		try(m + 1)
	}
	try(0)
	return best
}

// undoingLeavesNoTrace: pods that return and members that are taken off leave the
// trial as it was.
func undoingLeavesNoTrace(t *rapid.T) {
	w, members := drawGangWorld(t, false)
	before := w.room()
	var undo []func()
	placed := 0
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		if p := cluster.PodID(rapid.IntRange(0, max(0, w.ix.NumPods()-1)).Draw(t, "pod")); int(p) < w.ix.NumPods() && !w.trial.Gone(p) {
			w.trial.Remove(p)
			undo = append(undo, func() { w.trial.Return(p) })
		}
		if placed < members {
			w.trial.Place(domain.MemberID(placed), w.whole.Nodes[rapid.IntRange(0, len(w.whole.Nodes)-1).Draw(t, "node")])
			placed++
			undo = append(undo, func() { w.trial.Unplace() })
		}
	}
	if rapid.Bool().Draw(t, "all at once") {
		w.trial.Home()
		undo = nil
	}
	for _, u := range slices.Backward(undo) {
		u()
	}
	require.Equal(t, before, w.room())
	require.Empty(t, w.trial.Placed())
	for _, n := range w.whole.Nodes {
		require.Empty(t, w.trial.On(n))
	}
}
func TestUndoingLeavesNoTrace(t *testing.T) { rapid.Check(t, undoingLeavesNoTrace) }

// seatingIsExact: SeatExact seats a number of members if and only if trying every
// placement does, and says that its no is proved.
func seatingIsExact(t *rapid.T) {
	w, members := drawGangWorld(t, rapid.Bool().Draw(t, "alike"))
	for p := range cluster.PodID(w.ix.NumPods()) {
		if rapid.Bool().Draw(t, "gone") {
			w.trial.Remove(p)
		}
	}
	most := w.most(members)
	all := make([]domain.MemberID, members)
	for m := range all {
		all[m] = domain.MemberID(m)
	}
	for need := 1; need <= members; need++ {
		seated, proved := seating.SeatExact(w.trial, &w.whole, []seating.Part{{Members: all, Need: need}}, seating.ExactNodes, func(in []bool) bool { return in[0] }, nil)
		require.Equal(t, need <= most, seated, "%d of %d members, %d can have a place", need, members, most)
		require.True(t, proved)
		if seated {
			require.Len(t, w.trial.Placed(), need)
		}
		w.trial.UnplaceTo(0)
	}
}
func TestSeatingIsExact(t *testing.T) { rapid.Check(t, seatingIsExact) }

// slotsTellWhatFits: counting slots says the same as looking for a placement, through
// any order of departures and returns.
func slotsTellWhatFits(t *rapid.T) {
	w, members := drawGangWorld(t, true)
	need := rapid.IntRange(1, members).Draw(t, "need")
	slots := seating.NewSlotTrial(w.trial, &w.whole, 0, need)
	for range rapid.IntRange(0, 10).Draw(t, "steps") {
		require.Equal(t, w.most(members) >= need, slots.Fits().OK())
		if w.ix.NumPods() == 0 {
			return
		}
		p := cluster.PodID(rapid.IntRange(0, w.ix.NumPods()-1).Draw(t, "pod"))
		if w.trial.Gone(p) {
			slots.Return(p)
		} else {
			slots.Remove(p)
		}
	}
}
func TestSlotsTellWhatFits(t *testing.T) { rapid.Check(t, slotsTellWhatFits) }

// TestPackAndSpread: three nodes of two slots each and three members; one pod takes a
// slot of n0. Pack fills n1, then goes on to n2 as n0 has less room; Spread takes one
// slot on each node, those with more room first.
func TestPackAndSpread(t *testing.T) {
	for _, c := range []struct {
		placer domain.Placer
		want   []string
	}{
		{domain.Pack{}, []string{"n1", "n1", "n2"}},
		{domain.Spread{}, []string{"n1", "n2", "n0"}},
	} {
		w := newGangWorld(t, []int64{2000, 2000, 2000}, [][2]int64{{0, 1000}}, []int64{1000, 1000, 1000})
		n := c.placer.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2}, 3)
		require.Equal(t, 3, n)
		var got []string
		for _, a := range w.trial.Assignments() {
			got = append(got, w.ix.Node(a.Node).Name)
		}
		require.Equal(t, c.want, got)
	}
}

func TestAPlacerStopsWhereNothingFits(t *testing.T) {
	for _, placer := range []domain.Placer{domain.Pack{}, domain.Spread{}} {
		w := newGangWorld(t, []int64{2000, 1000}, nil, []int64{1000, 1000, 1000, 3000})
		require.Equal(t, 3, placer.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2, 3}, 4))
		require.Equal(t, cluster.NoNode, w.trial.At(3), "it is larger than every node")
		w.trial.UnplaceTo(0)
		require.Equal(t, 2, placer.Place(w.trial, &w.whole, nil, []domain.MemberID{0, 1, 2, 3}, 2), "most is a limit")
	}
}

// TestARenewedTrialIsANewOne: a trial that others have used, and left as it was, says of other members what a new one says.
func TestARenewedTrialIsANewOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, numMembers := drawGangWorld(t, false)
		for m := range domain.MemberID(numMembers) {
			for n := range cluster.NodeID(w.ix.NumNodes()) {
				if w.trial.At(m) == cluster.NoNode && w.trial.CanPlace(m, n).OK() {
					w.trial.Place(m, n)
				}
			}
		}
		for p := range cluster.PodID(w.ix.NumPods()) {
			w.trial.Remove(p)
		}
		w.trial.UnplaceTo(0)
		for p := range cluster.PodID(w.ix.NumPods()) {
			w.trial.Return(p)
		}
		var members []*domain.Member
		for i, cpu := range rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 6).Draw(t, "others") {
			pod := cluster.Pod{Name: fmt.Sprintf("o%d", i), Requests: cluster.Resources{cluster.CPU: cpu}}
			members = append(members, domain.NewMember(w.ix, &pod, cluster.NoPod))
		}
		w.trial.Renew(members, nil)
		anew := domain.NewGangTrial(w.ix, members, nil, func(cluster.PodID) bool { return false })
		same := func() {
			require.Equal(t, anew.Placed(), w.trial.Placed())
			for n := range cluster.NodeID(w.ix.NumNodes()) {
				require.Equal(t, anew.Free(n), w.trial.Free(n))
				for m := range domain.MemberID(len(members)) {
					require.Equal(t, anew.Shape(m), w.trial.Shape(m))
					require.Equal(t, anew.At(m), w.trial.At(m))
					if anew.At(m) == cluster.NoNode {
						require.Equal(t, anew.CanPlace(m, n), w.trial.CanPlace(m, n))
					}
				}
			}
		}
		same()
		for m := range domain.MemberID(len(members)) {
			n := cluster.NodeID(rapid.IntRange(0, w.ix.NumNodes()-1).Draw(t, "to"))
			if anew.CanPlace(m, n).OK() {
				anew.Place(m, n)
				w.trial.Place(m, n)
			}
			same()
		}
	})
}

// Whoever left before a pod for which there is no room came back is missed once that pod is gone again, also where members may move.
func TestFitsRemembersWhoLeftWhereItSaysNo(t *testing.T) {
	cpu := func(n int64) cluster.Resources { return cluster.Resources{cluster.CPU: n} }
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Nodes: []cluster.Node{{Name: "n", Allocatable: cpu(10), Labels: map[string]string{"host": "n"}}},
		Pods:  []cluster.Pod{{Name: "friend", Node: "n", Labels: map[string]string{"app": "friend"}}, {Name: "room", Node: "n", Requests: cpu(9)}},
	})
	require.NoError(t, err)
	friend, room := cluster.PodID(0), cluster.PodID(1)
	require.Equal(t, "friend", ix.Pod(friend).Name)
	term := cluster.AffinityTerm{Selector: &disruption.Selector{MatchLabels: map[string]string{"app": "friend"}}, TopologyKey: "host"}
	pod := &cluster.Pod{Name: "m", Requests: cpu(5), Affinity: []cluster.AffinityTerm{term}}
	for _, mobile := range []bool{false, true} {
		state, err := domain.InterPodAffinity().Prepare(ix, []*cluster.Pod{pod})
		require.NoError(t, err)
		trial := domain.NewGangTrial(ix, []*domain.Member{domain.NewMember(ix, pod, cluster.NoPod)}, []domain.State{state}, func(cluster.PodID) bool { return false })
		trial.Mobile, trial.Need = mobile, func(*domain.GangTrial) bool { return false }
		trial.Remove(room)
		trial.Place(0, 0)
		require.True(t, trial.Fits().OK())
		trial.Remove(friend)
		trial.Return(room)
		require.Equal(t, domain.CheckResource, trial.Fits().Check)
		trial.Remove(room)
		require.Equal(t, domain.CheckAffinity, trial.Fits().Check, "mobile: %t", mobile)
	}
}

// Whoever leaves and comes back where constraints look at single nodes: Fits says what it says where it has to ask about everybody;
// unless the order of members matters it asks about those where somebody moved, also once they found no other placement.
func TestFitsAsksWhereSomethingHasChanged(t *testing.T) {
	misfits := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		s := &cluster.Snapshot{}
		least := rapid.SampledFrom([]int64{2, 4}).Draw(t, "least")
		fraction := func(most int64) []cluster.DeviceRequest {
			return []cluster.DeviceRequest{{Resource: "gpu", Fraction: rapid.Int64Range(least, max(most-3*(least-2), least)).Draw(t, "fraction")}}
		}
		var pods []*cluster.Pod
		for i := range 3 {
			s.Nodes = append(s.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Devices: map[string]cluster.DevicePool{"gpu": {Count: 2, Capacity: 10}}})
			for range 3 {
				s.Pods = append(s.Pods, cluster.Pod{Name: fmt.Sprint("p", len(s.Pods)), Node: fmt.Sprint("n", i), Devices: fraction(5)})
			}
			for range 2 {
				pods = append(pods, &cluster.Pod{Name: fmt.Sprint("m", len(pods)), Devices: fraction(7)})
			}
		}
		ix, err := cluster.NewIndex(s)
		require.NoError(t, err)
		var trials [2]*domain.GangTrial
		for i := range trials {
			state, err := domain.Devices().Prepare(ix, pods)
			require.NoError(t, err)
			var members []*domain.Member
			for _, p := range pods {
				members = append(members, domain.NewMember(ix, p, cluster.NoPod))
			}
			trials[i] = domain.NewGangTrial(ix, members, []domain.State{state}, func(cluster.PodID) bool { return false })
		}
		flip := func(p cluster.PodID, leaves bool) {
			for _, trial := range trials {
				if leaves {
					trial.Remove(p)
				} else {
					trial.Return(p)
				}
			}
		}
		for p := range ix.Pods() {
			flip(p, true)
		}
		for m := range domain.MemberID(len(pods)) {
			if n := cluster.NodeID(rapid.IntRange(0, 2).Draw(t, "node")); trials[0].CanPlace(m, n).OK() {
				trials[0].Place(m, n)
				trials[1].Place(m, n)
			}
		}
		require.True(t, trials[0].Fits().OK())
		mobile, whole, placed := rapid.Bool().Draw(t, "mobile"), domain.WholeCluster{}.Split(nil, ix)[0], slices.Clone(trials[0].Placed())
		for _, trial := range trials {
			trial.Mobile, trial.Need = mobile, func(trial *domain.GangTrial) bool {
				return (domain.FirstFit{}).Place(trial, &whole, nil, placed, len(placed)) == len(placed)
			}
		}
		anew := false // they have gone elsewhere since all were asked
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			moved, before, at := []cluster.PodID{}, trials[0].Again, trials[0].Assignments()
			for range rapid.IntRange(1, 3).Draw(t, "at once") {
				p := cluster.PodID(rapid.IntRange(0, ix.NumPods()-1).Draw(t, "pod"))
				flip(p, !trials[0].Gone(p))
				moved = append(moved, p)
			}
			trials[1].Doubt()
			want := trials[1].Fits()
			require.Equal(t, want, trials[0].Fits())
			require.Equal(t, trials[1].Assignments(), trials[0].Assignments())
			stayed := slices.Equal(at, trials[0].Assignments())
			if !trials[0].OrderMatters() && stayed && !anew {
				about := 0
				for n := range ix.Nodes() {
					if slices.ContainsFunc(moved, func(p cluster.PodID) bool { return ix.NodeOf(p) == n }) {
						about += len(trials[0].On(n))
					}
				}
				require.LessOrEqual(t, trials[0].Again-before, 5*about)
			}
			if want.OK() {
				anew = !stayed
				continue
			}
			misfits++
			for _, p := range moved { // it was well before
				flip(p, !trials[0].Gone(p))
			}
		}
	}, &misfits)
}

// TestTrialsOutOfUseLeaveNothing: a trial that reuses the lists of others has everybody in place and nobody placed.
func TestTrialsOutOfUseLeaveNothing(t *testing.T) {
	for i := range 40 {
		w := newGangWorld(t, []int64{5, 5, 5, 5}[:1+i%4], [][2]int64{{0, 1}, {0, 2}}[:i%3], []int64{1, 1})
		for n := range w.ix.Nodes() {
			require.Empty(t, w.trial.On(n))
			require.Equal(t, w.ix.Free(n), w.trial.Free(n))
		}
		for p := range w.ix.Pods() {
			require.False(t, w.trial.Gone(p))
			w.trial.Remove(p)
		}
		w.trial.Place(0, 0)
		w.trial.Close()
	}
}

// tiedMembers are members in two zones, some of which want to be near app=y, away from it, or
// spread with it; of three sets in one all are alike.
func tiedMembers(t *rapid.T) (*domain.GangTrial, []domain.Assignment) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{
		{Name: "n0", Labels: map[string]string{"zone": "a", "host": "0"}}, {Name: "n1", Labels: map[string]string{"zone": "b", "host": "1"}},
		{Name: "n2", Labels: map[string]string{"zone": "b", "host": "2"}},
	}})
	require.NoError(t, err)
	y := map[string]string{"app": "y"}
	on := &disruption.Selector{MatchLabels: y}
	key := rapid.SampledFrom([]string{"zone", "zone", "host"})
	alike := rapid.IntRange(0, 2).Draw(t, "alike") == 0
	var members []*domain.Member
	var pods []*cluster.Pod
	var list []domain.Assignment
	for i := range rapid.IntRange(1, 5).Draw(t, "members") {
		pod := &cluster.Pod{}
		if alike && i > 0 {
			*pod = *pods[0]
		} else {
			if rapid.Bool().Draw(t, "y") {
				pod.Labels = y
			}
			for range rapid.IntRange(0, 2).Draw(t, "wishes") {
				switch rapid.IntRange(0, 2).Draw(t, "wish") {
				case 0:
					pod.Affinity = []cluster.AffinityTerm{{Selector: on, TopologyKey: key.Draw(t, "near")}}
				case 1:
					pod.AntiAffinity = []cluster.AffinityTerm{{Selector: on, TopologyKey: key.Draw(t, "apart")}}
				case 2:
					pod.Spread = append(pod.Spread, cluster.Spread{MaxSkew: 1, TopologyKey: []string{"zone", "host"}[len(pod.Spread)], Selector: on})
				}
			}
		}
		pod.Name = string(rune('a' + i))
		pods, members = append(pods, pod), append(members, domain.NewMember(ix, pod, cluster.NoPod))
		list = append(list, domain.Assignment{Member: domain.MemberID(i), Node: cluster.NodeID(rapid.IntRange(0, 2).Draw(t, "node"))})
	}
	var states []domain.State
	for _, c := range []domain.Constraint{domain.InterPodAffinity(), domain.Anew(domain.TopologySpread())} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	return domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return false }), list
}

// TestPlaceInTurnLooksAtEveryOrder: it places the members if and only if one by one they
// fit in some order.
func TestPlaceInTurnLooksAtEveryOrder(t *testing.T) {
	turned := 0 // the order has to matter
	gen.CheckUntil(t, func(t *rapid.T) {
		trial, list := tiedMembers(t)
		inOrder := func() bool {
			defer trial.UnplaceTo(0)
			for _, a := range list {
				if !trial.CanPlace(a.Member, a.Node).OK() {
					return false
				}
				trial.Place(a.Member, a.Node)
			}
			return true
		}
		given, possible := slices.Clone(list), false
		first := inOrder()
		permutations(list, 0, func() { possible = possible || inOrder() })
		trial.PlaceAll(given)
		trial.Doubt()
		require.Equal(t, possible, trial.Fits().OK(), "once they have a place")
		trial.UnplaceTo(0)
		_, why := trial.PlaceInTurn(given)
		require.Equal(t, possible, why.OK())
		if possible && !first {
			turned++
		}
		if possible {
			require.ElementsMatch(t, given, trial.Assignments())
		} else {
			require.Empty(t, trial.Placed())
		}
	}, &turned)
}

// permutations calls visit for every order of list from position k on.
func permutations[T any](list []T, k int, visit func()) {
	if k == len(list) {
		visit()
	}
	for i := k; i < len(list); i++ {
		list[k], list[i] = list[i], list[k]
		permutations(list, k+1, visit)
		list[k], list[i] = list[i], list[k]
	}
}

// order is a constraint, and its state, that has nothing against anybody, and does not say
// that it would be as well in another order.
type order struct{}

func (order) Name() domain.Check                                           { return "order" }
func (order) Prepare(*cluster.Index, []*cluster.Pod) (domain.State, error) { return order{}, nil }
func (order) Remove(cluster.PodID, cluster.NodeID)                         {}
func (order) Return(cluster.PodID, cluster.NodeID)                         {}
func (order) Place(domain.MemberID, cluster.NodeID)                        {}
func (order) Unplace(domain.MemberID, cluster.NodeID)                      {}
func (order) Fits(domain.MemberID, cluster.NodeID) (ok domain.Reason)      { return ok }
func (order) Clone() domain.State                                          { return order{} }
func (order) Scope() domain.Scope                                          { return domain.Scope{} }

// after lets a member on a node that the one it needs, if any, is on already.
type after struct {
	order
	needs []domain.MemberID // -1: nobody
	at    []cluster.NodeID
}

func (s *after) Place(m domain.MemberID, n cluster.NodeID)   { s.at[m] = n }
func (s *after) Unplace(m domain.MemberID, _ cluster.NodeID) { s.at[m] = cluster.NoNode }
func (s *after) Scope() domain.Scope                         { return domain.Scope{NodeLocal: true} }
func (s *after) Fits(m domain.MemberID, n cluster.NodeID) (r domain.Reason) {
	if needs := s.needs[m]; needs >= 0 && s.at[needs] != n {
		r.Check = "order"
	}
	return r
}

// TestManyMembersOfNodesFitInAnotherOrder: those who have places fit in some order if PlaceInTurn finds one for all of them.
func TestManyMembersOfNodesFitInAnotherOrder(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0"}, {Name: "n1"}}})
	require.NoError(t, err)
	turned, jammed := 0, 0
	gen.CheckUntil(t, func(t *rapid.T) {
		s := &after{needs: make([]domain.MemberID, 14), at: make([]cluster.NodeID, 14)}
		var members []*domain.Member
		var list []domain.Assignment
		for m := range domain.MemberID(14) {
			members = append(members, domain.NewMember(ix, &cluster.Pod{}, cluster.NoPod))
			list = append(list, domain.Assignment{Member: m, Node: cluster.NodeID(m % 2)})
			s.needs[m] = max(-1, domain.MemberID(rapid.IntRange(-20, 6).Draw(t, "needs"))*2+m%2)
		}
		trial := domain.NewGangTrial(ix, members, []domain.State{s}, func(cluster.PodID) bool { return false })
		trial.PlaceAll(list)
		trial.Doubt()
		fits := trial.Fits().OK()
		require.NotContains(t, s.at, cluster.NoNode, "they are where they were")
		moved := !slices.Equal(list, trial.Assignments())
		trial.UnplaceTo(0)
		_, why := trial.PlaceInTurn(list)
		require.Equal(t, why.OK(), fits)
		if moved {
			turned++
		} else if !fits {
			jammed++
		}
	}, &turned, &jammed)
}

// TestSeatExactGoesBackToTheGivenOrder once it has tried as many others as it may: the first
// member takes the only node of the last one, which shows after all placements of the rest.
func TestSeatExactGoesBackToTheGivenOrder(t *testing.T) {
	s := &cluster.Snapshot{Nodes: []cluster.Node{{Name: "n0", Allocatable: cluster.Resources{cluster.Pods: 1}}}}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		s.Nodes = append(s.Nodes, cluster.Node{Name: name})
	}
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	var members []*domain.Member
	part := seating.Part{Need: seating.ExactMembers}
	for i := range seating.ExactMembers {
		pod := &cluster.Pod{Name: string(rune('a' + i))}
		if i == seating.ExactMembers-1 {
			pod.RequiredNode = "n0"
		}
		members, part.Members = append(members, domain.NewMember(ix, pod, cluster.NoPod)), append(part.Members, domain.MemberID(i))
	}
	trial := domain.NewGangTrial(ix, members, []domain.State{order{}}, func(cluster.PodID) bool { return false })
	d := domain.WholeCluster{}.Split(nil, ix)[0]
	seated, proved := seating.SeatExact(trial, &d, []seating.Part{part}, seating.ExactNodes, func(in []bool) bool { return in[0] }, nil)
	require.True(t, seated)
	require.False(t, proved)
	require.Len(t, trial.Placed(), seating.ExactMembers)
}
