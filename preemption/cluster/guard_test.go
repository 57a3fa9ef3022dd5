package cluster_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func TestGuardsThatCannotBeRead(t *testing.T) {
	_, err := cluster.NewIndex(&cluster.Snapshot{
		Time: noon,
		Pods: []cluster.Pod{{
			Name: "p", Priority: ptr(int32(10)), RanSeconds: -1,
			Guard: &cluster.Guard{
				GuaranteedSeconds: ptr(int64(-1)), WaitSeconds: ptr(int64(-2)),
				Milestones: []cluster.Milestone{{Seconds: 5, Value: 9}, {Seconds: 5, Value: math.MaxInt32 + 1}},
			},
			Cost: &cluster.Cost{
				Fixed: -1, RestartSeconds: -1, Checkpoint: noon.Add(1),
				Milestones: []cluster.Milestone{{Seconds: -1, Value: -1}},
			},
			Evictions: []time.Time{noon, noon.Add(time.Second), {}},
		}},
		PodGroups:          []cluster.PodGroup{{Name: "g", Cost: &cluster.Cost{Fixed: -1}}},
		CompositePodGroups: []cluster.CompositePodGroup{{Name: "c", Guard: &cluster.Guard{WaitSeconds: ptr(int64(-1))}}},
		PriorityClasses: []priority.Class{{Name: "low", GuaranteedSeconds: -5, Annotations: map[string]string{
			priority.TolerationSecondsAnnotation: "soon",
		}}},
		Disruptions: []cluster.Disruption{{Time: noon.Add(1), Victims: -1, Pods: -1, Cost: -1}},
	})
	require.ErrorIs(t, err, cluster.ErrInvalid)
	require.ErrorIs(t, err, disruption.ErrMilestone)
	require.ErrorIs(t, err, priority.ErrToleration)
	require.ErrorIs(t, err, priority.ErrSeconds)
	require.Equal(t, strings.Split(strings.TrimSpace(`
cluster: CompositePodGroup "c": Guard.WaitSeconds: -1 is not >= 0
cluster: Pod "p": Cost.Fixed: -1 is not >= 0
cluster: Pod "p": Cost.Milestones[0].Seconds: -1 is not >= 0
cluster: Pod "p": Cost.Milestones[0].Value: -1 is not >= 0
cluster: Pod "p": Cost.RestartSeconds: -1 is not >= 0
cluster: Pod "p": Evictions[2]: no time is not a time
cluster: Pod "p": Guard.GuaranteedSeconds: -1 is not >= 0
cluster: Pod "p": Guard.Milestones[1].Seconds: 5 is not above those of the milestone before, 5
cluster: Pod "p": Guard.Milestones[1].Value: 2147483648 is not an int32
cluster: Pod "p": Guard.WaitSeconds: -2 is not >= 0
cluster: Pod "p": RanSeconds: -1 is not >= 0
cluster: PodGroup "g": Cost.Fixed: -1 is not >= 0
cluster: PriorityClass "low": annotations[preemption-toleration.scheduling.x-k8s.io/toleration-seconds]: "soon" is not an integer of 64 bits
cluster: PriorityClass "low": guaranteedSeconds: -5 is not >= 0
cluster: Snapshot: Disruptions[0].Cost: -1 is not >= 0
cluster: Snapshot: Disruptions[0].Pods: -1 is not >= 0
cluster: Snapshot: Disruptions[0].Victims: -1 is not >= 0`), "\n"), strings.Split(err.Error(), "\n"))
}

func TestMilestonesBelowThePriority(t *testing.T) {
	_, err := cluster.NewIndex(&cluster.Snapshot{Pods: []cluster.Pod{{
		Name: "p", Priority: ptr(int32(10)), Guard: &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 5, Value: 9}, {Seconds: 6, Value: math.MinInt64}}},
	}}})
	require.ErrorIs(t, err, priority.ErrPreemptionPriority)
	require.EqualError(t, err, `cluster: Pod "p": Guard.Milestones[0].Value: 9 is not >= the priority 10
cluster: Pod "p": Guard.Milestones[1].Value: -9223372036854775808 is not >= the priority 10`)
}

