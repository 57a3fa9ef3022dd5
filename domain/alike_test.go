package domain_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// drawAlike is a trial of equal members, perhaps one a host, one a rack or spread over zones, who may ask for devices, a token
// or a port, beside pods that count or are waited for, on nodes some of which they may not go to or lack a label.
func drawAlike(t *testing.T, r *rand.Rand) *domain.GangTrial {
	snap := &cluster.Snapshot{}
	ours, one := map[string]string{"job": "gang"}, int32(1)
	devices, asked := r.IntN(4) == 0, []cluster.DeviceRequest{{Resource: "gpu", Fraction: 1 + r.Int64N(3)}}
	for i := range 2 + r.IntN(8) {
		n := cluster.Node{
			Name: fmt.Sprint("n", i), Allocatable: cluster.Resources{cluster.CPU: r.Int64N(4)},
			Labels: map[string]string{"host": fmt.Sprint("n", i), "rack": fmt.Sprint(i / 2), "zone": fmt.Sprint(r.IntN(3))},
		}
		if r.IntN(8) == 0 {
			delete(n.Labels, []string{"host", "zone"}[r.IntN(2)])
		}
		if r.IntN(8) == 0 {
			n.Labels["bad"] = "yes"
		}
		if devices {
			n.Devices = map[string]cluster.DevicePool{"gpu": {Count: 1 + r.Int32N(2), Capacity: 4}}
		}
		snap.Nodes = append(snap.Nodes, n)
		p := cluster.Pod{Name: fmt.Sprint("p", i), Priority: &one, Labels: ours}
		if devices && r.IntN(2) == 0 {
			p.Devices = asked
		}
		switch r.IntN(16) {
		case 0, 1:
			p.Node = n.Name
		case 2:
			p.NominatedNode = n.Name
		default:
			continue
		}
		snap.Pods = append(snap.Pods, p)
	}
	ix, err := cluster.NewIndex(snap)
	require.NoError(t, err)
	pod := cluster.Pod{Labels: ours, Requests: cluster.Resources{cluster.CPU: 1}}
	selector := &disruption.Selector{MatchLabels: [...]map[string]string{ours, ours, ours, {"job": "none"}, nil}[r.IntN(5)]}
	for _, key := range []string{"host", "host", "rack"}[r.IntN(3):] {
		if r.IntN(3) == 0 {
			pod.AntiAffinity = append(pod.AntiAffinity, cluster.AffinityTerm{TopologyKey: key, Selector: selector})
		}
	}
	for _, key := range []string{"zone", "zone", "rack"}[r.IntN(4)%3:] {
		if r.IntN(2) == 0 {
			pod.Spread = append(pod.Spread, cluster.Spread{
				TopologyKey: key, Selector: selector, MaxSkew: 1 + r.Int32N(2), MinDomains: r.Int32N(5),
				NodeAffinityPolicy: []cluster.NodePolicy{cluster.Honor, cluster.Ignore}[r.IntN(2)],
			})
		}
	}
	switch r.IntN(16) {
	case 0:
		pod.Affinity = []cluster.AffinityTerm{{TopologyKey: "zone", Selector: selector}}
	case 1:
		pod.Tokens = []string{"volume"}
	case 2:
		pod.Ports = []cluster.HostPort{{Port: 80}}
	}
	if devices {
		pod.Devices = asked
	}
	if r.IntN(3) == 0 {
		pod.NodeAffinity = &cluster.NodeAffinity{Terms: []cluster.NodeTerm{{
			Labels: []cluster.NodeRequirement{{Key: "bad", Operator: cluster.NodeDoesNotExist}},
		}}}
	}
	var pods []*cluster.Pod
	var members []*domain.Member
	for range 1 + r.IntN(12) {
		p := pod
		pods, members = append(pods, &p), append(members, domain.NewMember(ix, &p, cluster.NoPod))
	}
	if r.IntN(8) == 0 {
		pods[0].Labels = nil
	}
	var states []domain.State
	spread := []domain.Constraint{domain.TopologySpreadAnew(), domain.TopologySpread()}[r.IntN(2)]
	for _, c := range []domain.Constraint{domain.ExclusiveTokens(), domain.Devices(), spread, domain.InterPodAffinity()} {
		state, err := c.Prepare(ix, pods)
		require.NoError(t, err)
		if state != nil {
			states = append(states, state)
		}
	}
	return domain.NewGangTrial(ix, members, states, func(cluster.PodID) bool { return true })
}

// TestPlacersAgreeHowManyFindAPlace: where placers agree, as many members find a place whoever chooses the node of each;
// elsewhere they may not. They are no more than what bounds them.
func TestPlacersAgreeHowManyFindAPlace(t *testing.T) {
	agree, spread, differ, bounded := 0, 0, 0, 0
	nodes := []cluster.NodeID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 9))
		trial := drawAlike(t, r)
		least, most := trial.Members(), 0
		for range 6 {
			trial.UnplaceTo(0)
			for placeAny(trial, r) {
			}
			least, most = min(least, len(trial.Placed())), max(most, len(trial.Placed()))
		}
		switch {
		case !trial.PlacersAgree():
			if least < most {
				differ++
			}
		default:
			require.Equal(t, most, least, "seed %d", seed)
			trial.UnplaceTo(0)
			over := trial.SpreadOver(nodes[:trial.Index().NumNodes()], int64(trial.Members()))
			if require.LessOrEqual(t, int64(most), over, "seed %d", seed); over < int64(trial.Members()) {
				bounded++
			}
			if agree++; trial.CrossNode() && most > 1 && most < trial.Members() {
				spread++
			}
		}
	}
	require.Greater(t, agree, 1000)
	require.Greater(t, spread, 100)
	require.Greater(t, differ, 100)
	require.Greater(t, bounded, 100)
}

// placeAny places some member on some node that takes it, and reports whether there was one.
func placeAny(trial *domain.GangTrial, r *rand.Rand) bool {
	members, nodes := r.Perm(trial.Members()), r.Perm(trial.Index().NumNodes())
	for _, m := range members {
		for _, n := range nodes {
			if m, n := domain.MemberID(m), cluster.NodeID(n); trial.At(m) == cluster.NoNode && trial.CanPlace(m, n).OK() {
				trial.Place(m, n)
				return true
			}
		}
	}
	return false
}
