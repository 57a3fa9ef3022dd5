package preemption_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// quotaCase is a random tree of queues that are mostly full, and workload ns/in,
// which waits.
type quotaCase struct {
	snapshot *cluster.Snapshot
	options  preemption.Options
}

func seededQuota(seed uint64) quotaCase {
	q, o := genopts.RandomQuota(seed)
	return quotaCase{&q.Snapshot, o}
}

func drawQuota(t *rapid.T) quotaCase {
	q, o := genopts.DrawQuota(t)
	return quotaCase{&q.Snapshot, o}
}

// eachQuota calls check with random questions that were answered with victims.
func eachQuota(t *testing.T, seeds uint64, check func(t *testing.T, c quotaCase, r *preemption.Result)) {
	t.Helper()
	answered := 0
	for seed := range seeds {
		c := seededQuota(seed)
		if r := askQuota(t, c); len(r.Victims) > 0 {
			answered++
			check(t, c, r)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	require.Greater(t, answered, 50)
}

// world is the twin's view of a case with the victims gone, and what the preemptor asks.
func world(c quotaCase, r *preemption.Result) (w *naivequota.World, q *naivequota.Question, out map[string]*naivequota.Admitted) {
	w = naivequota.NewWorld(c.snapshot)
	q = &naivequota.Question{
		Queue: w.Queues[r.Quota.ClusterQueue], Request: naivequota.Amounts{}, Contested: map[naivequota.FR]bool{},
	}
	for _, f := range r.Quota.Flavors {
		fr := naivequota.FR{Flavor: f.Flavor, Resource: f.Resource}
		if f.Amount > 0 {
			q.Request[fr] += f.Amount
		}
		if f.Contested {
			q.Contested[fr] = true
		}
	}
	out = map[string]*naivequota.Admitted{}
	for a := range w.In {
		if slices.ContainsFunc(r.Victims, func(v preemption.Victim) bool { return v.Name == a.W.Name }) {
			out[a.W.Name] = a
		}
	}
	for _, a := range out {
		delete(w.In, a)
	}
	return w, q, out
}

func TestWorkloadFitsOnceTheVictimsAreGone(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w, q, out := world(c, r)
		require.Len(t, out, len(r.Victims))
		require.True(t, w.Fits(q, true))
	})
}

// A victim alone back would leave the preemptor short of something, or have it
// borrow what it may not.
func TestNoVictimCouldStay(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w, q, out := world(c, r)
		for _, v := range r.Victims {
			require.Positive(t, v.Reason.Missing, v.Name)
			w.In[out[v.Name]] = true
			if w.Fits(q, true) { // then it is borrowing that it may not
				require.False(t, w.Fits(q, false), v.Name)
				require.True(t, w.Borrows(q.Queue, fr(v), q.Request[fr(v)]))
			}
			delete(w.In, out[v.Name])
		}
	})
}

func fr(v preemption.Victim) naivequota.FR {
	var flavor string
	if _, err := fmt.Sscanf(v.Reason.Detail, "flavor %2s", &flavor); err != nil {
		panic(err)
	}
	return naivequota.FR{Flavor: flavor, Resource: v.Reason.Resource}
}

// The last one taken from another queue found it above nominal.
func TestOtherQueuesGiveOnlyWhatTheyBorrow(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w, q, out := world(c, r)
		queues := map[*naivequota.Node]bool{}
		for _, a := range out {
			queues[a.Queue] = a.Queue != q.Queue
		}
		for n, other := range queues {
			if !other {
				continue
			}
			contested := q.Contested
			if c.options.Quota.FairSharing != nil {
				contested = n.Knows()
			}
			found := false
			for _, a := range out {
				w.In[a] = true
				found = found || a.Queue == n && !w.Within(n, contested)
				delete(w.In, a)
			}
			require.True(t, found, n.Name)
		}
	})
}