func TestPreemptionPriorityOverTime(t *testing.T) {
	climbing := &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 100, Value: 60}, {Seconds: 200, Value: 20}}}
	for _, tt := range []struct {
		name  string
		pod   cluster.Pod
		group *cluster.Cost
		now   time.Time
		want  int32
	}{
		{"at the start", cluster.Pod{Started: noon}, nil, noon, 10},
		{"half-way up", cluster.Pod{Started: noon}, nil, noon.Add(50 * time.Second), 35},
		{"whole seconds only", cluster.Pod{Started: noon.Add(500 * time.Millisecond)}, nil, noon.Add(50 * time.Second), 34},
		{"half-way down", cluster.Pod{Started: noon}, nil, noon.Add(150 * time.Second), 40},
		{"constant after the last", cluster.Pod{Started: noon}, nil, noon.Add(time.Hour), 20},
		{"before the start", cluster.Pod{Started: noon.Add(time.Hour)}, nil, noon, 10},
		{"not started", cluster.Pod{}, nil, noon, 10},
		{"nobody knows what time it is", cluster.Pod{Started: noon}, nil, time.Time{}, 10},
		{"since the checkpoint", cluster.Pod{Started: noon, Cost: &cluster.Cost{Checkpoint: noon.Add(time.Hour)}}, nil, noon.Add(time.Hour + 100*time.Second), 60},
		{"since the group's checkpoint", cluster.Pod{Started: noon, Group: "g"}, &cluster.Cost{Checkpoint: noon.Add(time.Hour)}, noon.Add(time.Hour + 100*time.Second), 60},
		{"from the static one", cluster.Pod{Started: noon, PreemptionPriority: ptr(int32(30))}, nil, noon, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.pod.Name, tt.pod.Node, tt.pod.Priority, tt.pod.Guard = "p", "n", ptr(int32(10)), climbing
			s := cluster.Snapshot{Time: tt.now, Pods: []cluster.Pod{tt.pod}, PodGroups: []cluster.PodGroup{{Name: "g", Priority: ptr(int32(10)), Guard: climbing, Cost: tt.group}}}
			ix, err := cluster.NewIndex(&s)
			require.NoError(t, err)
			level, due := ix.PreemptionPriority(0)
			require.Equal(t, tt.want, level)
			if due < math.MaxInt64 {
				s.Time = time.Unix(due-1, 0)
				early, err := cluster.NewIndex(&s)
				require.NoError(t, err)
				level, _ = early.PreemptionPriority(0)
				require.Equal(t, tt.want, level, "before %d", due)
			}
			if tt.pod.Group != "" {
				level, at := ix.GroupPreemptionPriority(0)
				require.Equal(t, tt.want, level)
				require.Equal(t, due, at)
			}
		})
	}
}

func TestCheckLead(t *testing.T) {
	ix, err := cluster.NewIndex(&cluster.Snapshot{
		Pods: []cluster.Pod{
			{Name: "far", Priority: ptr(int32(10)), PreemptionPriority: ptr(int32(16))},
			{Name: "near", Priority: ptr(int32(10)), PreemptionPriority: ptr(int32(15))},
			{Name: "later", Guard: &cluster.Guard{Milestones: []cluster.Milestone{{Seconds: 1, Value: 5}, {Seconds: 2, Value: 6}}}},
			{Name: "top", Priority: ptr(int32(math.MaxInt32))},
		},
		PodGroups: []cluster.PodGroup{{Name: "g", PreemptionPriority: ptr(int32(6))}},
	})
	require.NoError(t, err)
	require.EqualError(t, ix.CheckLead(5), `cluster: Pod "far": PreemptionPriority: 16 is not at most 5 above the priority 10
cluster: Pod "later": Guard.Milestones[1].Value: 6 is not at most 5 above the priority 0
cluster: PodGroup "g": PreemptionPriority: 6 is not at most 5 above the priority 0`)
	require.NoError(t, ix.CheckLead(6))
}

func TestElapsed(t *testing.T) {
	at := func(now, since time.Time) int64 {
		ix, err := cluster.NewIndex(&cluster.Snapshot{Time: now})
		require.NoError(t, err)
		seconds, known := ix.Elapsed(since)
		require.Equal(t, !now.IsZero() && !since.IsZero(), known)
		return seconds
	}
	require.Equal(t, int64(60), at(noon.Add(time.Minute), noon))
	require.Equal(t, int64(59), at(noon.Add(time.Minute), noon.Add(1)))
	require.Zero(t, at(noon, noon.Add(time.Minute)))
	require.Zero(t, at(time.Time{}, noon))
	require.Zero(t, at(noon, time.Time{}))
	require.Equal(t, int64(math.MaxInt64), at(noon, time.Unix(-math.MaxInt64, 0)), "it saturates")
}
