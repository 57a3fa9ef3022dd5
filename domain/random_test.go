package domain_test

import (
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// world is a small cluster and the pods that want to run in it, full of what the
// constraints look at.
type world struct {
	snapshot cluster.Snapshot
	members  []cluster.Pod
}

// features choose what the pods of a world have.
type features struct {
	affinity, spread, tokens, devices bool
	terminating                       bool // and selectors that are empty
	unnominated                       bool // nobody is nominated
	maxMembers                        int
}

const (
	hostKey = "kubernetes.io/hostname"
	zoneKey = "topology.kubernetes.io/zone"
	gpu     = "example.com/gpu"
)

func drawWorld(t *rapid.T, f features) *world {
	d := drawer{t, f}
	w := &world{}
	w.snapshot.Namespaces = []cluster.Namespace{
		{Name: "a", Labels: map[string]string{"team": "x"}}, {Name: "b", Labels: map[string]string{"team": "y"}},
	}
	for i := range 1 + d.n(5) {
		w.snapshot.Nodes = append(w.snapshot.Nodes, d.node(i))
	}
	for i := range d.n(14) {
		p := d.pod(fmt.Sprintf("p%d", i))
		p.Node = w.snapshot.Nodes[d.n(len(w.snapshot.Nodes))].Name
		if f.devices {
			d.assign(&p)
		}
		w.snapshot.Pods = append(w.snapshot.Pods, p)
	}
	nominees := d.n(3)
	if f.unnominated {
		nominees = 0
	}
	for i := range nominees {
		p := d.pod(fmt.Sprintf("nominee%d", i))
		p.NominatedNode = w.snapshot.Nodes[d.n(len(w.snapshot.Nodes))].Name
		w.snapshot.Pods = append(w.snapshot.Pods, p)
	}
	for i := range 1 + d.n(max(f.maxMembers, 1)) {
		p := d.pod(fmt.Sprintf("m%d", i))
		p.Terminating = false
		if d.chance(30) {
			w.snapshot.Pods = append(w.snapshot.Pods, p)
		}
		w.members = append(w.members, p)
	}
	return w
}

type drawer struct {
	t *rapid.T
	f features
}

func (d drawer) n(n int) int             { return rapid.IntRange(0, n-1).Draw(d.t, "n") }
func (d drawer) chance(percent int) bool { return d.n(100) < percent }

func pick[T any](d drawer, choices ...T) T { return choices[d.n(len(choices))] }

func (d drawer) node(i int) cluster.Node {
	n := cluster.Node{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{}}
	if d.chance(95) {
		n.Labels[hostKey] = n.Name
	}
	if d.chance(90) {
		n.Labels[zoneKey] = pick(d, "z0", "z1", "z2", "")
	}
	if d.chance(30) {
		n.Labels["disk"] = pick(d, "ssd", "hdd")
	}
	if d.chance(15) {
		n.Taints = []cluster.Taint{{Key: "dedicated", Value: "ml", Effect: pick(d, cluster.NoSchedule, cluster.NoExecute, cluster.PreferNoSchedule)}}
	}
	if d.f.devices && d.chance(90) {
		n.Devices = map[string]cluster.DevicePool{gpu: {Count: int32(d.n(4)), Capacity: pick(d, int64(10), 10, 10, 5)}}
	}
	return n
}

func (d drawer) pod(name string) cluster.Pod {
	p := cluster.Pod{Namespace: pick(d, "a", "a", "a", "b", "unknown"), Name: name, Labels: d.labels()}
	if d.f.affinity {
		for range d.n(3) {
			p.AntiAffinity = append(p.AntiAffinity, d.term())
		}
		for range d.n(4) - 1 {
			p.Affinity = append(p.Affinity, d.term())
		}
	}
	if d.f.spread {
		for range d.n(3) {
			p.Spread = append(p.Spread, d.spread())
		}
		p.Terminating = d.f.terminating && d.chance(30)
		if d.chance(15) {
			p.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if d.chance(30) {
			p.Tolerations = []cluster.Toleration{{Key: "dedicated", Operator: cluster.TolerationExists}}
		}
	}
	if d.f.tokens {
		for _, token := range []string{"a/claim", "b/claim", "licence"} {
			if d.chance(25) {
				p.Tokens = append(p.Tokens, token)
			}
		}
	}
	if d.f.devices {
		for range 1 + d.n(2) {
			if d.chance(70) {
				p.Devices = append(p.Devices, d.request())
			}
		}
	}
	return p
}

func (d drawer) labels() map[string]string {
	labels := map[string]string{}
	if d.chance(80) {
		labels["app"] = pick(d, "web", "db")
	}
	if d.chance(30) {
		labels["version"] = pick(d, "1", "2")
	}
	if d.chance(20) {
		labels["index"] = fmt.Sprint(d.n(9))
	}
	return labels
}

func (d drawer) selector() *disruption.Selector {
	switch d.n(8) {
	case 0:
		return nil
	case 1:
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "version", Operator: disruption.DoesNotExist}}}
	case 2:
		return &disruption.Selector{MatchExpressions: []disruption.Requirement{
			{Key: "app", Operator: disruption.In, Values: []string{"web", "db"}},
		}}
	case 3:
		if !d.f.spread || d.f.terminating {
			return &disruption.Selector{}
		}
	}
	return &disruption.Selector{MatchLabels: map[string]string{"app": pick(d, "web", "db")}}
}

