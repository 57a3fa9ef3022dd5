package preemption_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// likeSelector is a filter that says of annotations what a node selector of the same keys and
// values would.
func likeSelector(p *preemption.Pod, n *preemption.Node) bool {
	for k, v := range p.Annotations {
		if n.Labels[k] != v {
			return false
		}
	}
	return true
}

// filters are options with that filter.
func filters(o preemption.Options) preemption.Options {
	o.Hooks = &preemption.Hooks{Filter: likeSelector}
	return o
}

// selecting returns p with a node selector for its pending pods, and with annotations that
// say as much to likeSelector.
func selecting(p preemption.Preemptor, s *preemption.Snapshot, zone string) (bySelector, byFilter preemption.Preemptor, other *preemption.Snapshot) {
	labels := map[string]string{"zone": zone}
	change := func(pods []preemption.Pod, f func(pod *preemption.Pod)) []preemption.Pod {
		list := append([]preemption.Pod{}, pods...)
		for i := range list {
			if list[i].NodeSelector = nil; list[i].Node == "" {
				f(&list[i])
			}
		}
		return list
	}
	selects := func(pod *preemption.Pod) { pod.NodeSelector = labels }
	annotate := func(pod *preemption.Pod) { pod.Annotations = labels }
	bySelector, byFilter = p, p
	bySelector.Pods, byFilter.Pods = change(p.Pods, selects), change(p.Pods, annotate)
	filtered := *s
	filtered.Pods, s.Pods = change(s.Pods, annotate), change(s.Pods, selects)
	return bySelector, byFilter, &filtered
}

// asSelected is r as text, where a filter is not told from a selector; what would help, and what it cost, differs.
func asSelected(t fatal, r *preemption.Result) string {
	c := *r
	c.Nearest, c.Preemptor, c.Stats = nil, preemption.Asked{}, preemption.Stats{Exact: r.Stats.Exact}
	c.Rejected = nil
	for _, x := range r.Rejected { // by what names neither, which may be one of the two for either of two reasons
		x.Reason = strings.ReplaceAll(x.Reason, string(domain.CheckFilter), string(domain.CheckNodeAffinity))
		if at := slices.IndexFunc(c.Rejected, func(y preemption.Rejection) bool { return y.Reason == x.Reason }); at >= 0 {
			c.Rejected[at].Domains += x.Domains
		} else {
			c.Rejected = append(c.Rejected, x)
		}
	}
	slices.SortFunc(c.Rejected, func(a, b preemption.Rejection) int {
		return cmp.Or(strings.Compare(a.Reason, b.Reason), a.Domains-b.Domains)
	})
	c.Unplaced = nil            // by kind, and a filter may tell members apart that a selector can't
	if len(r.Nominations) > 1 { // likewise: which of them goes where may differ
		c.Nominations = nil
	}
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, word := range []string{string(domain.CheckFilter), string(domain.CheckNodeAffinity)} {
		text = []byte(strings.ReplaceAll(string(text), `"`+word+`"`, `"selected"`))
		text = []byte(strings.ReplaceAll(string(text), ": "+word, ": selected"))
	}
	return string(text)
}

// TestAFilterSaysWhatASelectorSays: by every road, of pods and gangs, with constraints and
// without.
func TestAFilterSaysWhatASelectorSays(t *testing.T) {
	t.Parallel()
	feasible, refused := 0, 0
	compare := func(t fatal, o preemption.Options, p preemption.Preemptor, s preemption.Snapshot) {
		if o.PreferMovable || o.Hooks != nil {
			return // that reads selectors of victims, too
		}
		bySelector, byFilter, filtered := selecting(p, &s, "a")
		want, err := o.Preempt(bySelector, &s)
		got, err2 := filters(o).Preempt(byFilter, filtered)
		if err != nil || err2 != nil {
			if (err == nil) != (err2 == nil) {
				t.Fatalf("%v, with a filter %v", err, err2)
			}
			return
		}
		if diff := gocmp.Diff(asSelected(t, want), asSelected(t, got)); diff != "" {
			t.Fatalf("(-selector +filter):\n%s", diff)
		}
		pl, err := preemption.NewPlanner(filtered, filters(o))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for range 4 { // until the shape is known
			d, err := pl.Decide(byFilter)
			if err != nil || d.Verdict != got.Verdict || d.Domain != got.Domain {
				t.Fatalf("decided %+v, %v instead of %s on %s", d, err, got.Verdict, got.Domain)
			}
		}
		switch {
		case got.Verdict == preemption.Feasible:
			feasible++
		case strings.Contains(asSelected(t, got), `"selected"`):
			refused++
		}
	}
	for seed := range seeds(800) {
		q := gen.Random(seed, gen.Everything())
		compare(&named{t, seed}, seededOptions(seed), q.Preemptor, q.Snapshot)
		g := gen.RandomGang(seed, gen.GangProfile{Profile: gen.Profile{MaxNodes: 5, MaxPods: 14, Groups: true, Budgets: true}})
		for i := range g.Snapshot.Nodes {
			if g.Snapshot.Nodes[i].Labels == nil && i%3 > 0 {
				g.Snapshot.Nodes[i].Labels = map[string]string{"zone": "a"}
			}
		}
		compare(&named{t, seed}, preemption.Options{}, g.Preemptor, g.Snapshot)
	}
	for _, shape := range []gen.Shape{gen.Uniform, gen.Tied, gen.Budgeted, gen.Equal} {
		s := gen.Fleet(130, 8, 3, shape)
		for i := range s.Nodes {
			s.Nodes[i].Labels = map[string]string{"zone": string("ab"[i%2])}
		}
		for i := range seeds(30) {
			compare(&named{t, i}, preemption.Options{}, gen.FleetPod(i), s)
		}
	}
	require.Greater(t, feasible, int(seeds(150)))
	require.Greater(t, refused, int(seeds(50)))
}

