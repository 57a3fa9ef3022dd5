package quota_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestUsageFollowsTheDefinitions: workloads come and go in random order, and after
// each step every number is what the definitions give when summed up anew.
func TestUsageFollowsTheDefinitions(t *testing.T) { rapid.Check(t, usageFollowsTheDefinitions) }

func FuzzUsageFollowsTheDefinitions(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(usageFollowsTheDefinitions))
}

func usageFollowsTheDefinitions(t *rapid.T) {
	snap := drawTree(t)
	ix, err := quota.NewIndex(snap)
	if err != nil {
		t.Fatal(err)
	}
	usage, world := quota.NewTree(ix).NewUsage(), naivequota.NewWorld(snap)
	var in []*naivequota.Admitted
	for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
		if len(in) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
			i := rapid.IntRange(0, len(in)-1).Draw(t, "who")
			usage.Remove(ix.QueueByName(in[i].Queue.Name), amounts(ix, in[i].Usage))
			delete(world.In, in[i])
			in = append(in[:i], in[i+1:]...)
		} else {
			a := &naivequota.Admitted{
				W:     &cluster.Workload{Name: fmt.Sprint(step)},
				Queue: naivequota.Sorted(world.Queues)[rapid.IntRange(0, len(world.Queues)-1).Draw(t, "queue")],
				Usage: naivequota.Amounts{
					{Flavor: "x", Resource: "cpu"}: rapid.Int64Range(0, 6).Draw(t, "cpu"),
					{Flavor: "y", Resource: "mem"}: rapid.Int64Range(0, 6).Draw(t, "mem"),
				},
			}
			usage.Add(ix.QueueByName(a.Queue.Name), amounts(ix, a.Usage))
			world.In[a] = true
			in = append(in, a)
		}
		compare(t, ix, usage, world)
		isCoveredIfItFits(t, ix, usage)
	}
}

// isCoveredIfItFits: what is used already is covered if it fits without it.
func isCoveredIfItFits(t *rapid.T, ix *quota.Index, u *quota.Usage) {
	for q := range quota.HolderID(ix.NumQueues()) {
		for c := range quota.ColumnID(ix.NumColumns()) {
			for _, v := range []int64{0, 1, 4, 9} {
				amounts := []quota.ColumnAmount{{Column: c, Amount: v}}
				fits := u.Fits(q, amounts, true)
				u.Add(q, amounts)
				covered := u.Covered(q, amounts)
				u.Remove(q, amounts)
				if fits != covered {
					t.Fatalf("%s: %d of column %d fit: %v, are covered: %v", ix.Name(q), v, c, fits, covered)
				}
			}
		}
	}
}

// drawTree draws up to three levels of cohorts and a few queues with two
// flavor-resources.
func drawTree(t *rapid.T) *cluster.Snapshot {
	s := &cluster.Snapshot{ResourceFlavors: []cluster.ResourceFlavor{{Name: "x"}, {Name: "y"}}}
	weight := func() *cluster.Weight {
		w := rapid.SampledFrom([]cluster.Weight{cluster.OneWeight, 0, cluster.OneWeight / 2, 333_000_000, 2 * cluster.OneWeight}).Draw(t, "weight")
		return &w
	}
	names := []string{""}
	for i := range rapid.IntRange(0, 4).Draw(t, "cohorts") {
		c := cluster.Cohort{Name: fmt.Sprintf("co%d", i), Parent: rapid.SampledFrom(names).Draw(t, "parent"), Weight: weight()}
		if rapid.Bool().Draw(t, "own quota") {
			c.Groups = drawGroups(t, c.Parent != "")
		}
		names = append(names, c.Name)
		s.Cohorts = append(s.Cohorts, c)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "queues") {
		q := cluster.ClusterQueue{Name: fmt.Sprintf("q%d", i), Cohort: rapid.SampledFrom(names).Draw(t, "cohort"), Weight: weight()}
		q.Groups = drawGroups(t, q.Cohort != "")
		s.ClusterQueues = append(s.ClusterQueues, q)
	}
	return s
}

