package domain_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/naive"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// crowd is a cluster full of everything, with pods that want to run there.
type crowd struct {
	*rand.Rand
	snapshot *cluster.Snapshot
	ix       *cluster.Index
	priority int32
	pods     []*cluster.Pod // that want to
	members  []*domain.Member
	gone     map[naive.PodKey]bool
}

// drawCrowd draws a cluster and the preemptor that comes with it, a second one like it, and others
// that ask for what pods of the cluster have; nil if it is refused.
func drawCrowd(t *testing.T, seed uint64) *crowd {
	q := gen.Random(seed, gen.Everything())
	c := &crowd{Rand: rand.New(rand.NewPCG(seed, 41)), snapshot: &q.Snapshot, gone: map[naive.PodKey]bool{}}
	c.priority = naive.Priority(q.Preemptor, c.snapshot)
	var err error
	if c.ix, err = cluster.NewIndex(c.snapshot); err != nil {
		return nil
	}
	add := func(from *cluster.Pod) {
		pod := *from
		pod.Name, pod.UID, pod.Node, pod.NominatedNode = fmt.Sprintf("member-%d", len(c.pods)), "", "", ""
		pod.Priority, pod.Class = &c.priority, ""
		pod.Requests = maps.Clone(pod.Requests)
		if c.IntN(8) == 0 {
			pod.Requests = cluster.Resources{cluster.CPU: 100, "example.com/unheard-of": int64(c.IntN(2))}
		}
		c.pods = append(c.pods, &pod)
		c.members = append(c.members, domain.NewMember(c.ix, &pod, cluster.NoPod))
	}
	self := slices.IndexFunc(c.snapshot.Pods, func(p cluster.Pod) bool {
		return p.Namespace == q.Preemptor.Namespace && p.Name == q.Preemptor.Name
	})
	preemptor := slices.Concat(q.Preemptor.Pods, c.snapshot.Pods[max(self, 0):])
	if len(preemptor) == 0 {
		return nil
	}
	add(&preemptor[0])
	add(&preemptor[0])
	for range c.IntN(3) {
		if len(c.snapshot.Pods) > 0 {
			add(&c.snapshot.Pods[c.IntN(len(c.snapshot.Pods))])
		}
	}
	require.NotEmpty(t, c.members)
	return c
}

// fits asks the twin whether a pod fits on a node beside members that are placed.
func (c *crowd) fits(t *testing.T, pod *cluster.Pod, node string, placed []*cluster.Pod) naive.Status {
	beside := *c.snapshot
	beside.Pods = slices.Clone(beside.Pods)
	for _, p := range placed {
		beside.Pods = append(beside.Pods, *p)
	}
	st, err := naive.Fit(naive.Options{}, cluster.Preemptor{Pods: []cluster.Pod{*pod}}, &beside, node, c.gone)
	require.NoError(t, err)
	return st
}

// agree compares a reason with the twin's.
func (c *crowd) agree(t *testing.T, seed uint64, m int, node string, want naive.Status, got domain.Reason) {
	if want.Check == naive.Ports && got.Check == domain.CheckResource {
		return // for gangs, amounts come first
	}
	require.Equal(t, want.Check, string(got.Check), "seed %d: %s on %s", seed, c.pods[m].Name, node)
	require.Equal(t, want.Unresolvable, got.Unresolvable, "seed %d: %s on %s: %s", seed, c.pods[m].Name, node, got.Check)
	if got.Check == domain.CheckResource && got.Missing > 0 {
		name := got.Detail
		if got.Resource != domain.NoResource {
			name = c.ix.Resource(got.Resource)
		}
		require.Equal(t, want.Resources[name], got.Missing, "seed %d: %s on %s", seed, c.pods[m].Name, node)
	}
}

// flip lets a pod on node n leave, or one that has left return, and tells which and whether it left.
func (c *crowd) flip(n cluster.NodeID) (p cluster.PodID, left, any bool) {
	pods := c.ix.PodsOn(n)
	if len(pods) == 0 {
		return 0, false, false
	}
	p = pods[c.IntN(len(pods))]
	key := c.key(p)
	c.gone[key] = !c.gone[key]
	return p, c.gone[key], true
}

func (c *crowd) key(p cluster.PodID) naive.PodKey {
	return naive.PodKey{Namespace: c.ix.Pod(p).Namespace, Name: c.ix.Pod(p).Name}
}

