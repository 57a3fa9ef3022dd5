package convert_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// others reads a fixture of another scheduler's objects, by every road.
func others(t *testing.T, name string) *convert.Dump {
	t.Helper()
	text, err := os.ReadFile("testdata/others/" + name + ".yaml")
	require.NoError(t, err)
	d, err := loaded(convert.Options{Strict: true}, name, string(text))
	require.NoError(t, err)
	require.Empty(t, loadDiffers(convert.Options{}, 16, string(text)))
	again, err := loaded(convert.Options{}, "saved", saved(t, d))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(d.Snapshot, again.Snapshot))
	require.Equal(t, d.NotRead, again.NotRead)
	return d
}

// members are the pods of each group; kept those that nobody evicts.
func members(d *convert.Dump) (of map[string][]string, kept []string) {
	of = map[string][]string{}
	for _, p := range d.Snapshot.Pods {
		of[p.Group] = append(of[p.Group], p.Name)
		if p.Guard != nil && p.Guard.Standby {
			kept = append(kept, p.Name)
		}
	}
	for _, g := range d.Snapshot.PodGroups {
		if g.Guard != nil && g.Guard.Standby {
			kept = append(kept, g.Name)
		}
	}
	return of, kept
}

func group(t *testing.T, d *convert.Dump, name string) cluster.PodGroup {
	t.Helper()
	for _, g := range d.Snapshot.PodGroups {
		if g.Name == name {
			g.UID = ""
			return g
		}
	}
	t.Fatalf("there is no group %s", name)
	return cluster.PodGroup{}
}

// victims asks for a group, and returns the names of the units that go.
func victims(t *testing.T, d *convert.Dump, namespace, name string) (list []string) {
	t.Helper()
	r, err := preemption.Preempt(preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: namespace, Name: name}, &d.Snapshot)
	require.NoError(t, err)
	require.Equal(t, preemption.Feasible, r.Verdict, r.Message)
	for _, v := range r.Victims {
		list = append(list, v.Name)
	}
	return list
}

// A gang of coscheduling has the lowest priority of its pods, and its pods go one by one.
func TestCoscheduling(t *testing.T) {
	d := others(t, "coscheduling")
	of, kept := members(d)
	require.Equal(t, map[string][]string{"nginx": {"nginx-a", "nginx-b"}, "solver": {"solver-0", "solver-1"}, "": {"stray"}}, of)
	require.Empty(t, kept)
	require.Equal(t, cluster.PodGroup{Namespace: "default", Name: "solver", MinCount: ptr[int32](2), Priority: ptr[int32](1000)}, group(t, d, "solver"))
	require.Equal(t, map[string]int{"the pod group of scheduling.x-k8s.io, which is not in the input,": 1}, d.Unread)
	require.Empty(t, d.NotRead)
	require.Equal(t, []string{"nginx-a", "nginx-b"}, victims(t, d, "default", "solver"))
}

