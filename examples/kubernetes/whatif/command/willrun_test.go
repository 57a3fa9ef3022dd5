package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// The moment is the first at which the same question about a cluster without the pods that
// have ended is answered with Fits, and where it goes is what that answer says.
func TestWillRunIsTheFirstMoment(t *testing.T) {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	seen := map[string]int{}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		dump := &convert.Dump{Ends: map[string]time.Time{}}
		s := &dump.Snapshot
		s.Time = start
		app := map[string]string{"app": "db"}
		for n := range 1 + r.IntN(3) {
			s.Nodes = append(s.Nodes, cluster.Node{
				Name: fmt.Sprint("n", n), Labels: map[string]string{"zone": fmt.Sprint(n % 2)}, Allocatable: cluster.Resources{"cpu": 4000},
			})
			for k := range r.IntN(5) {
				p := cluster.Pod{Namespace: "d", Name: fmt.Sprintf("p%d-%d", n, k), Node: fmt.Sprint("n", n), Requests: cluster.Resources{"cpu": int64(500 * r.IntN(4))}}
				if r.IntN(3) == 0 {
					p.Labels = app
				}
				if r.IntN(6) == 0 {
					p.AntiAffinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: map[string]string{"app": "web"}}}}
				}
				s.Pods = append(s.Pods, p)
				if r.IntN(4) > 0 {
					dump.Ends["d/"+p.Name] = start.Add(time.Duration(r.IntN(9)-2) * time.Hour)
				}
			}
		}
		asking := cluster.Pod{Namespace: "d", Name: "web", Labels: map[string]string{"app": "web"}, Requests: cluster.Resources{"cpu": int64(1000 * (1 + r.IntN(4)))}}
		switch r.IntN(4) {
		case 0:
			asking.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: app}}}
		case 1:
			asking.Spread = []cluster.Spread{{MaxSkew: 1, TopologyKey: "zone", Selector: &preemption.Selector{MatchLabels: app}}}
		}
		q := ofNewPod(asking, "web")
		if r.IntN(3) == 0 {
			q = (&config{count: 2}).gang(asking, "gang")
		}
		now, err := preemption.Preempt(q.preemptor, s)
		require.NoError(t, err)
		got, err := willRun(preemption.Options{}, q, dump, now)
		require.NoError(t, err)
		seen[got.Waits]++

		var want time.Time
		var answer *preemption.Result
		moments := slices.SortedFunc(maps.Values(dump.Ends), time.Time.Compare)
		for _, at := range moments {
			left := *s
			left.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p cluster.Pod) bool {
				end, ok := dump.Ends["d/"+p.Name]
				return ok && !end.After(at) || ok && !end.After(start)
			})
			if answer, err = preemption.Preempt(q.preemptor, &left); answer.Verdict == preemption.Fits {
				want = at
				if at.Before(start) {
					want = start
				}
				break
			}
			require.NoError(t, err)
		}
		switch {
		case now.Verdict == preemption.Fits:
			require.Equal(t, waitsNone, got.Waits)
			continue
		case want.IsZero():
			require.Equal(t, waitsUnknown, got.Waits, "seed %d", seed)
			continue
		}
		require.Equal(t, waitsUntil, got.Waits, "seed %d", seed)
		require.Equal(t, want, got.At, "seed %d", seed)
		places := map[string]string{}
		for _, n := range answer.Nominations {
			places[podName(n.Pod)] = n.Node
		}
		require.Equal(t, places, got.Nominations, "seed %d", seed)
	}
	require.Greater(t, min(seen[waitsNone], seen[waitsUntil], seen[waitsUnknown]), 20, seen)
}

func TestWillRunAsJSON(t *testing.T) {
	dump := `{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n1, activeDeadlineSeconds: 7200, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}, status: {startTime: "2026-03-01T08:00:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: n1, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}, status: {startTime: "2026-03-01T09:00:00Z"}}
`
	stdout, stderr, status := output(dump, "-cpu", "1", "-priority", "9", "-will-run", "-o", "json")
	require.Equal(t, statusAnswered, status, stderr)
	var answer struct {
		WillRun WillRun `json:"willRun"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &answer))
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	require.Equal(t, WillRun{
		Waits: waitsUntil, Now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), At: at, Nominations: map[string]string{"default/preemptor": "n1"}, Ended: []string{"default/a"},
		Running: 2, Known: 1, Last: at, LostSeconds: 0,
	}, answer.WillRun)
	stdout, _, _ = output(dump, "-cpu", "1", "-priority", "9", "-o", "json")
	require.NotContains(t, stdout, "willRun")
}

func TestWillRunRefuses(t *testing.T) {
	for _, more := range [][]string{{"-batch", "x"}, {"-drain", "n"}, {"-apply", "x"}, {"-diff", "v1.36"}} {
		_, stderr, status := output("", append(more, "-will-run")...)
		require.Equal(t, statusUsage, status)
		require.Contains(t, stderr, "-will-run: of one preemptor")
	}
	_, stderr, status := output("", "-preemptor", "workload/default/w", "-will-run")
	require.Equal(t, statusUsage, status)
	require.Contains(t, stderr, "-will-run: of pods and pod groups")
}
