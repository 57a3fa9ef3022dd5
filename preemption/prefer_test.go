package preemption_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// three nodes of 8 cores, on which so many are in use by pods of priority 0.
func three(used ...int64) *preemption.Snapshot {
	s := &preemption.Snapshot{}
	for i, n := range used {
		name := fmt.Sprint("n", i+1)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: cpus(8)})
		for k := range n {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(name, "-", k), Node: name, Requests: cpus(1)})
		}
	}
	return s
}

func asking(cores int64) preemption.Preemptor {
	pod := frontend(cores)
	return preemption.Preemptor{Pods: []preemption.Pod{pod}}
}

func TestWhichNodeIsPreferred(t *testing.T) {
	byNumber := &preemption.Hooks{Prefer: func(_ *cluster.Index, _ *preemption.Pod, n cluster.NodeID) int64 { return int64(n) }}
	for name, c := range map[string]struct {
		options preemption.Options
		used    []int64
		cores   int64
		want    string
	}{
		"first by name":               {preemption.Options{}, []int64{4, 2, 6}, 2, "n1"},
		"most room":                   {preemption.Options{Prefer: preemption.LeastAllocated}, []int64{4, 2, 6}, 2, "n2"},
		"least room":                  {preemption.Options{Prefer: preemption.MostAllocated}, []int64{4, 2, 6}, 2, "n3"},
		"a hook":                      {preemption.Options{Hooks: byNumber}, []int64{2, 2, 2}, 2, "n3"},
		"of those where it fits":      {preemption.Options{Prefer: preemption.MostAllocated}, []int64{4, 2, 7}, 2, "n1"},
		"equals go by name":           {preemption.Options{Prefer: preemption.LeastAllocated}, []int64{4, 2, 2}, 2, "n2"},
		"the least disruption first":  {preemption.Options{Prefer: preemption.LeastAllocated}, []int64{8, 7, 8}, 2, "n2"},
		"victims that tie, by a hook": {preemption.Options{Hooks: byNumber}, []int64{8, 8, 8}, 2, "n3"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.options.Preempt(asking(c.cores), three(c.used...))
			require.NoError(t, err)
			require.Equal(t, c.want, r.Domain)
		})
	}
}

// TestWhatIsPreferredAmongEqualVictims: of nodes where as much is disrupted, the one of
// which more, or less, is left once the victims have gone.
func TestWhatIsPreferredAmongEqualVictims(t *testing.T) {
	s := &preemption.Snapshot{}
	for i, cores := range []int64{2, 3, 2} { // four pods of so many
		name := fmt.Sprint("n", i+1)
		s.Nodes = append(s.Nodes, preemption.Node{Name: name, Allocatable: cpus(4 * cores)})
		for k := range 4 {
			s.Pods = append(s.Pods, preemption.Pod{Name: fmt.Sprint(name, "-", k), Node: name, Requests: cpus(cores)})
		}
	}
	for prefer, want := range map[preemption.Preference]string{"": "n1", preemption.LeastAllocated: "n2", preemption.MostAllocated: "n1"} {
		for _, candidates := range []bool{false, true} {
			r, err := preemption.Options{Prefer: prefer, Candidates: candidates}.Preempt(asking(2), s)
			require.NoError(t, err)
			require.Len(t, r.Victims, 1)
			require.Equal(t, want, r.Domain)
		}
		pl, err := preemption.NewPlanner(s, preemption.Options{Prefer: prefer})
		require.NoError(t, err)
		for range 3 { // until the shape is known
			d, err := pl.Decide(asking(2))
			require.NoError(t, err)
			require.Equal(t, want, d.Domain)
		}
	}
}