func TestPoliciesMeanWhatTheySay(t *testing.T) {
	eachQuota(t, 1200, func(t *testing.T, c quotaCase, r *preemption.Result) {
		w := naivequota.NewWorld(c.snapshot)
		p := w.Queues[r.Quota.ClusterQueue].Queue.Preemption
		in := &c.snapshot.Workloads[len(c.snapshot.Workloads)-1]
		priority := int64(in.Priority) + int64(in.Boost)
		for _, v := range r.Victims {
			policy := p.ReclaimWithinCohort
			if v.Quota.ClusterQueue == r.Quota.ClusterQueue {
				policy = p.WithinClusterQueue
				require.Equal(t, preemption.InClusterQueue, v.Quota.Reason)
			}
			switch policy {
			case cluster.AnyPriority, cluster.ReclaimFromAny:
			case cluster.LowerPriority, cluster.ReclaimFromLowerPriority:
				require.Less(t, v.Quota.Priority, priority)
			case cluster.LowerOrNewerEqualPriority:
				require.LessOrEqual(t, v.Quota.Priority, priority)
			default:
				t.Errorf("%s went although the policy is %q", v.Name, policy)
			}
			if v.Quota.Reason == preemption.InCohortReclaimWhileBorrowing {
				require.NotNil(t, p.BorrowWithinCohort)
				require.Less(t, v.Quota.Priority, priority)
			}
		}
	})
}

// The order of the snapshot's slices, and a way through JSON, change no answer;
// the question is left as it was.
func TestQuotaAnswerIsAFunctionOfTheQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawQuota(t)
		before, err := json.Marshal(c.snapshot)
		require.NoError(t, err)
		want := askQuota(t, c)
		after, err := json.Marshal(c.snapshot)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the snapshot changed")

		shuffled := quotaCase{new(cluster.Snapshot), c.options}
		require.NoError(t, json.Unmarshal(before, shuffled.snapshot))
		s, r := shuffled.snapshot, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		r.Shuffle(len(s.Workloads), func(i, j int) { s.Workloads[i], s.Workloads[j] = s.Workloads[j], s.Workloads[i] })
		r.Shuffle(len(s.ClusterQueues), func(i, j int) { s.ClusterQueues[i], s.ClusterQueues[j] = s.ClusterQueues[j], s.ClusterQueues[i] })
		r.Shuffle(len(s.Cohorts), func(i, j int) { s.Cohorts[i], s.Cohorts[j] = s.Cohorts[j], s.Cohorts[i] })
		r.Shuffle(len(s.LocalQueues), func(i, j int) { s.LocalQueues[i], s.LocalQueues[j] = s.LocalQueues[j], s.LocalQueues[i] })
		slices.Reverse(s.ResourceFlavors)
		if diff := cmp.Diff(want, askQuota(t, shuffled)); diff != "" {
			t.Fatalf("(-given +shuffled)\n%s", diff)
		}
	})
}

// One queue without cohort is a node: the same jobs as pods on a node that offers
// the quota give the same victims.
func TestOneQueueIsANode(t *testing.T) {
	feasible := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		resources := []string{"cpu", "memory"}[:rapid.IntRange(1, 2).Draw(t, "resources")]
		node := cluster.Node{Name: "n", Allocatable: cluster.Resources{}}
		quotas := cluster.FlavorQuotas{Flavor: "f"}
		for _, r := range resources {
			node.Allocatable[r] = int64(rapid.IntRange(4, 12).Draw(t, "quota"))
			quotas.Resources = append(quotas.Resources, cluster.ResourceQuota{Resource: r, Nominal: node.Allocatable[r]})
		}
		s := &cluster.Snapshot{
			Time:            time.Unix(10_000, 0),
			Nodes:           []cluster.Node{node},
			ResourceFlavors: []cluster.ResourceFlavor{{Name: "f"}},
			ClusterQueues: []cluster.ClusterQueue{{
				Name: "q", Groups: []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{quotas}}},
				Preemption: cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority},
			}},
			LocalQueues: []cluster.LocalQueue{{Name: "lq", ClusterQueue: "q"}},
		}
		job := func(name string, priority int32, started int64) {
			set := cluster.PodSet{Name: "main", Count: 1, Requests: cluster.Resources{}, Flavors: map[string]string{}}
			for _, r := range resources {
				set.Requests[r], set.Flavors[r] = int64(rapid.IntRange(0, 4).Draw(t, "request")), "f"
			}
			pod := cluster.Pod{Name: name, Requests: set.Requests, Priority: &priority}
			w := cluster.Workload{Name: name, Queue: "lq", Priority: priority, PodSets: []cluster.PodSet{set}}
			if started > 0 {
				pod.Node, pod.Started = "n", time.Unix(started, 0)
				w.Admission = &cluster.Admission{ClusterQueue: "q", Reserved: time.Unix(started, 0)}
			} else {
				w.PodSets[0].Flavors = nil
			}
			s.Pods, s.Workloads = append(s.Pods, pod), append(s.Workloads, w)
		}
		for i := range rapid.IntRange(0, 8).Draw(t, "jobs") {
			job(fmt.Sprint("w", i), int32(rapid.IntRange(0, 3).Draw(t, "priority")), int64(i+1))
		}
		job("in", int32(rapid.IntRange(1, 4).Draw(t, "priority")), 0)

		pods, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(preemption.Preemptor{Kind: cluster.KindPod, Name: "in"}, s)
		require.NoError(t, err)
		jobs, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindWorkload, Name: "in"}, s)
		require.NoError(t, err)
		require.Equal(t, pods.Verdict, jobs.Verdict)
		require.Equal(t, names(pods), names(jobs))
		if len(jobs.Victims) > 0 {
			feasible++
		}
	}, &feasible)
}