// Volcano's queues are a tree below its root; what is deserved is lent and wanted back.
func TestVolcano(t *testing.T) {
	d := others(t, "volcano")
	of, kept := members(d)
	require.Equal(t, map[string][]string{
		"sweep-6f0a": {"sweep-worker-0", "sweep-worker-1", "sweep-worker-2"}, "keeper": {"keeper-0"}, "shop": {"shop-0"},
	}, of)
	require.Equal(t, []string{"keeper-0"}, kept)
	require.Equal(t, cluster.PodGroup{
		Namespace: "lab", Name: "sweep-6f0a", MinCount: ptr[int32](2), Mode: disruption.SurplusFirst, Queue: "research",
	}, group(t, d, "sweep-6f0a"))
	require.Equal(t, cluster.PodGroup{
		Namespace: "prod", Name: "shop", MinCount: ptr[int32](1), Mode: disruption.SurplusFirst, Queue: "production", Class: "high",
	}, group(t, d, "shop"))
	require.Equal(t, map[string]int{
		"spec.minTaskMember of PodGroup.scheduling.volcano.sh":   1,
		"spec.priority of Queue.scheduling.volcano.sh":           1,
		"spec.reclaimable: false of Queue.scheduling.volcano.sh": 1,
	}, d.NotRead)
	require.Empty(t, d.Unread)
	s := &d.Snapshot
	require.Equal(t, []cluster.LocalQueue{
		{Namespace: "lab", Name: "research", ClusterQueue: "research"}, {Namespace: "prod", Name: "production", ClusterQueue: "production"},
	}, s.LocalQueues)
	quota := func(cpu, memory cluster.ResourceQuota) []cluster.ResourceGroup {
		cpu.Resource, memory.Resource = "cpu", "memory"
		return []cluster.ResourceGroup{{Flavors: []cluster.FlavorQuotas{{Flavor: "any", Resources: []cluster.ResourceQuota{cpu, memory}}}}}
	}
	reclaims := cluster.QueuePreemption{WithinClusterQueue: cluster.LowerPriority, ReclaimWithinCohort: cluster.AnyPriority}
	const gib = 1 << 30
	require.Equal(t, []cluster.ClusterQueue{
		{Name: "default", Cohort: "root", Weight: ptr(cluster.OneWeight), Preemption: reclaims, Groups: quota(cluster.ResourceQuota{}, cluster.ResourceQuota{})},
		{
			Name: "production", Cohort: "root", Weight: ptr(3 * cluster.OneWeight), Preemption: reclaims,
			Groups: quota(cluster.ResourceQuota{Nominal: 4000}, cluster.ResourceQuota{Nominal: 32 * gib, Lending: ptr[int64](24 * gib)}),
		},
		{
			Name: "research", Cohort: "root", Weight: ptr(cluster.OneWeight), Preemption: reclaims,
			Groups: quota(cluster.ResourceQuota{Nominal: 4000, Borrowing: ptr[int64](4000)}, cluster.ResourceQuota{Nominal: 32 * gib}),
		},
	}, s.ClusterQueues)
	require.Equal(t, []cluster.Cohort{
		{Name: "root", Parent: "scheduling.volcano.sh", Groups: quota(cluster.ResourceQuota{}, cluster.ResourceQuota{})},
		{Name: "scheduling.volcano.sh", Groups: quota(cluster.ResourceQuota{}, cluster.ResourceQuota{})},
	}, s.Cohorts)
	require.Equal(t, []string{"sweep-6f0a"}, victims(t, d, "prod", "shop"))
}

// Departments of KAI are cohorts; quotas of -1 are without bound, and memory is in millions of bytes.
func TestKAI(t *testing.T) {
	d := others(t, "kai")
	of, kept := members(d)
	require.Equal(t, map[string][]string{
		"pg-resnet-1b2c": {"resnet-0", "resnet-1", "resnet-2"}, "pg-notebook-77aa": {"notebook"}, "pg-bert-90ff": {"bert-0", "bert-1"},
	}, of)
	require.Equal(t, []string{"pg-notebook-77aa"}, kept) // by its priority
	require.Equal(t, cluster.PodGroup{
		Namespace: "cv", Name: "pg-resnet-1b2c", MinCount: ptr[int32](1), Mode: disruption.SurplusFirst, Queue: "vision", Class: "train",
		Topology: []cluster.TopologyConstraint{{Key: "topology.kubernetes.io/zone"}},
	}, group(t, d, "pg-resnet-1b2c"))
	require.Equal(t, map[string]int{"metadata.annotations[gpu-fraction]": 1}, d.Unread)
	require.Equal(t, map[string]int{
		"spec.preemptMinRuntime of Queue.scheduling.run.ai":                         1,
		"spec.resources.*.overQuotaWeight, but 0 and 1, of Queue.scheduling.run.ai": 1,
	}, d.NotRead)
	quotaOf := func(groups []cluster.ResourceGroup) map[string]cluster.ResourceQuota {
		m := map[string]cluster.ResourceQuota{}
		for _, q := range groups[0].Flavors[0].Resources {
			m[q.Resource] = q
		}
		return m
	}
	s := &d.Snapshot
	require.Len(t, s.ClusterQueues, 2)
	language := s.ClusterQueues[0]
	require.Equal(t, "ml", language.Cohort)
	require.Equal(t, map[string]cluster.ResourceQuota{
		"cpu":            {Resource: "cpu", Nominal: cluster.Unlimited},
		"memory":         {Resource: "memory", Nominal: 64_000_000_000},
		"nvidia.com/gpu": {Resource: "nvidia.com/gpu", Nominal: 4, Borrowing: ptr[int64](4)},
	}, quotaOf(language.Groups))
	require.Len(t, s.Cohorts, 2)
	require.Equal(t, "ml", s.Cohorts[0].Name)
	require.Equal(t, cluster.ResourceQuota{Resource: "nvidia.com/gpu", Borrowing: ptr[int64](0)}, quotaOf(s.Cohorts[0].Groups)["nvidia.com/gpu"])
	require.Equal(t, []string{"pg-resnet-1b2c"}, victims(t, d, "nlp", "pg-bert-90ff"))
}