// TestEveryRoadPrefersTheSame: a planner that is asked again and again, which ranks the
// nodes, and one question, which scans or tries them.
func TestEveryRoadPrefersTheSame(t *testing.T) {
	t.Parallel()
	elsewhere := 0
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied, gen.Budgeted, gen.Equal} {
		for _, prefer := range []preemption.Preference{preemption.LeastAllocated, preemption.MostAllocated} {
			o := preemption.Options{Prefer: prefer}
			snap := gen.Fleet(130, 8, 3, shape)
			for i := 0; i < len(snap.Nodes); i += 3 { // room for some
				snap.Nodes[i].Allocatable[cluster.CPU] += int64(1000 + i*100)
				snap.Nodes[i].Allocatable[cluster.Memory] += int64(1000+i*100) << 20
			}
			pl, err := preemption.NewPlanner(&snap, o)
			require.NoError(t, err)
			for i := range seeds(60) + 10 {
				p := gen.FleetPod(i % 5)
				p.Pods[0].Requests["cpu"] /= int64(1 + i%7)
				tried, err := preemption.Options{Prefer: prefer, Candidates: true}.Preempt(p, &snap)
				require.NoError(t, err)
				once, err := o.Preempt(p, &snap)
				require.NoError(t, err)
				again, err := pl.Decide(p)
				require.NoError(t, err)
				require.Equal(t, tried.Domain, once.Domain)
				require.Equal(t, tried.Domain, again.Domain)
				if plain, err := (preemption.Options{}).Preempt(p, &snap); err == nil && plain.Domain != once.Domain {
					elsewhere++
				}
			}
		}
	}
	require.Positive(t, elsewhere, "the preference has a say")
}

// Pods spread over the nodes, or keep nodes free for large ones.
func ExampleOptions_prefer() {
	for _, prefer := range []preemption.Preference{"", preemption.LeastAllocated, preemption.MostAllocated} {
		r, err := preemption.Options{Prefer: prefer}.Preempt(asking(2), three(4, 2, 6))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q: %s\n", prefer, r.Domain)
	}
	// Output:
	// "": n1
	// "LeastAllocated": n2
	// "MostAllocated": n3
}

// TestAPodThatNeedsQuotaPrefersToo: of the nodes that take it.
func TestAPodThatNeedsQuotaPrefersToo(t *testing.T) {
	s := three(4, 2, 6)
	s.ResourceFlavors = []preemption.ResourceFlavor{{Name: "f"}}
	s.ClusterQueues = []preemption.ClusterQueue{{Name: "q", Groups: []preemption.ResourceGroup{{Flavors: []preemption.FlavorQuotas{{
		Flavor: "f", Resources: []preemption.ResourceQuota{{Resource: cluster.CPU, Nominal: 100}},
	}}}}}}
	s.LocalQueues = []preemption.LocalQueue{{Name: "lq", ClusterQueue: "q"}}
	web := frontend(2)
	web.Queue = "lq"
	byNumber := &preemption.Hooks{Prefer: func(_ *cluster.Index, _ *preemption.Pod, n cluster.NodeID) int64 { return int64(n) }}
	for want, o := range map[string]preemption.Options{
		"n1": {}, "n2": {Prefer: preemption.LeastAllocated}, "n3": {Prefer: preemption.MostAllocated},
	} {
		r, err := o.Preempt(preemption.Preemptor{Pods: []preemption.Pod{web}}, s)
		require.NoError(t, err)
		require.Equal(t, preemption.Fits, r.Verdict)
		require.Equal(t, want, r.Nominations[0].Node)
	}
	for _, verdict := range []preemption.Verdict{preemption.Fits, preemption.Feasible} {
		r, err := preemption.Options{Hooks: byNumber}.Preempt(preemption.Preemptor{Pods: []preemption.Pod{web}}, s)
		require.NoError(t, err)
		require.Equal(t, verdict, r.Verdict)
		require.Equal(t, "n3", r.Nominations[0].Node)
		s.Nodes, s.Pods = three(8, 8, 8).Nodes, three(8, 8, 8).Pods // then somebody has to go, wherever it is
	}
}