func drawGroups(t *rapid.T, limits bool) []cluster.ResourceGroup {
	group := func(flavor, resource string) cluster.ResourceGroup {
		q := cluster.ResourceQuota{Resource: resource, Nominal: rapid.Int64Range(0, 9).Draw(t, "nominal")}
		if limits && rapid.Bool().Draw(t, "limited") {
			b := rapid.Int64Range(0, 6).Draw(t, "borrowing")
			q.Borrowing = &b
		}
		if limits && rapid.Bool().Draw(t, "lends less") {
			l := rapid.Int64Range(0, q.Nominal).Draw(t, "lending")
			q.Lending = &l
		}
		return cluster.ResourceGroup{Flavors: []cluster.FlavorQuotas{{Flavor: flavor, Resources: []cluster.ResourceQuota{q}}}}
	}
	groups := []cluster.ResourceGroup{group("x", "cpu")}
	if rapid.Bool().Draw(t, "second resource") {
		groups = append(groups, group("y", "mem"))
	}
	return groups
}

func amounts(ix *quota.Index, usage naivequota.Amounts) []quota.ColumnAmount {
	var list []quota.ColumnAmount
	for c := range quota.ColumnID(ix.NumColumns()) {
		list = append(list, quota.ColumnAmount{Column: c, Amount: usage[fr(ix, c)]})
	}
	return list
}

func fr(ix *quota.Index, c quota.ColumnID) naivequota.FR {
	return naivequota.FR{Flavor: ix.FlavorName(ix.FlavorOf(c)), Resource: ix.ResourceName(c)}
}

func compare(t *rapid.T, ix *quota.Index, u *quota.Usage, w *naivequota.World) {
	t.Helper()
	var nodes []*naivequota.Node
	nodes = append(append(nodes, naivequota.Sorted(w.Queues)...), naivequota.Sorted(w.Cohorts)...)
	equal := func(what string, h int, got, want any) {
		if got != want {
			t.Fatalf("%s of %s: %v, want %v", what, nodes[h].Name, got, want)
		}
	}
	for h, n := range nodes {
		id := quota.HolderID(h)
		for c := range quota.ColumnID(ix.NumColumns()) {
			fr := fr(ix, c)
			equal("subtree quota", h, u.Tree().Subtree(id, c), n.Subtree(fr))
			equal("guaranteed quota", h, u.Tree().Guaranteed(id, c), n.Guaranteed(fr))
			equal("usage", h, u.Used(id, c), w.Used(n, fr))
			equal("balance", h, u.Balance(id, c), w.Balance(n, fr))
			equal("potential", h, u.Tree().Potential(id, c), n.Potential(fr))
			if n.Queue == nil {
				continue
			}
			if rooms := u.Rooms(nil, id, c); slices.Min(rooms) != u.Balance(id, c) {
				t.Fatalf("%s of column %d: rooms %v, balance %d", n.Name, c, rooms, u.Balance(id, c))
			}
			reaches(t, u, id, c)
			for _, v := range []int64{0, 1, 4} {
				height, inner := u.BorrowHeight(id, c, v)
				wantHeight, wantInner := w.BorrowHeight(n, fr, v)
				equal("borrow height", h, height, wantHeight)
				equal("inner", h, inner, wantInner)
			}
		}
		share, want := u.Share(id, quota.Exact), w.ShareOf(n)
		equal("borrowing", h, share.Borrows(), want.Borrows)
		for o, other := range nodes {
			against := u.Share(quota.HolderID(o), quota.Exact)
			equal("share against "+other.Name, h, share.Compare(&against), want.Compare(w.ShareOf(other)))
		}
	}
}

