package bench_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// sharedNodes are nodes of four pods each, all of groups of four that go as a whole: a group
// has whole nodes, a pod on each of four neighbours, or of any four nodes. Some groups have
// more to lose than others.
func sharedNodes(nodes int, kind string) preemption.Snapshot {
	r := rand.New(rand.NewPCG(uint64(nodes), 29))
	var s preemption.Snapshot
	var slots []int // by group and pod: its node
	for n := range nodes {
		s.Nodes = append(s.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%03d", n), Allocatable: preemption.Resources{cluster.CPU: 16_000, cluster.Pods: 110},
		})
		for range 4 {
			slots = append(slots, n)
		}
	}
	switch kind {
	case "neighbours":
		for i := range slots {
			slots[i] = (i/4 + i%4) % nodes
		}
	case "scattered":
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	}
	priority := int32(0)
	for g := range nodes {
		name := fmt.Sprintf("g%03d", g)
		s.PodGroups = append(s.PodGroups, preemption.PodGroup{
			Namespace: "ml", Name: name, Mode: disruption.All, Priority: &priority, Cost: &cluster.Cost{Fixed: int64(1 + r.IntN(100))},
		})
		for i, n := range slots[4*g : 4*g+4] {
			s.Pods = append(s.Pods, preemption.Pod{
				Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, i), Group: name, Node: s.Nodes[n].Name, Priority: &priority,
				Requests: preemption.Resources{cluster.CPU: int64(2_000 + 1_000*r.IntN(3))},
			})
		}
	}
	return s
}

// BenchmarkShared: a gang of equal members where groups that go as a whole run over several
// nodes, by how hard the least disruption is looked for. gap is by how much the bound is below
// what was found, in percent.
func BenchmarkShared(b *testing.B) {
	for _, kind := range []string{"whole", "neighbours", "scattered"} {
		for _, size := range []struct {
			nodes, members int
			cpu            int64
		}{{50, 4, 8_000}, {50, 4, 16_000}, {100, 8, 8_000}, {100, 8, 16_000}, {100, 16, 8_000}, {100, 16, 16_000}} {
			snap := sharedNodes(size.nodes, kind)
			for _, objective := range []preemption.CriterionName{preemption.CriterionPods, preemption.CriterionCost} {
				for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
					b.Run(fmt.Sprintf("groups=%s/nodes=%d/members=%d/cpu=%d/least=%s/search=%s", kind, size.nodes, size.members, size.cpu, objective, search), func(b *testing.B) {
						pl, err := preemption.NewPlanner(&snap, preemption.Options{
							Search: search, Objective: []preemption.CriterionName{objective},
							Cost: preemption.CostOptions{Tariff: disruption.Tariff{Fixed: 1}},
						})
						if err != nil {
							b.Fatal(err)
						}
						p := gang(size.members, size.cpu)
						optimal, found, gap := 0, int64(0), 0.0
						for b.Loop() {
							r := mustPreempt(b, pl, p)
							if r.Optimal {
								optimal++
							}
							if found = r.Score[0].Value; len(r.Bound) > 0 {
								gap = 100 * (1 - float64(r.Bound[0].Value)/float64(found))
							}
						}
						b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
						b.ReportMetric(float64(found), string(objective))
						b.ReportMetric(gap, "gap%")
					})
				}
			}
		}
	}
}

// countedAside makes the call of that seed in processes of their own, which leave what ran where they end: one before the
// call, one after it.
func countedAside(t *testing.T, seed uint64) (d drawnCall) {
	_, before := runAside(t, seed, "before")
	out, after := runAside(t, seed, "after")
	_, err := fmt.Sscan(out, &d.took)
	require.NoError(t, err, out)
	_, d.name, _ = strings.Cut(strings.TrimSpace(out), " ")
	d.blocks = after - before
	return d
}

// runAside is what a process says, and how many blocks of code it ran.
func runAside(t *testing.T, seed uint64, end string) (string, uint64) {
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestScan$", "-test.timeout=0", "-scan=1", "-scan.end="+end,
		fmt.Sprint("-scan.seed=", seed), fmt.Sprint("-scan.nodes=", *scanNodes))
	c.Env = append(os.Environ(), "GOCOVERDIR="+dir, "GOMAXPROCS=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	files, err := filepath.Glob(filepath.Join(dir, "covcounters.*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	counters, err := os.ReadFile(files[0])
	require.NoError(t, err)
	return string(out), numBlocks(t, bytes.NewBuffer(counters))
}

