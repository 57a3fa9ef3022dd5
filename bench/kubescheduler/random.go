package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preempt-go/preempt/internal/gen"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// kind is a kind of small random clusters about which both sides are asked.
type kind struct {
	name             string
	profile          gen.Profile
	related, sampled bool // pods have terms about each other; both sides look at some nodes only
	gang             bool // a gang asks
}

var kinds = []kind{
	{name: "resources"},
	{name: "budgets", profile: gen.Profile{Budgets: true}},
	{name: "placement", profile: gen.Profile{Placement: true, Ports: true}},
	{name: "nominated", profile: gen.Profile{Nominations: true, Terminating: true}},
	{name: "everything", profile: gen.Profile{Placement: true, Ports: true, Budgets: true, Nominations: true, Terminating: true}},
	{name: "related", related: true},
	{name: "related-placed", related: true, profile: gen.Profile{Placement: true, Budgets: true, Nominations: true, Terminating: true}},
	{name: "related-larger", related: true, profile: gen.Profile{MaxNodes: 10, MaxPods: 40, Budgets: true}},
	{name: "larger", profile: gen.Profile{MaxNodes: 12, MaxPods: 80, Placement: true, Budgets: true, Nominations: true}},
	{name: "sampled", sampled: true, profile: gen.Profile{MaxNodes: 12, MaxPods: 60, Budgets: true, Placement: true}},
	{name: "gang-resources", gang: true},
	{name: "gang-budgets", gang: true, profile: gen.Profile{Budgets: true}},
	{name: "gang-groups", gang: true, profile: gen.Profile{Groups: true}},
	{name: "gang-placement", gang: true, profile: gen.Profile{Placement: true, Ports: true}},
	{name: "gang-nominated", gang: true, profile: gen.Profile{Nominations: true, Terminating: true}},
	{name: "gang-related", gang: true, related: true, profile: gen.Profile{Nominations: true}},
}

// kindOf is the kind of the cluster of a seed.
func kindOf(seed uint64) kind { return kinds[seed%uint64(len(kinds))] }

// random asks both sides about so many clusters, from a seed on, and tells every difference with
// the seed that shows it. Each seed is one cluster of one kind.
func random(ctx context.Context, out io.Writer, clusters int, seed uint64) error {
	verdicts, differ := map[preemption.Verdict]int{}, 0
	for s := seed; s < seed+uint64(clusters); s++ {
		k := kindOf(s)
		verdict, err := k.compare(ctx, s, false)
		if err != nil {
			differ++
			fmt.Fprintf(out, "-random 1 -seed %d (%s): %v\n", s, k.name, err)
		}
		verdicts[verdict]++
	}
	fmt.Fprintf(out, "%d clusters, seeds %d to %d: %v\n", clusters, seed, seed+uint64(clusters)-1, verdicts)
	if differ > 0 {
		return fmt.Errorf("%d of %d answers differ", differ, clusters)
	}
	return nil
}

// compare asks both sides about the cluster of a seed. The error joins what they differ in. Where
// it is strict, that a gang goes elsewhere is a difference.
func (k kind) compare(ctx context.Context, seed uint64, strict bool) (preemption.Verdict, error) {
	switch {
	case k.gang:
		// which of equal members and nodes go together is chance: a hundred runs meet what some can
		q := gangQuestion(seed, k.profile, 1+seed%4)
		if k.related { // a lone one: several are placed anew for each victim, by scores, and where they are in each other's way that may fail
			q = gangQuestion(seed, k.profile, 1)
			relate(seed, &q)
		}
		return compareGang(ctx, q, 100, strict)
	case k.sampled:
		r, err := compareSampled(ctx, k.question(seed), samplingOf(seed))
		if r == nil {
			return "", err
		}
		return r.Verdict, err
	}
	return compareAll(ctx, k.question(seed))
}

// samplingOf is how far both sides look about a sampled cluster.
func samplingOf(seed uint64) preemption.Sampling {
	return preemption.Sampling{Percent: int32(seed % 50), Minimum: int32(1 + seed%3), Offset: int32(seed % 17)}
}

// question is the cluster of a seed and the pod that asks.
func (k kind) question(seed uint64) gen.Question {
	q := gen.Random(seed, k.profile)
	untie(&q)
	if k.related {
		relate(seed, &q)
	}
	return q
}