func (d drawer) term() cluster.AffinityTerm {
	t := cluster.AffinityTerm{Selector: d.selector(), TopologyKey: pick(d, hostKey, zoneKey, zoneKey, "disk")}
	switch d.n(7) {
	case 0:
		t.Namespaces = pick(d, []string{"a", "b"}, []string{"b"}, []string{"unknown", "a"})
	case 1:
		t.NamespaceSelector = &disruption.Selector{}
	case 2:
		t.NamespaceSelector = &disruption.Selector{MatchExpressions: []disruption.Requirement{
			{Key: "team", Operator: disruption.NotIn, Values: []string{"x"}},
		}}
	case 3:
		t.NamespaceSelector = &disruption.Selector{MatchLabels: map[string]string{"team": "y"}}
		if d.chance(50) {
			t.Namespaces = []string{"unknown"}
		}
	}
	if t.Selector != nil && d.chance(15) {
		t.MatchLabelKeys = []string{"version"}
	} else if t.Selector != nil && d.chance(15) {
		t.MismatchLabelKeys = []string{"version"}
	}
	return t
}

func (d drawer) spread() cluster.Spread {
	s := cluster.Spread{
		MaxSkew: pick(d, 1, 2, 3, int32(math.MaxInt32)), Selector: d.selector(),
		TopologyKey:        pick(d, hostKey, zoneKey, zoneKey),
		MinDomains:         int32(d.n(4)),
		NodeAffinityPolicy: pick(d, "", cluster.Honor, cluster.Ignore),
		NodeTaintsPolicy:   pick(d, "", cluster.Honor, cluster.Ignore),
	}
	if s.Selector != nil && d.chance(20) {
		s.MatchLabelKeys = []string{"version"}
	}
	return s
}

func (d drawer) request() cluster.DeviceRequest {
	r := cluster.DeviceRequest{Resource: pick(d, gpu, gpu, gpu, gpu, "example.com/fpga")}
	if d.chance(40) {
		r.Count = int32(1 + d.n(2))
	} else {
		r.Fraction = pick(d, int64(1), 3, 5, 5, 5, 7, 10)
	}
	return r
}

// assign tells of some requests which devices they hold, now and then some that
// others hold too, or that are not there.
func (d drawer) assign(p *cluster.Pod) {
	for i := range p.Devices {
		r := &p.Devices[i]
		if d.chance(50) {
			first := int32(d.n(3))
			for j := range max(r.Count, 1) {
				r.Assigned = append(r.Assigned, first+j)
			}
		}
	}
	slices.Reverse(p.Devices)
}