// numBlocks is how many blocks of code have run, by what -covermode counts.
//
// Source: package internal/coverage of Go's standard library, "counter data file": a header, how many functions follow, and
// how many bytes of names and arguments before them; of a function the number of blocks, two numbers that name it, and how
// often each block has run.
func numBlocks(t *testing.T, file *bytes.Buffer) (n uint64) {
	file.Next(32)
	var segment struct {
		Functions        uint64
		Names, Arguments uint32
	}
	require.NoError(t, binary.Read(file, binary.LittleEndian, &segment))
	file.Next(int(segment.Names + segment.Arguments))
	next := func() uint64 {
		v, err := binary.ReadUvarint(file)
		require.NoError(t, err)
		return v
	}
	for range segment.Functions {
		blocks := next()
		next()
		next()
		for range blocks {
			n += next()
		}
	}
	return n
}

// leastOfThePass is how many pods go at least for members that ask for cpu, over all placements on full nodes of single pods of one priority,
// if on each node go whom upstream's pass takes there.
func leastOfThePass(t testing.TB, snap *preemption.Snapshot, members int, cpu int64) int {
	on := map[string][]preemption.Pod{}
	for _, p := range snap.Pods {
		on[p.Node] = append(on[p.Node], p)
	}
	least := make([]int, members+1) // by how many have a place; -1: none have
	for i := range least {
		least[i] = -1
	}
	least[0] = 0
	for _, n := range snap.Nodes {
		one := preemption.Snapshot{Time: snap.Time, Nodes: []preemption.Node{n}, Pods: on[n.Name], PriorityClasses: snap.PriorityClasses}
		var victims []int // of one member, of two, and so on
		for len(victims) < members {
			r, err := preemption.Preempt(gang(len(victims)+1, cpu), &one)
			require.NoError(t, err)
			if r.Verdict != preemption.Feasible {
				require.Equal(t, preemption.Infeasible, r.Verdict)
				break
			}
			victims = append(victims, len(r.Victims))
		}
		for all := members; all > 0; all-- {
			for i, v := range victims[:min(all, len(victims))] {
				if before := least[all-i-1]; before >= 0 && (least[all] < 0 || before+v < least[all]) {
					least[all] = before + v
				}
			}
		}
	}
	return least[members]
}

// TestGreedyIsNearTheLeastOfThePass: Greedy chooses the nodes, upstream's pass chooses who goes there. No more than a twentieth
// more go by the choice of nodes than have to.
func TestGreedyIsNearTheLeastOfThePass(t *testing.T) {
	for _, cpu := range []int64{1_000, 2_000, 4_000, 8_000, 16_000} {
		snap := gen.Fleet(120, 30, seed, gen.Tied)
		least := leastOfThePass(t, &snap, 40, cpu)
		r, err := preemption.Preempt(gang(40, cpu), &snap)
		require.NoError(t, err)
		t.Logf("%d milli-CPUs: %d pods, at least %d", cpu, len(r.Victims), least)
		require.GreaterOrEqual(t, len(r.Victims), least, "%d", cpu)
		require.LessOrEqual(t, 20*len(r.Victims), 21*least, "%d", cpu)
	}
}

// BenchmarkGangSearch: a gang of equal members in a full cluster, by how hard the least
// disruption is looked for. In the tied fleet all pods have one priority; there pass-least is
// the least that Greedy could come to with whom upstream's pass takes on each node.
func BenchmarkGangSearch(b *testing.B) {
	shapes := []struct {
		members int
		cpu     int64
	}{{32, 8_000}, {512, 8_000}, {512, 16_000}, {512, 4_000}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for _, fleet := range []struct {
		name  string
		shape gen.Shape
	}{{"uniform", gen.Uniform}, {"tied", gen.Tied}} {
		snap := gen.Fleet(5_000, 30, seed, fleet.shape)
		for _, g := range shapes {
			for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
				b.Run(fmt.Sprintf("fleet=%s/members=%d/cpu=%d/search=%s", fleet.name, g.members, g.cpu, search), func(b *testing.B) {
					pl, err := preemption.NewPlanner(&snap, preemption.Options{Search: search})
					if err != nil {
						b.Fatal(err)
					}
					p := gang(g.members, g.cpu)
					optimal, pods := 0, 0
					for b.Loop() {
						r := mustPreempt(b, pl, p)
						if r.Optimal {
							optimal++
						}
						for _, v := range r.Victims {
							pods += len(v.Pods)
						}
					}
					if fleet.shape == gen.Tied && search == preemption.Greedy {
						b.ReportMetric(float64(leastOfThePass(b, &snap, g.members, g.cpu)), "pass-least")
					}
					b.ReportMetric(float64(optimal)/float64(b.N), "optimal/op")
					b.ReportMetric(float64(pods)/float64(b.N), "victims/op")
				})
			}
		}
	}
}