func names(r *preemption.Result) []string {
	var list []string
	for _, v := range r.Victims {
		list = append(list, v.Name)
	}
	slices.Sort(list)
	return list
}

// TestQuotaAnswersAsItsTwin: status, flavors, borrowing, victims, grounds and
// counts are those of the plain twin, which shares no decision with the library.
func TestQuotaAnswersAsItsTwin(t *testing.T) {
	rapid.Check(t, quotaAnswersAsItsTwin)
	for seed := range uint64(*quotaSeeds) {
		if diff := quotaDisagreement(t, seededQuota(seed)); diff != "" {
			t.Fatalf("seed %d: (-twin +library)\n%s", seed, diff)
		}
	}
}

var quotaSeeds = flag.Int("quota-seeds", 1000, "how many random quota questions are compared with the twin")

func FuzzQuotaAnswersAsItsTwin(f *testing.F) { f.Fuzz(rapid.MakeFuzz(quotaAnswersAsItsTwin)) }

func quotaAnswersAsItsTwin(t *rapid.T) {
	if diff := quotaDisagreement(t, drawQuota(t)); diff != "" {
		t.Fatalf("(-twin +library)\n%s", diff)
	}
}

// failer is a test or one of rapid's.
type failer interface{ Fatal(args ...any) }

func quotaDisagreement(t failer, c quotaCase) string {
	got := askQuota(t, c)
	if got.Verdict == preemption.NotEligible {
		return "" // its queue is stopped, which the twin does not look at
	}
	return cmp.Diff(askTwin(c), quotaAnswer(got))
}

var quotaPreemptor = preemption.Preemptor{Kind: cluster.KindWorkload, Namespace: "ns", Name: "in"}

func askQuota(t failer, c quotaCase) *preemption.Result {
	r, err := c.options.Preempt(quotaPreemptor, c.snapshot)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func askTwin(c quotaCase) naivequota.Answer {
	return naivequota.Ask(c.snapshot, "ns", "in", twinOptions(c))
}

func twinOptions(c quotaCase) naivequota.Options {
	o := naivequota.Options{}
	if fair := c.options.Quota.FairSharing; fair != nil {
		o.Fair = true
		for _, s := range fair.Strategies {
			o.Strategies = append(o.Strategies, map[preemption.FairStrategy]string{
				preemption.LessThanOrEqualToFinalShare: "a", preemption.LessThanInitialShare: "b",
			}[s])
		}
	}
	return o
}

// quotaAnswer puts a result into the twin's form.
func quotaAnswer(r *preemption.Result) naivequota.Answer {
	a := naivequota.Answer{Flavors: map[string]string{}, Victims: map[string]string{}}
	a.Status = map[preemption.Verdict]string{
		preemption.Fits: "fits", preemption.Feasible: "preempt", preemption.Infeasible: "unschedulable",
	}[r.Verdict]
	a.Borrowing, a.Counts = r.Quota.Borrowing, r.Quota.Counts
	for _, f := range r.Quota.Flavors {
		a.Flavors[f.PodSet+"/"+f.Resource] = f.Flavor
	}
	for _, v := range r.Victims {
		a.Victims[v.Namespace+"/"+v.Name] = string(v.Quota.Reason)
	}
	return a
}
