package scenario_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

func Example() {
	s, err := scenario.Parse("all.txt", `# Mode All: the whole group goes even where one pod would do.
nodes   n1 cpu=4   n2 cpu=4
group   train mode=All prio=10 min=2   t0@n1 cpu=4 prio=10   t1@n2 cpu=4 prio=10
pods    other@n2 cpu=4 prio=2000
preempt web prio=1000 cpu=2
`)
	if err != nil {
		panic(err)
	}
	fmt.Print(s.Transcript())
	// Output:
	// n1: potential train; place web; reprieve train no (cpu 2 short)
	// n2: potential train; no, with all of them gone (cpu 2 short)
	// feasible on n1; victims train(t0 t1); violations 0
}

func TestParseReadsEveryField(t *testing.T) {
	s, err := scenario.Parse("x.txt", `# Everything at once.
now       11:00
nodes     n1 cpu=500m memory=8Gi pods=10 example.com/gpu=2 labels=zone=a,disk=ssd
             taints=dedicated=ml:NoExecute,spare cordoned=yes
pods      ml/p@n1 uid=u1 labels=app=web prio=10 class=high policy=Never cpu=2 memory=512Mi
             start=10:05 scheduled=t4 created=10:03:30 nominated=n2 required=n3
             ports=80,53/UDP,10.0.0.1:443/TCP select=zone=a owner=Job/train
             affinity=zone:In:a|b,disk:Exists;@metadata.name:In:n1
             tolerate=dedicated=ml:NoSchedule,weight<5,spare,* terminating=preempted
group     train mode=All prio=10 min=2 parent=job class=high policy=Never topology=zone
             t0@n1 cpu=1
composite job mode=All prio=10 min=2
budget    web allowed=1 select=app=web,tier:In:a|b disrupted=p1,p2
class     high value=1000 policy=Never default=yes
namespace ml labels=team=ml
rules     Kubernetes136
sampling  percent=40 minimum=1 offset=4
options   strict=yes
preempt   pod ml/web
----
what is wanted
`)
	require.NoError(t, err)
	at := func(h, m, sec int) time.Time { return time.Date(2026, 1, 2, h, m, sec, 0, time.UTC) }
	p := func(v int32) *int32 { return &v }
	want := preemption.Snapshot{
		Time: at(11, 0, 0),
		Nodes: []cluster.Node{{
			Name:        "n1",
			Labels:      map[string]string{"zone": "a", "disk": "ssd"},
			Allocatable: cluster.Resources{"cpu": 500, "memory": 8 << 30, "pods": 10, "example.com/gpu": 2},
			Taints: []cluster.Taint{
				{Key: "dedicated", Value: "ml", Effect: cluster.NoExecute}, {Key: "spare", Effect: cluster.NoSchedule},
			},
			Unschedulable: true,
		}},
		Pods: []cluster.Pod{{
			Namespace: "ml", Name: "p", UID: "u1", Node: "n1", NominatedNode: "n2", RequiredNode: "n3",
			Labels: map[string]string{"app": "web"}, Requests: cluster.Resources{"cpu": 2000, "memory": 512 << 20},
			Ports:        []cluster.HostPort{{Port: 80}, {Port: 53, Protocol: "UDP"}, {IP: "10.0.0.1", Port: 443, Protocol: "TCP"}},
			NodeSelector: map[string]string{"zone": "a"},
			NodeAffinity: &cluster.NodeAffinity{Terms: []cluster.NodeTerm{
				{Labels: []cluster.NodeRequirement{
					{Key: "zone", Operator: cluster.NodeIn, Values: []string{"a", "b"}}, {Key: "disk", Operator: cluster.NodeExists},
				}},
				{Fields: []cluster.NodeRequirement{{Key: "metadata.name", Operator: cluster.NodeIn, Values: []string{"n1"}}}},
			}},
			Tolerations: []cluster.Toleration{
				{Key: "dedicated", Operator: cluster.TolerationEqual, Value: "ml", Effect: cluster.NoSchedule},
				{Key: "weight", Operator: cluster.TolerationLt, Value: "5"},
				{Key: "spare", Operator: cluster.TolerationExists},
				{Operator: cluster.TolerationExists},
			},
			Class: "high", Priority: p(10), Policy: priority.Never, Owner: &cluster.Owner{Kind: "Job", Name: "train"},
			Started: at(10, 5, 0), Scheduled: at(10, 4, 0), Created: at(10, 3, 30),
			Terminating: true, Preempted: true,
		}, {
			Namespace: "default", Name: "t0", Node: "n1", Group: "train", Requests: cluster.Resources{"cpu": 1000},
		}},
		PodGroups: []cluster.PodGroup{{
			Namespace: "default", Name: "train", Mode: disruption.All, Priority: p(10), MinCount: p(2), Parent: "job",
			Class: "high", Policy: priority.Never, Topology: []cluster.TopologyConstraint{{Key: "zone"}},
		}},
		CompositePodGroups: []cluster.CompositePodGroup{{
			Namespace: "default", Name: "job", Mode: disruption.All, Priority: p(10), MinGroupCount: p(2),
		}},
		Budgets: []disruption.Budget{{
			Namespace: "default", Name: "web", Allowed: 1, Disrupted: []string{"p1", "p2"},
			Selector: &disruption.Selector{
				MatchLabels:      map[string]string{"app": "web"},
				MatchExpressions: []disruption.Requirement{{Key: "tier", Operator: disruption.In, Values: []string{"a", "b"}}},
			},
		}},
		PriorityClasses: []priority.Class{{Name: "high", Value: 1000, Policy: priority.Never, GlobalDefault: true}},
		Namespaces:      []cluster.Namespace{{Name: "ml", Labels: map[string]string{"team": "ml"}}},
	}
	if diff := cmp.Diff(want, s.Snapshot); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	require.Equal(t, "what is wanted\n", s.Want)
	require.Equal(t, []scenario.Question{{
		Snapshot:  &want,
		Preemptor: preemption.Preemptor{Kind: cluster.KindPod, Namespace: "ml", Name: "web"},
		Options: preemption.Options{
			Rules: preemption.Kubernetes136, Sampling: &preemption.Sampling{Percent: 40, Minimum: 1, Offset: 4},
			Strict: true, Candidates: true, Explain: true,
		},
	}}, s.Questions())
}