// reaches checks that what queue q frees in the cohorts around it is what they use less.
func reaches(t *rapid.T, u *quota.Usage, q quota.HolderID, c quota.ColumnID) {
	v := u.Used(q, c)
	before := map[quota.HolderID]int64{}
	reach := map[quota.HolderID]int64{}
	for h := u.Tree().Parent(q); h != quota.NoHolder; h = u.Tree().Parent(h) {
		before[h], reach[h] = u.Used(h, c), u.Reaches(q, h, c, v)
	}
	u.Remove(q, []quota.ColumnAmount{{Column: c, Amount: v}})
	for h, used := range before {
		if less := used - u.Used(h, c); less != reach[h] {
			t.Fatalf("%d of column %d leave queue %d: %d reach cohort %d, not %d", v, c, q, less, h, reach[h])
		}
	}
	u.Add(q, []quota.ColumnAmount{{Column: c, Amount: v}})
}

// What is refused is refused before memory is taken for it.
func TestLimitsAreKept(t *testing.T) {
	s := &cluster.Snapshot{}
	for i := range 10_000 {
		flavor := []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: fmt.Sprint("f", i), Resources: []cluster.ResourceQuota{{Resource: cluster.CPU}}}}}}
		s.ClusterQueues = append(s.ClusterQueues, cluster.ClusterQueue{Name: fmt.Sprint("q", i), Groups: flavor})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := quota.NewIndex(s)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, `ClusterQueues: 10000 pairs of flavor and resource is not at most 419 for as many queues and cohorts`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// A chain of cohorts that nobody writes so long is refused with its queue.
func TestLongChainsAreRefused(t *testing.T) {
	const most = 32
	chain := &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{{Name: "q", Cohort: "c0"}}}
	for i := range most {
		chain.Cohorts = append(chain.Cohorts, cluster.Cohort{Name: fmt.Sprint("c", i), Parent: fmt.Sprint("c", i+1)})
	}
	_, err := quota.NewIndex(chain)
	require.EqualError(t, err, `cluster: ClusterQueue "q": Cohort: more than 32 levels up to its root is not fewer`)
	chain.Cohorts = chain.Cohorts[:most-1]
	_, err = quota.NewIndex(chain)
	require.NoError(t, err)
}

// TestSumIsOneAfterTheOther: what is added and removed at once leaves every number as
// if it were added and removed one by one.
func TestSumIsOneAfterTheOther(t *testing.T) { rapid.Check(t, sumIsOneAfterTheOther) }

func sumIsOneAfterTheOther(t *rapid.T) {
	ix, err := quota.NewIndex(drawTree(t))
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		queue quota.HolderID
		usage []quota.ColumnAmount
	}
	var jobs []job
	for range rapid.IntRange(0, 12).Draw(t, "jobs") {
		j := job{queue: quota.HolderID(rapid.IntRange(0, ix.NumQueues()-1).Draw(t, "queue"))}
		for c := range quota.ColumnID(ix.NumColumns()) {
			if rapid.Bool().Draw(t, "uses") {
				j.usage = append(j.usage, quota.ColumnAmount{Column: c, Amount: rapid.Int64Range(0, 9).Draw(t, "amount")})
			}
		}
		jobs = append(jobs, j)
	}
	tree := quota.NewTree(ix)
	sum, at, once := tree.NewSum(), tree.NewUsage(), tree.NewUsage()
	same := func(step string) {
		for h := range quota.HolderID(tree.NumHolders()) {
			for c := range quota.ColumnID(ix.NumColumns()) {
				if got, want := at.Used(h, c), once.Used(h, c); got != want {
					t.Fatalf("%s: %s uses %d, want %d", step, ix.Name(h), got, want)
				}
			}
		}
	}
	half := len(jobs) / 2
	for i, j := range jobs {
		once.Add(j.queue, j.usage)
		if i < half {
			at.Add(j.queue, j.usage)
		} else {
			sum.Take(j.queue, j.usage)
		}
	}
	at.AddSum(sum)
	same("added")
	sum.Clear()
	for _, j := range jobs[:half] {
		once.Remove(j.queue, j.usage)
		sum.Take(j.queue, j.usage)
	}
	at.RemoveSum(sum)
	same("removed")
	sum.Clear()
	at.AddSum(sum)
	same("nothing added")
}