// fillField gives a field of a pod a value, where it is known which is one.
func fillField(v reflect.Value) bool {
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x = "other"
	case *map[string]string:
		*x = map[string]string{"k": "v"}
	case *preemption.Resources:
		*x = preemption.Resources{"memory": 1}
	case *[]cluster.Toleration:
		*x = []cluster.Toleration{{Key: "k", Operator: cluster.TolerationExists}}
	case *[]cluster.DeviceRequest:
		*x = []cluster.DeviceRequest{{Resource: "gpu", Count: 1}}
	case **cluster.NodeAffinity:
		*x = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{Labels: []cluster.NodeRequirement{{Key: "k", Operator: cluster.NodeExists}}}}}
	default:
		return false
	}
	return true
}

// TestNothingIsRememberedForPodsThatAFilterCanTell: a planner that knows the shape of a pod
// does not answer so for one that differs in what the filter is shown.
func TestNothingIsRememberedForPodsThatAFilterCanTell(t *testing.T) {
	typ, shown := reflect.TypeFor[preemption.Pod](), 0
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		other := frontend(1)
		if other.Labels = nil; !fillField(reflect.ValueOf(&other).Elem().Field(i)) {
			require.True(t, reflect.ValueOf(domain.FilterView(&other)).Elem().Field(i).IsZero(), "%s is shown: say here what it may be", name)
			continue
		}
		if reflect.ValueOf(domain.FilterView(&other)).Elem().Field(i).IsZero() {
			continue
		}
		shown++
		first := reflect.ValueOf(*domain.FilterView(&preemption.Pod{Requests: cpus(1)})).Field(i).Interface()
		o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(p *preemption.Pod, _ *preemption.Node) bool {
			return reflect.DeepEqual(first, reflect.ValueOf(*p).Field(i).Interface())
		}}}
		s := three(4, 2, 6)
		for n := range s.Nodes {
			s.Nodes[n].Name += "-" + name
			s.Nodes[n].Labels = map[string]string{"k": "v"}
			s.Nodes[n].Allocatable["memory"] = 1
			s.Nodes[n].Devices = map[string]cluster.DevicePool{"gpu": {Count: 4, Capacity: 1}}
		}
		s.Nodes[0].Name = "other"
		s.PodGroups = []preemption.PodGroup{{Name: "other"}, {Namespace: "ns", Name: "other"}}
		s.PriorityClasses = []preemption.PriorityClass{{Name: "other"}}
		s.Pods = nil
		pl, err := preemption.NewPlanner(s, o)
		require.NoError(t, err)
		plain := frontend(1)
		plain.Labels, plain.Namespace = nil, ""
		if name != "Namespace" {
			other.Namespace = ""
		}
		plain.Class = ""
		for range 4 {
			d, err := pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{plain}})
			require.NoError(t, err)
			require.Equal(t, preemption.Fits, d.Verdict, name)
		}
		d, err := pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{other}})
		if name == "Queue" {
			require.Error(t, err, "there is no such queue")
			continue
		}
		require.NoError(t, err, name)
		require.NotEqual(t, preemption.Fits, d.Verdict, name)
	}
	require.Equal(t, 12, shown)
}