func TestParseReadsGuards(t *testing.T) {
	s, err := scenario.Parse("x.txt", `# Everything about protection, delay and price.
now     11:00 12:00
pods    p guaranteed=10m wait=30 standby=yes levels=1h:20,2h:0 evicted=10:50,t5 ran=1h
          cost=5 checkpoint=10:00 restart=60 costs=1m:100,10m:0
group   g guaranteed=0
composite c wait=1
class   low minimum-preemptable=10000 toleration-seconds=x guaranteed=1h wait=2
options toleration=Design guaranteed=10m equal-after=1h cooldown=2/1h protect=app=web
          wait=30 no-cascade=yes apart=yes max-lead=100
preempt pod p
`)
	require.NoError(t, err)
	at := func(h, m int) time.Time { return time.Date(2026, 1, 2, h, m, 0, 0, time.UTC) }
	seconds := func(n int64) *int64 { return &n }
	if diff := cmp.Diff(cluster.Pod{
		Namespace: "default", Name: "p", RanSeconds: 3600, Evictions: []time.Time{at(10, 50), at(10, 5)},
		Guard: &cluster.Guard{
			GuaranteedSeconds: seconds(600), WaitSeconds: seconds(30), Standby: true,
			Milestones: []cluster.Milestone{{Seconds: 3600, Value: 20}, {Seconds: 7200}},
		},
		Cost: &cluster.Cost{Fixed: 5, Checkpoint: at(10, 0), RestartSeconds: 60, Milestones: []cluster.Milestone{{Seconds: 60, Value: 100}, {Seconds: 600}}},
	}, s.Snapshot.Pods[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	require.Equal(t, &cluster.Guard{GuaranteedSeconds: seconds(0)}, s.Snapshot.PodGroups[0].Guard)
	require.Equal(t, &cluster.Guard{WaitSeconds: seconds(1)}, s.Snapshot.CompositePodGroups[0].Guard)
	require.Equal(t, priority.Class{Name: "low", GuaranteedSeconds: 3600, WaitSeconds: 2, Annotations: map[string]string{
		priority.MinimumPreemptableAnnotation: "10000", priority.TolerationSecondsAnnotation: "x",
	}}, s.Snapshot.PriorityClasses[0])
	questions := s.Questions()
	require.Len(t, questions, 2)
	require.Equal(t, []string{"at 11:00:00", "at 12:00:00"}, []string{questions[0].Title, questions[1].Title})
	require.Equal(t, []time.Time{at(11, 0), at(12, 0)}, []time.Time{questions[0].Snapshot.Time, questions[1].Snapshot.Time})
	require.Equal(t, preemption.Options{
		Guards: preemption.Guards{
			Toleration: priority.TolerationDesign, GuaranteedSeconds: 600, EqualAfterSeconds: 3600,
			Cooldown: victims.Cooldown{Evictions: 2, Seconds: 3600},
			Protect:  &disruption.Selector{MatchLabels: map[string]string{"app": "web"}},
		},
		WaitSeconds: 30, NoCascade: true, PreemptionPriority: preemption.PreemptionPriority{Apart: true, MaxLead: 100},
		Candidates: true, Explain: true,
	}, questions[0].Options)
}

func TestQuestionsAreEveryCombination(t *testing.T) {
	s, err := scenario.Parse("x.txt", "# Eight questions.\nrules Kubernetes136 Kubernetes137\n"+
		"sampling percent=40\nsampling percent=50 offset=2\npreempt a cpu=1 b cpu=1\n")
	require.NoError(t, err)
	var titles []string
	for _, q := range s.Questions() {
		titles = append(titles, q.Title)
	}
	require.Equal(t, []string{
		"a, 40% from 0, Kubernetes136", "a, 40% from 0, Kubernetes137", "a, 50% from 2, Kubernetes136", "a, 50% from 2, Kubernetes137",
		"b, 40% from 0, Kubernetes136", "b, 40% from 0, Kubernetes137", "b, 50% from 2, Kubernetes136", "b, 50% from 2, Kubernetes137",
	}, titles)
}

func TestErrorsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no comment":           {"nodes n1\npreempt p\n", "x.txt:1: a scenario starts with a comment that says the behaviour"},
		"no preemptor":         {"# c\nnodes n1\n", "x.txt:1: nobody preempts: there is no preempt line"},
		"unknown word":         {"# c\n\nnode n1\npreempt p\n", "x.txt:3: node: a line starts with nodes, pods, group, composite, budget, class, namespace, now, rules, sampling, options, place, earlier or preempt"},
		"nothing follows":      {"# c\nnodes\npreempt p\n", "x.txt:2: nodes: nothing follows"},
		"unknown attribute":    {"# c\nnodes n1 cpus=1\npreempt p\n", "x.txt:2: nodes: n1: there is no cpus"},
		"bad number":           {"# c\npods p1@n1 prio=high\npreempt p\n", `x.txt:2: pods: p1@n1: prio=high: strconv.ParseInt: parsing "high": invalid syntax`},
		"bad flag":             {"# c\nnodes n1 cordoned=no\npreempt p\n", "x.txt:2: nodes: n1: cordoned=no: it is yes or left out"},
		"bad terminating":      {"# c\npods p1@n1 terminating=no\npreempt p\n", "x.txt:2: pods: p1@n1: terminating=no: it is yes or preempted"},
		"bad selector":         {"# c\nbudget b select=app\npreempt p\n", "x.txt:2: budget: b: select=app: app is not key:Operator:values"},
		"bad labels":           {"# c\nnodes n1 labels=app\npreempt p\n", "x.txt:2: nodes: n1: labels=app: app is not key=value"},
		"indented first":       {"#\n  n1 cpu=1\n", "x.txt:2: an indented line continues another, and there is none"},
		"said twice":           {"# c\npreempt pod p cpu=1\n", "x.txt:2: preempt: p: it is in the snapshot, where all is said about it"},
		"attribute of nothing": {"# c\nnodes cpu=1\npreempt p\n", "x.txt:2: nodes: cpu=1 stands before any name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scenario.Parse("x.txt", c.text)
			require.EqualError(t, err, c.want)
			var at *scenario.Error
			require.ErrorAs(t, err, &at)
		})
	}
}

func TestFilePutsTheTranscriptBelow(t *testing.T) {
	const text = "# c\npreempt p\n----\nold\n"
	s, err := scenario.Parse("x.txt", text)
	require.NoError(t, err)
	require.Equal(t, text, s.File(s.Want))
	require.Equal(t, "# c\npreempt p\n----\nnew\n", s.File("new\n"))
}