func TestShareIsWhatIsBorrowedOverWhatCouldBeLent(t *testing.T) {
	for _, c := range []struct {
		name            string
		nominal, others int64
		weight          string
		use             int64
		perMille        int64
	}{
		{"within nominal", 5, 5, "1", 5, 0},
		{"two of ten above nominal", 5, 5, "1", 7, 200},
		{"twice the weight, half the share", 5, 5, "2", 7, 100},
		{"half the weight, twice the share", 5, 5, "0.5", 7, 400},
		{"weight 0 borrows endlessly", 5, 5, "0", 7, math.MaxInt64},
		{"weight 0 within nominal", 5, 5, "0", 5, 0},
		{"one of 1500 is rounded up", 0, 1500, "1", 1, 1},
		{"nothing to lend", 0, 0, "1", 7, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w cluster.Weight
			err := w.UnmarshalText([]byte(c.weight))
			require.NoError(t, err)
			q := queue("q", "co", limits{c.nominal, none, none})
			q.Weight = &w
			s := newState(t, &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{q, queue("other", "co", limits{c.others, none, none})}})
			s.use("q", c.use)
			share := s.Share(s.ix.QueueByName("q"), quota.Exact)
			require.Equal(t, c.perMille, share.PerMille())
			require.Equal(t, c.use > c.nominal, share.Borrows())
			root := s.Share(s.ix.CohortByName("co"), quota.Exact)
			require.False(t, root.Borrows(), "a root borrows nothing")
		})
	}
}

func TestSharesCompare(t *testing.T) {
	share := func(weight string, borrowed int64, precision quota.Precision) quota.Share {
		var w cluster.Weight
		err := w.UnmarshalText([]byte(weight))
		require.NoError(t, err)
		q := queue("q", "co", limits{0, none, none})
		q.Weight = &w
		s := newState(t, &cluster.Snapshot{ClusterQueues: []cluster.ClusterQueue{q, queue("other", "co", limits{1000, none, none})}})
		s.use("q", borrowed)
		return s.Share(s.ix.QueueByName("q"), precision)
	}
	for _, c := range []struct {
		name             string
		weightA, weightB string
		a, b             int64
		want             int
	}{
		{"same weight", "1", "1", 5, 6, -1},
		{"equal by weight", "1", "2", 5, 10, 0},
		{"fractional weights", "0.333", "0.666", 3, 6, 0},
		{"a borrower of weight 0 is above everybody", "0", "0.001", 1, 900, 1},
		{"two of them go by what they borrow", "0", "0", 3, 2, 1},
		{"weight 0 that borrows nothing is not", "0", "1", 0, 1, -1},
		{"a hair's breadth", "3.000000001", "3", 9, 9, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, p := range []quota.Precision{quota.Exact, quota.KueueFloat} {
				a, b := share(c.weightA, c.a, p), share(c.weightB, c.b, p)
				require.Equal(t, c.want, a.Compare(&b))
				require.Equal(t, -c.want, b.Compare(&a))
			}
		})
	}
}

// One third of 0.3 and one tenth: equal as fractions, not as floats.
func TestExactSharesKnowNoRounding(t *testing.T) {
	weights := map[string]string{"a": "0.3", "b": "0.1"}
	compare := func(p quota.Precision) int {
		var queues []cluster.ClusterQueue
		for _, name := range []string{"a", "b"} {
			var w cluster.Weight
			err := w.UnmarshalText([]byte(weights[name]))
			require.NoError(t, err)
			q := queue(name, "co", limits{0, none, none})
			q.Weight = &w
			queues = append(queues, q)
		}
		s := newState(t, &cluster.Snapshot{ClusterQueues: append(queues, queue("other", "co", limits{7, none, none}))})
		s.use("a", 3)
		s.use("b", 1)
		a, b := s.Share(s.ix.QueueByName("a"), p), s.Share(s.ix.QueueByName("b"), p)
		return a.Compare(&b)
	}
	require.Equal(t, 0, compare(quota.Exact))
	require.NotEqual(t, 0, compare(quota.KueueFloat))
}