// compareAll compares every candidate with its victims and violations, and the nodes that tie for
// the best. What kube-scheduler picks by chance must be one of these.
func compareAll(ctx context.Context, q gen.Question) (preemption.Verdict, error) {
	r, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true}.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return "", err
	}
	best, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return "", err
	}
	var differs []error
	if best.Domain != r.Domain || !slices.Equal(victimNames(best), victimNames(r)) {
		differs = append(differs, fmt.Errorf("asked for the best alone, the library evicts %v on %s; for all, %v on %s", victimNames(best), best.Domain, victimNames(r), r.Domain))
	}
	asked, err := newQuestion(q.Preemptor, &q.Snapshot)
	if err != nil {
		return "", err
	}
	s, release, err := newScheduler(asked, exhaustive)
	if err != nil {
		return "", err
	}
	defer release()
	kube, err := kubernetesAnswer(ctx, s, 0)
	if err != nil {
		return "", err
	}
	if diff := cmp.Diff(kube, libraryAnswer(r)); diff != "" {
		differs = append(differs, fmt.Errorf("(-kube-scheduler +library):\n%s", diff))
	}
	if len(s.fits) > 0 { // PostFilter is not called
		if !slices.Contains(s.fits, r.Domain) {
			differs = append(differs, fmt.Errorf("the library says that it fits on %s; kube-scheduler, on one of %v", r.Domain, s.fits))
		}
		return kube.Verdict, errors.Join(differs...)
	}
	node, _, err := s.postFilter(ctx)
	if err != nil {
		return "", err
	}
	if len(kube.Best) > 0 && !slices.Contains(kube.Best, node) {
		differs = append(differs, fmt.Errorf("kube-scheduler picked %s, which is not one of %v", node, kube.Best))
	}
	if cleared := s.cleared(); node == r.Domain && r.Verdict == preemption.Feasible {
		want := []string(nil)
		for _, p := range r.Cleared {
			want = append(want, p.Namespace+"/"+p.Name)
		}
		slices.Sort(want)
		if diff := cmp.Diff(cleared, want); diff != "" {
			differs = append(differs, fmt.Errorf("nominations withdrawn (-kube-scheduler +library):\n%s", diff))
		}
	}
	return kube.Verdict, errors.Join(differs...)
}

// compareSampled limits the search on both sides, with one worker, as that leaves nothing to
// chance: the same candidates must be found.
func compareSampled(ctx context.Context, q gen.Question, limits preemption.Sampling) (*preemption.Result, error) {
	r, err := preemption.Options{Rules: preemption.Kubernetes136, Candidates: true, Sampling: &limits}.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return nil, err
	}
	asked, err := newQuestion(q.Preemptor, &q.Snapshot)
	if err != nil {
		return nil, err
	}
	s, release, err := newScheduler(asked, sampling{percent: limits.Percent, minimum: limits.Minimum, workers: 1})
	if err != nil {
		return nil, err
	}
	defer release()
	want, err := kubernetesAnswer(ctx, s, limits.Offset)
	if err != nil {
		return nil, err
	}
	if diff := cmp.Diff(want, libraryAnswer(r)); diff != "" {
		return r, fmt.Errorf("%+v (-kube-scheduler +library):\n%s", limits, diff)
	}
	return r, nil
}

// compareGang asks both for a gang. kube-scheduler places members by its scores, and by chance
// among equal ones, so one question may have several answers: the library's victims must be those
// of one of its runs, of which there are at most so many, or where it is not strict, for its placement those of kube-scheduler.
func compareGang(ctx context.Context, q gen.Question, most int, strict bool) (preemption.Verdict, error) {
	r, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(q.Preemptor, &q.Snapshot)
	if err != nil {
		return "", err
	}
	got := evicted(r, &q.Snapshot)
	runs, err := gangVictims(ctx, q.Preemptor, &q.Snapshot, most, got)
	if err != nil {
		return "", err
	}
	last := runs[len(runs)-1]
	if slices.Equal(last, got) || !strict && evictsSomewhere(q, nil, last) {
		return r.Verdict, nil
	}
	return r.Verdict, fmt.Errorf("the library evicts %v; kube-scheduler, in the last of %d runs, %v", got, len(runs), last)
}

// evicted are the victims who do not leave already: the others kube-scheduler lets alone, so that nothing is heard of them.
func evicted(r *preemption.Result, snap *preemption.Snapshot) []string {
	leaves := map[string]bool{}
	for _, p := range snap.Pods {
		leaves[p.Namespace+"/"+p.Name] = p.Terminating
	}
	return slices.DeleteFunc(victimNames(r), func(name string) bool { return leaves[name] })
}

// evictsSomewhere reports whether the library evicts those victims for some placement of the members: where
// they go is a matter of kube-scheduler's scores, which now and then disrupt more. nodes are those
// of the first members, empty for one that has none.
func evictsSomewhere(q gen.Question, nodes []string, victims []string) bool {
	placement := map[string]string{}
	members := 0
	for _, p := range q.Snapshot.Pods {
		if p.Group != "gang" {
			continue
		}
		if members++; members > len(nodes) {
			continue
		}
		if at := nodes[members-1]; at != "" {
			placement[p.Namespace+"/"+p.Name] = at
		}
	}
	if len(nodes) == members {
		p := q.Preemptor
		p.Placement = placement
		r, err := preemption.Options{Rules: preemption.Kubernetes136}.Preempt(p, &q.Snapshot)
		return err == nil && slices.Equal(evicted(r, &q.Snapshot), victims)
	}
	for _, n := range append(q.Snapshot.Nodes[:len(q.Snapshot.Nodes):len(q.Snapshot.Nodes)], cluster.Node{}) {
		if evictsSomewhere(q, append(nodes[:len(nodes):len(nodes)], n.Name), victims) {
			return true
		}
	}
	return false
}

// gangQuestion is a small cluster, and a gang of so many pods like the single
// preemptor of the generator.
func gangQuestion(seed uint64, p gen.Profile, members uint64) gen.Question {
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
