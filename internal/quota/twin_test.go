package quota_test

import (
	"fmt"
	"slices"
	"testing"

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