// Without what is deserved, weights decide.
func TestVolcanoWeights(t *testing.T) {
	queue := func(name, spec string) string {
		return `{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
	}
	d, err := loaded(convert.Options{}, "f", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","pods":"9"}}}`+
		queue("a", `"weight":1,"capability":{"cpu":"1"}`)+queue("b", `"weight":3`)+queue("c", `"deserved":{"cpu":"1"},"parent":"b2"`)+queue("b2", `"weight":4`))
	require.NoError(t, err)
	got := map[string]int64{}
	for _, q := range d.Snapshot.ClusterQueues {
		got[q.Name] = q.Groups[0].Flavors[0].Resources[0].Nominal
	}
	require.Equal(t, map[string]int64{"a": 1000, "b": 3000, "c": 1000}, got)
	for _, c := range d.Snapshot.Cohorts {
		got[c.Name] = c.Groups[0].Flavors[0].Resources[0].Nominal
	}
	require.Equal(t, map[string]int64{"a": 1000, "b": 3000, "c": 1000, "b2": 3000, "scheduling.volcano.sh": 0}, got)
}

func TestOthersRefuse(t *testing.T) {
	group := func(version, spec string) string {
		return `{"apiVersion":"` + version + `","kind":"PodGroup","metadata":{"name":"g"},"spec":{` + spec + `}}`
	}
	queue := func(version, name, spec string) string {
		return `{"apiVersion":"` + version + `","kind":"Queue","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
	}
	const v, k = "scheduling.volcano.sh/v1beta1", "scheduling.run.ai/v2"
	for text, want := range map[string]string{
		group(v, `"minMember":-1`):                                   `f, document 1: PodGroup "default/g": spec.minMember: -1 is not at least 0`,
		group("scheduling.run.ai/v2alpha2", `"preemptibility":"no"`): `f, document 1: PodGroup "default/g": spec.preemptibility: "no" is not preemptible or non-preemptible`,
		group(v, ``) + group("scheduling.x-k8s.io/v1alpha1", ``):     `f, document 2: PodGroup "default/g": metadata.name: "g" is not unique: it stands in f, document 1 too`,
		queue(v, "q", `"weight":0`):                                  `f, document 1: Queue "q": spec.weight: 0 is not at least 1`,
		queue(v, "q", `"deserved":{"cpu":"-1"}`):                     `f, document 1: Queue "q": spec.deserved[cpu]: -1 is not at least 0`,
		queue(k, "q", `"resources":{"gpu":{"quota":-2}}`):            `f, document 1: Queue "q": spec.resources.gpu.quota: -2 is not at least 0, or -1 for no bound`,
		queue(k, "q", `"parentQueue":"p"`):                           `f, document 1: Queue "q": parent: "p" is not a queue of the input`,
		queue(k, "q", `"parentQueue":"q"`):                           `f, document 1: Queue "q": parent: "q" is not a queue above it: it is among those below`,
		queue(k, "q", ``) + queue(k, "q", ``):                        `f, document 2: Queue.scheduling.run.ai "q": metadata.name: "q" is not unique: it stands in f, document 1 too`,
	} {
		_, err := loaded(convert.Options{}, "f", text)
		require.EqualError(t, err, want)
		require.Empty(t, loadDiffers(convert.Options{Lenient: true}, 16, text))
	}
}

// What a group says of a queue that it cannot be in is told; a group without a queue of Volcano is in
// the default one, if there is one.
func TestGroupsWithoutTheirQueue(t *testing.T) {
	group := func(name, spec string) string {
		return `{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"` + name + `"},"spec":{` + spec + `}}`
	}
	d, err := loaded(convert.Options{}, "f", group("g", ``))
	require.NoError(t, err)
	require.Empty(t, d.NotRead)
	d, err = loaded(convert.Options{}, "f", group("g", ``)+group("h", `"queue":"gone"`)+group("i", `"queue":"root"`)+
		`{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"root"}}`+
		`{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"default"}}`)
	require.NoError(t, err)
	require.Equal(t, map[string]int{
		"spec.queue, of a queue that is not in the input, of PodGroup.scheduling.volcano.sh": 1,
		"spec.queue, of a queue with others below it, of PodGroup.scheduling.volcano.sh":     1,
	}, d.NotRead)
	require.Equal(t, []cluster.LocalQueue{{Namespace: "default", Name: "default", ClusterQueue: "default"}}, d.Snapshot.LocalQueues)
}
