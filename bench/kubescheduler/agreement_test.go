package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestAgreement asks the real scheduler and the library the same: every candidate
// with its victims and violations, and the nodes that tie for the best, must be the
// same, and what kube-scheduler picks by chance must be one of these. Where it
// leaves an order to chance (spec: equal start times), the clusters are untied.
func TestAgreement(t *testing.T) {
	profiles := map[string]gen.Profile{
		"resources":      {},
		"budgets":        {Budgets: true},
		"placement":      {Placement: true, Ports: true},
		"nominated":      {Nominations: true, Terminating: true},
		"everything":     {Placement: true, Ports: true, Budgets: true, Nominations: true, Terminating: true},
		"related":        {},
		"related-placed": {Placement: true, Budgets: true, Nominations: true, Terminating: true},
		"related-larger": {MaxNodes: 10, MaxPods: 40, Budgets: true},
		"larger":         {MaxNodes: 12, MaxPods: 80, Placement: true, Budgets: true, Nominations: true},
	}
	clusters := uint64(500)
	if testing.Short() {
		clusters = 100
	}
	for name, profile := range profiles {
		t.Run(name, func(t *testing.T) {
			verdicts := map[preemption.Verdict]int{}
			for seed := range clusters {
				q := gen.Random(seed, profile)
				untie(&q)
				if strings.HasPrefix(name, "related") {
					relate(seed, &q)
				}
				want, got := ask(t, q)
				verdicts[want.Verdict]++
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("seed %d (-kube-scheduler +library):\n%s", seed, diff)
				}
			}
			t.Log(verdicts)
			if verdicts[preemption.Feasible] < int(clusters)/10 {
				t.Errorf("only %d of %d questions had a candidate: too few to mean anything", verdicts[preemption.Feasible], clusters)
			}
		})
	}
}