// TestGangTrialsAgreeWithTheTwin: who may be placed where, beside whom, and whether all that are
// placed still fit, through any history; what frees room frees so much.
func TestGangTrialsAgreeWithTheTwin(t *testing.T) {
	asked, fitted, refused := 0, 0, 0
	for seed := range uint64(400) {
		c := drawCrowd(t, seed)
		if c == nil {
			continue
		}
		trial := domain.NewGangTrial(c.ix, c.members, nil, func(p cluster.PodID) bool { return c.ix.Priority(p) >= c.priority })
		var placed []*cluster.Pod
		var back cluster.PodID // who came back last
		for range 16 {
			beside := func() bool { // everybody, each beside those before
				for i, p := range placed {
					if !c.fits(t, p, p.Node, placed[:i]).OK() {
						return false
					}
				}
				return true
			}
			want := beside()
			require.Equal(t, want, trial.Fits().OK(), "seed %d", seed)
			if !want { // who came back leaves again, as a search would have it
				require.True(t, trial.Matters(back), "seed %d", seed)
				trial.Remove(back)
				c.gone[c.key(back)] = true
				refused++
				require.True(t, beside() && trial.Fits().OK(), "seed %d", seed)
			}
			for m := range c.members {
				if at := trial.At(domain.MemberID(m)); at != cluster.NoNode {
					require.Contains(t, trial.On(at), domain.MemberID(m))
					continue
				}
				for n := range cluster.NodeID(c.ix.NumNodes()) {
					want, got := c.fits(t, c.pods[m], c.ix.Node(n).Name, placed), trial.CanPlace(domain.MemberID(m), n)
					c.agree(t, seed, m, c.ix.Node(n).Name, want, got)
					if asked++; got.OK() {
						fitted++
						require.True(t, trial.HasRoom(domain.MemberID(m), n) && trial.Usable(n), "seed %d", seed)
					}
				}
			}
			switch m, n := domain.MemberID(c.IntN(len(c.members))), cluster.NodeID(c.IntN(c.ix.NumNodes())); {
			case c.IntN(3) == 0 && trial.At(m) == cluster.NoNode && trial.CanPlace(m, n).OK():
				trial.Place(m, n)
				at := *c.pods[m]
				at.Node = c.ix.Node(n).Name
				placed = append(placed, &at)
			case c.IntN(4) == 0 && len(placed) > 0:
				require.Equal(t, placed[len(placed)-1].Name, c.pods[trial.Unplace()].Name)
				placed = placed[:len(placed)-1]
			default:
				if len(placed) > 0 {
					n = c.ix.NodeByName(placed[len(placed)-1].Node)
				}
				if p, left, ok := c.flip(n); ok && left {
					trial.Remove(p)
					require.True(t, trial.Gone(p))
				} else if ok {
					trial.Return(p)
					back = p
					require.False(t, trial.Gone(p))
				}
			}
		}
	}
	t.Log(asked, fitted, refused)
	require.Greater(t, min(asked-fitted, fitted), 2_000)
	require.Greater(t, refused, 40)
}

// TestNodeTrialsAgreeWithTheTwin: likewise of one pod on one node at a time.
func TestNodeTrialsAgreeWithTheTwin(t *testing.T) {
	asked, fitted, decided := 0, 0, 0
	for seed := range uint64(400) {
		c := drawCrowd(t, seed)
		if c == nil {
			continue
		}
		for m, member := range c.members {
			trial := domain.NewNodeTrial(c.ix, member, nil, domain.Nominees{Self: cluster.NoPod, Priority: c.priority})
			for range 3 {
				for n := range cluster.NodeID(c.ix.NumNodes()) {
					trial.Reset(n)
					for p := range cluster.PodID(c.ix.NumPods()) {
						if c.ix.NodeOf(p) != n || !c.gone[c.key(p)] {
							continue
						}
						before := trial.Gap(nil)
						trial.Remove(p)
						for r, v := range trial.Gap(nil) {
							require.Equal(t, before[r]-trial.Frees(r, p), v, "seed %d", seed)
						}
					}
					got := trial.Fits()
					c.agree(t, seed, m, c.ix.Node(n).Name, c.fits(t, c.pods[m], c.ix.Node(n).Name, nil), got)
					if asked++; got.OK() {
						fitted++
					}
					missing := slices.ContainsFunc(trial.Gap(nil), func(v int64) bool { return v > 0 })
					require.False(t, missing && got.OK(), "seed %d: it fits, and something is missing: %v of %v", seed, trial.Gap(nil), c.pods[m].Requests)
					if trial.Decides() && !got.Unresolvable {
						decided++
						require.Equal(t, !missing, got.OK(), "seed %d", seed)
					}
				}
				for n := range cluster.NodeID(c.ix.NumNodes()) {
					c.flip(n)
				}
			}
		}
	}
	t.Log(asked, fitted, decided)
	require.Greater(t, min(asked-fitted, fitted, decided), 2_000)
}