// TestAFilterIsAskedOncePerNode: about a shape that is known, only about nodes that were set
// anew.
func TestAFilterIsAskedOncePerNode(t *testing.T) {
	asked := map[string]int{}
	o := preemption.Options{Hooks: &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
		asked[n.Name]++
		return n.Labels["open"] != "no" && p.Name == "" && p.Labels["app"] == "web"
	}}}
	s := three(4, 2, 6)
	pl, err := preemption.NewPlanner(s, o)
	require.NoError(t, err)
	ask := func(i int) string {
		pod := frontend(2)
		pod.Name, pod.UID, pod.Labels = fmt.Sprint("web-", i), fmt.Sprint(i), map[string]string{"app": "web"}
		d, err := pl.Decide(preemption.Preemptor{Pods: []preemption.Pod{pod}})
		require.NoError(t, err)
		return d.Domain
	}
	for i := range 4 {
		require.Equal(t, "n1", ask(i))
	}
	clear(asked)
	require.Equal(t, "n1", ask(5))
	require.Empty(t, asked, "another pod of the template")

	closed := s.Nodes[0]
	closed.Labels = map[string]string{"open": "no"}
	require.NoError(t, pl.SetNode(closed))
	require.Equal(t, "n2", ask(6))
	require.Equal(t, map[string]int{"n1": 1}, asked)

	why, err := pl.WhyNot(preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Labels: map[string]string{"app": "web"}, Requests: cpus(1)}}}, preemption.NodeTarget("n1"))
	require.NoError(t, err)
	require.Equal(t, "it does not fit as things are: n1: filter", why.Text)
	require.Equal(t, domain.CheckFilter, why.Reason.Check)

	r, err := pl.Preempt(preemption.Preemptor{Pods: []preemption.Pod{{Name: "x", Requests: cpus(1)}}})
	require.NoError(t, err)
	require.Equal(t, preemption.Infeasible, r.Verdict)
	require.Equal(t, []preemption.Rejection{{Reason: "filter", Domains: 3}}, r.Rejected)
	require.Nil(t, r.Nearest, "nothing that can be relaxed would let it in")
}

// TestAFilterThatPanicsLeavesThePlannerUsable also where a shape was known.
func TestAFilterThatPanicsLeavesThePlannerUsable(t *testing.T) {
	panics := false
	s := three(8, 8, 8)
	pl, err := preemption.NewPlanner(s, preemption.Options{Hooks: &preemption.Hooks{Filter: func(_ *preemption.Pod, n *preemption.Node) bool {
		if panics && n.Name == "n2" {
			panic("boom")
		}
		return n.Name == "n3"
	}}})
	require.NoError(t, err)
	for _, ask := range []func() error{
		func() error { _, err := pl.Decide(asking(2)); return err },
		func() error { _, err := pl.Preempt(asking(2)); return err },
	} {
		for range 4 {
			require.NoError(t, ask())
		}
		for i := range s.Nodes { // and now each is looked at again
			require.NoError(t, pl.SetNode(s.Nodes[i]))
		}
		panics = true
		require.EqualError(t, ask(), "preemption: Options.Hooks.Filter: panic: boom")
		panics = false
		require.NoError(t, ask())
		d, err := pl.Decide(asking(2))
		require.NoError(t, err)
		require.Equal(t, "n3", d.Domain)
		require.NoError(t, pl.SetPod(preemption.Pod{Name: "late", Node: "n1"}), "no lock is held")
	}
}

// A filter of one line: pods without the label stay off the nodes of a team.
func ExampleHooks_filter() {
	options := preemption.Options{Hooks: &preemption.Hooks{Filter: func(p *preemption.Pod, n *preemption.Node) bool {
		return n.Labels["team"] == "" || n.Labels["team"] == p.Labels["team"]
	}}}
	snapshot := &preemption.Snapshot{Nodes: []preemption.Node{
		{Name: "n1", Allocatable: preemption.Resources{"cpu": 4000}, Labels: map[string]string{"team": "vision"}},
		{Name: "n2", Allocatable: preemption.Resources{"cpu": 4000}},
	}}
	planner, err := preemption.NewPlanner(snapshot, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, team := range []string{"vision", "speech"} {
		pod := preemption.Pod{Name: "train", Labels: map[string]string{"team": team}, Requests: preemption.Resources{"cpu": 1000}}
		answer, err := planner.Preempt(preemption.Preemptor{Pods: []preemption.Pod{pod}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(team+":", answer.Message)
	}
	// Output:
	// vision: fits on n1 without preemption
	// speech: fits on n2 without preemption
}

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