// TestSamplingAgreement limits the search on both sides, with one worker, as that
// leaves nothing to chance: the same candidates must be found from any offset.
func TestSamplingAgreement(t *testing.T) {
	clusters := uint64(500)
	if testing.Short() {
		clusters = 50
	}
	fewer := 0
	for seed := range clusters {
		q := gen.Random(seed, gen.Profile{MaxNodes: 12, MaxPods: 60, Budgets: true, Placement: true})
		untie(&q)
		limits := preemption.Sampling{Percent: int32(seed % 50), Minimum: int32(1 + seed%3), Offset: int32(seed % 17)}
		all, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		r, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true, Sampling: &limits}.Preempt(q.Preemptor, &q.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Candidates) < len(all.Candidates) {
			fewer++
		}
		asked, err := newQuestion(q.Preemptor, &q.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		s, release, err := newScheduler(asked, sampling{percent: limits.Percent, minimum: limits.Minimum, workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		want, err := kubernetesAnswer(context.Background(), s, limits.Offset)
		release()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, libraryAnswer(r)); diff != "" {
			t.Errorf("seed %d, %+v (-kube-scheduler +library):\n%s", seed, limits, diff)
		}
	}
	if fewer < int(clusters)/10 {
		t.Errorf("only %d of %d searches were cut short: too few to mean anything", fewer, clusters)
	}
}

// TestGangAgreement asks both for a gang. kube-scheduler places members by its
// scores, and by chance among equal ones, so one question may have several answers:
// the library's victims must be those of one of its runs.
func TestGangAgreement(t *testing.T) {
	profiles := map[string]gen.Profile{
		"resources": {},
		"budgets":   {Budgets: true},
		"groups":    {Groups: true},
		"placement": {Placement: true, Ports: true},
	}
	clusters := uint64(200)
	if testing.Short() {
		clusters = 20
	}
	for name, profile := range profiles {
		t.Run(name, func(t *testing.T) {
			verdicts := map[preemption.Verdict]int{}
			for seed := range clusters {
				q := gangQuestion(seed, profile)
				r, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(q.Preemptor, &q.Snapshot)
				if err != nil {
					t.Fatal(err)
				}
				verdicts[r.Verdict]++
				got := victimNames(r)
				runs := gangRuns(t, q, 20, got)
				if last := runs[len(runs)-1]; !slices.Equal(last, got) {
					t.Errorf("seed %d: the library evicts %v; kube-scheduler, in %d runs, %v", seed, got, len(runs), runs)
				}
			}
			t.Log(verdicts)
			if verdicts[preemption.Feasible] < int(clusters)/5 {
				t.Errorf("only %d of %d questions had victims: too few to mean anything", verdicts[preemption.Feasible], clusters)
			}
		})
	}
}

// gangQuestion is a small cluster, and a gang of one to four pods like the single
// preemptor of the generator.
func gangQuestion(seed uint64, p gen.Profile) gen.Question {
	q := gen.Random(seed, p)
	snap := &q.Snapshot
	snap.CompositePodGroups = nil // v1.36 has none
	for i := range snap.PodGroups {
		snap.PodGroups[i].Parent = ""
	}
	var like cluster.Pod
	if len(q.Preemptor.Pods) == 1 {
		like = q.Preemptor.Pods[0]
	} else {
		last := len(snap.Pods) - 1
		like, snap.Pods = snap.Pods[last], snap.Pods[:last]
	}
	like.Namespace, like.Group, like.Policy, like.NominatedNode, like.RequiredNode = "default", "gang", "", "", ""
	members := 1 + seed%4
	snap.PodGroups = append(snap.PodGroups, cluster.PodGroup{
		Namespace: "default", Name: "gang", Priority: like.Priority, MinCount: new(int32(1 + seed/4%members)),
	})
	for i := range members {
		like.Name = fmt.Sprintf("gang-%d", i)
		snap.Pods = append(snap.Pods, like)
	}
	q.Preemptor = preemption.Preemptor{Kind: cluster.KindPodGroup, Namespace: "default", Name: "gang"}
	untie(&q)
	return q
}

// gangRuns runs kube-scheduler's cycle until it evicts those victims, at most that
// many times, and returns the victims of each run.
func gangRuns(t *testing.T, q gen.Question, most int, until []string) [][]string {
	t.Helper()
	runs, err := gangVictims(context.Background(), q.Preemptor, &q.Snapshot, most, until)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// untie gives every pod a start time of its own, and a UID. It also takes away host
// ports that another pod of the node holds: such pods cannot both run, and
// kube-scheduler, which keeps ports as a set, frees the port when one of them leaves.
func untie(q *gen.Question) {
	type held struct {
		node, ip, protocol string
		port               int32
	}
	taken := map[held]bool{}
	for i := range q.Snapshot.Pods {
		p := &q.Snapshot.Pods[i]
		if p.Started.IsZero() {
			p.Started = q.Snapshot.Time
		}
		p.Started = p.Started.Add(time.Duration(i) * time.Millisecond)
		p.UID = fmt.Sprintf("uid-%d", i)
		p.Ports = slices.DeleteFunc(p.Ports, func(port cluster.HostPort) bool {
			h := held{p.Node, or(port.IP, "0.0.0.0"), or(port.Protocol, "TCP"), port.Port}
			again := p.Node != "" && taken[h]
			taken[h] = true
			return again
		})
	}
}

// ask puts q to kube-scheduler and to the library.
func ask(t *testing.T, q gen.Question) (kube, library answer) {
	t.Helper()
	r, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	library = libraryAnswer(r)
	best, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if best.Domain != r.Domain || !slices.Equal(victimNames(best), victimNames(r)) {
		t.Errorf("asked for the best alone, the library evicts %v on %s; for all, %v on %s", victimNames(best), best.Domain, victimNames(r), r.Domain)
	}

	asked, err := newQuestion(q.Preemptor, &q.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	s, release, err := newScheduler(asked, exhaustive)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if kube, err = kubernetesAnswer(context.Background(), s, 0); err != nil {
		t.Fatal(err)
	}
	if len(s.fits) > 0 {
		if !slices.Contains(s.fits, r.Domain) {
			t.Errorf("the library says that it fits on %s; kube-scheduler, on one of %v", r.Domain, s.fits)
		}
		return kube, library // PostFilter is not called
	}
	node, _, err := s.postFilter(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(kube.Best) > 0 && !slices.Contains(kube.Best, node) {
		t.Errorf("kube-scheduler picked %s, which is not one of %v", node, kube.Best)
	}
	cleared := s.cleared()
	if node == r.Domain && r.Verdict == preemption.Feasible {
		want := []string(nil)
		for _, p := range r.Cleared {
			want = append(want, p.Namespace+"/"+p.Name)
		}
		slices.Sort(want)
		if diff := cmp.Diff(cleared, want); diff != "" {
			t.Errorf("nominations withdrawn (-kube-scheduler +library):\n%s", diff)
		}
	}
	return kube, library
}
