package clustertest_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/clustertest"
)

var profiles = map[string]clustertest.Profile{
	"plain": {}, "a group": {Members: 3}, "one node": {Nodes: 1, Pods: 3}, "everything": clustertest.Everything(0), "everything, a group": clustertest.Everything(4),
}

// Every question has an answer, the same each time and in any order, and within its profile.
func TestRandomQuestionsAreAnswered(t *testing.T) {
	for name, p := range profiles {
		t.Run(name, func(t *testing.T) {
			verdicts := map[preemption.Verdict]int{}
			for seed := range uint64(300) {
				q := clustertest.Random(seed, p)
				if diff := cmp.Diff(q, clustertest.Random(seed, p)); diff != "" {
					t.Fatalf("seed %d gives two questions:\n%s", seed, diff)
				}
				if p.Nodes > 0 {
					require.LessOrEqual(t, len(q.Snapshot.Nodes), p.Nodes)
				}
				one, err := preemption.Preempt(q.Preemptor, q.Snapshot)
				require.NoError(t, err, "seed %d", seed)
				verdicts[one.Verdict]++
				shuffled := clustertest.Shuffled(seed, q)
				two, err := preemption.Preempt(shuffled.Preemptor, shuffled.Snapshot)
				require.NoError(t, err, "seed %d", seed)
				require.Empty(t, clustertest.Diff(one, two), "seed %d in another order", seed)
				isGroup := q.Preemptor.Group != nil || q.Preemptor.Kind == preemption.KindPodGroup || q.Preemptor.Kind == preemption.KindCompositePodGroup
				require.Equal(t, p.Members > 0, isGroup, "seed %d", seed)
			}
			require.Positive(t, verdicts[preemption.Feasible])
			require.Positive(t, verdicts[preemption.Infeasible])
		})
	}
}

// What a profile names is there, and what it does not name is not.
func TestProfilesSayWhatOccurs(t *testing.T) {
	fields := reflect.TypeFor[clustertest.Profile]()
	occurs := map[string]func(s *preemption.Snapshot) bool{
		"Placement": func(s *preemption.Snapshot) bool { return len(s.Nodes[0].Labels) > 0 },
		"Ports": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Ports != nil })
		},
		"Budgets": func(s *preemption.Snapshot) bool { return s.Budgets != nil },
		"Nominations": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.NominatedNode != "" })
		},
		"Terminating": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Terminating })
		},
		"Classes": func(s *preemption.Snapshot) bool { return s.PriorityClasses != nil },
		"Groups": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Node != "" && p.Group != "" })
		},
		"Guards": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Guard != nil })
		},
		"Odd": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Node == "gone" })
		},
		"Composite": func(s *preemption.Snapshot) bool { return s.CompositePodGroups != nil },
		"Topology": func(s *preemption.Snapshot) bool {
			for _, g := range s.PodGroups {
				if g.Topology != nil {
					return true
				}
			}
			return false
		},
		"Affinity": func(s *preemption.Snapshot) bool {
			return anyPod(s, func(p *preemption.Pod) bool { return p.Affinity != nil || p.AntiAffinity != nil || p.Spread != nil })
		},
	}
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.Type.Kind() != reflect.Bool {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			p := clustertest.Profile{Members: 3}
			require.False(t, ever(p, occurs[f.Name]), "without it")
			reflect.ValueOf(&p).Elem().Field(i).SetBool(true)
			require.True(t, ever(p, occurs[f.Name]), "with it")
		})
	}
}

func anyPod(s *preemption.Snapshot, is func(*preemption.Pod) bool) bool {
	for i := range s.Pods {
		if is(&s.Pods[i]) {
			return true
		}
	}
	return false
}

func ever(p clustertest.Profile, is func(*preemption.Snapshot) bool) bool {
	for seed := range uint64(300) {
		if is(clustertest.Random(seed, p).Snapshot) {
			return true
		}
	}
	return false
}

// The property of the package's documentation.
func TestVictimsAreLessImportant(t *testing.T) {
	evicted := 0
	gen.CheckUntil(t, func(t *rapid.T) {
		q := clustertest.Draw(clustertest.Profile{Budgets: true}).Draw(t, "question")
		planner, err := preemption.NewPlanner(q.Snapshot, preemption.Options{})
		require.NoError(t, err)
		result, err := planner.Preempt(q.Preemptor)
		require.NoError(t, err)
		for _, v := range result.Victims {
			evicted++
			if v.Priority >= 1000 {
				t.Fatalf("%s has priority %d", v.Name, v.Priority)
			}
		}
	}, &evicted)
}

// Of bits that are all zero, which is where rapid shrinks to, comes the smallest cluster.
func TestQuestionsShrink(t *testing.T) {
	for _, p := range profiles {
		rapid.MakeFuzz(func(t *rapid.T) {
			q := clustertest.Draw(p).Draw(t, "question")
			if len(q.Snapshot.Nodes) != 1 || len(q.Snapshot.Pods) > 1 || len(q.Snapshot.Budgets) > 0 {
				t.Fatalf("not the smallest: %v", q)
			}
		})(t, make([]byte, 1<<16))
	}
}

// A question that was printed is read as it was.
func TestAQuestionIsWrittenWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := clustertest.Draw(clustertest.Everything(2)).Draw(t, "question")
		var again clustertest.Question
		require.NoError(t, json.Unmarshal([]byte(q.String()), &again))
		if diff := cmp.Diff(q, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Drawn options can be followed, and are data: they survive JSON.
func TestOptionsAreData(t *testing.T) {
	q := clustertest.Random(1, clustertest.Profile{})
	follow := func(t require.TestingT, o preemption.Options) {
		require.Nil(t, o.Hooks)
		require.False(t, o.Strict)
		text, err := json.Marshal(o)
		require.NoError(t, err)
		var again preemption.Options
		require.NoError(t, json.Unmarshal(text, &again))
		one, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		two, err := again.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		require.Empty(t, clustertest.Diff(one, two))
	}
	for seed := range uint64(200) {
		follow(t, clustertest.RandomOptions(seed))
	}
	rapid.Check(t, func(t *rapid.T) { follow(t, clustertest.DrawOptions().Draw(t, "options")) })
}

func TestQuestionsAboutQuota(t *testing.T) {
	evicted := 0
	for seed := range uint64(200) {
		q, o := clustertest.RandomQuota(seed)
		r, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		evicted += len(r.Victims)
	}
	require.Positive(t, evicted)
	rapid.Check(t, func(t *rapid.T) {
		q, o := clustertest.DrawQuota(t)
		other := clustertest.Shuffle(t, q)
		one, err := o.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		two, err := o.Preempt(other.Preemptor, other.Snapshot)
		require.NoError(t, err)
		require.Empty(t, clustertest.Diff(one, two))
	})
}

// Every shape of a fleet that there is has its name here, and whoever comes has to evict.
func TestFleets(t *testing.T) {
	shapes := []clustertest.Shape{
		clustertest.Uniform, clustertest.Tied, clustertest.Distinct, clustertest.Budgeted, clustertest.Equal, clustertest.Skewed,
	}
	require.Len(t, shapes, len(gen.Shapes()))
	for _, shape := range shapes {
		q := clustertest.Fleet(16, 30, 1, shape)
		require.Len(t, q.Snapshot.Nodes, 16)
		r, err := preemption.Preempt(q.Preemptor, q.Snapshot)
		require.NoError(t, err)
		require.Equal(t, preemption.Feasible, r.Verdict, shape)
	}
}
