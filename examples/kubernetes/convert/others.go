package convert

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// The API groups of other schedulers whose pod groups are read.
const (
	coscheduling    = "scheduling.x-k8s.io"
	oldCoscheduling = "scheduling.sigs.k8s.io"
	volcano         = "scheduling.volcano.sh"
	kai             = "scheduling.run.ai"
)

// volcanoPreemptable is the annotation or label of a pod that Volcano evicts, or doesn't.
const volcanoPreemptable = "volcano.sh/preemptable"

// lowestKept is the priority from which on KAI evicts nobody who doesn't say otherwise.
const lowestKept = 100

// memberKeys are the keys by which pods name their group, of each API group, the first that is
// there counts.
var memberKeys = map[string][]string{
	coscheduling:    {coscheduling + "/pod-group"},
	oldCoscheduling: {"pod-group." + oldCoscheduling},
	volcano:         {"scheduling.k8s.io/group-name", volcano + "/group-name"},
	kai:             {"pod-group-name"},
}

// memberOf is the group that a pod names under an API group: coscheduling reads labels, the others
// annotations.
func memberOf(p *cluster.Pod, group string) string {
	from := p.Annotations
	if group == coscheduling || group == oldCoscheduling {
		from = p.Labels
	}
	for _, key := range memberKeys[group] {
		if name := from[key]; name != "" {
			return name
		}
	}
	return ""
}

// otherGroup is a PodGroup of coscheduling, Volcano or KAI.
type otherGroup struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		MinMember         int32  `json:"minMember"`
		Queue             string `json:"queue"`             // of Volcano and KAI
		PriorityClassName string `json:"priorityClassName"` // likewise

		// Of Volcano.
		MinTaskMember   map[string]int32 `json:"minTaskMember"`
		NetworkTopology *struct {
			Mode string `json:"mode"`
		} `json:"networkTopology"`
		SubGroupPolicy []struct{} `json:"subGroupPolicy"`

		// Of KAI.
		Preemptibility     string `json:"preemptibility"`
		TopologyConstraint struct {
			Preferred string `json:"preferredTopologyLevel"`
			Required  string `json:"requiredTopologyLevel"`
		} `json:"topologyConstraint"`
		SubGroups []struct{} `json:"subGroups"`
	} `json:"spec"`
}

// other is a pod group of another scheduler that was read.
type other struct {
	of      int // position in the snapshot
	queue   string
	pods    []int // positions in the snapshot
	kept    bool  // nobody of it is evicted
	byClass bool  // so it is if its priority says so
}

// otherKey names a pod group of another scheduler.
type otherKey struct{ group, namespace, name string }

// addOther makes a reader of the pod groups of another scheduler.
func addOther(group string) func(*builder, *Object) error {
	return func(b *builder, o *Object) error {
		var g otherGroup
		if err := decode(o, &g); err != nil {
			return err
		}
		f := groupFields(cluster.KindPodGroup, &g.ObjectMeta)
		out := cluster.PodGroup{
			Namespace: namespaceOf(&g.ObjectMeta), Name: g.Name, UID: string(g.UID), Labels: g.Labels,
			Class: g.Spec.PriorityClassName, Mode: disruption.SurplusFirst,
		}
		switch n := g.Spec.MinMember; {
		case n < 0:
			f.bad("spec.minMember", strconv.Itoa(int(n)), "at least 0")
		case n > 0:
			out.MinCount = &n
		default:
			out.Basic, out.Mode = true, ""
		}
		if group == coscheduling || group == oldCoscheduling {
			out.Mode = ""
		}
		read := &other{queue: g.Spec.Queue}
		switch group {
		case volcano:
			if read.queue == "" {
				read.queue = "default"
			}
			b.notRead(o, "spec.minTaskMember", len(g.Spec.MinTaskMember) > 0)
			b.notRead(o, "spec.networkTopology", g.Spec.NetworkTopology != nil)
			b.notRead(o, "spec.subGroupPolicy", len(g.Spec.SubGroupPolicy) > 0)
		case kai:
			switch g.Spec.Preemptibility {
			case "":
				read.byClass = true
			case "non-preemptible":
				read.kept = true
			case "preemptible":
			default:
				f.bad("spec.preemptibility", quote(g.Spec.Preemptibility), "preemptible or non-preemptible")
			}
			if level := g.Spec.TopologyConstraint.Required; level != "" {
				out.Topology = append(out.Topology, cluster.TopologyConstraint{Key: level})
			}
			if level := g.Spec.TopologyConstraint.Preferred; level != "" {
				out.Topology = append(out.Topology, cluster.TopologyConstraint{Key: level, Preferred: true})
			}
			b.notRead(o, "spec.subGroups", len(g.Spec.SubGroups) > 0)
		}
		if err := f.err(); err != nil {
			return err
		}
		if err := b.claim(o, cluster.KindPodGroup, out.Namespace, out.Name); err != nil {
			return err
		}
		groups := &b.dump.Snapshot.PodGroups
		read.of = len(*groups)
		*groups = append(*groups, out)
		b.others[otherKey{group, out.Namespace, out.Name}] = read
		return nil
	}
}

// notRead counts an object of which a field is set that may decide but is not read.
func (b *builder) notRead(o *Object, field string, set bool) {
	if set {
		b.dump.NotRead[field+" of "+kindAndGroup(o)]++
	}
}

// otherSystems are the API groups of the other schedulers, in the order in which pods are asked
// whose they are.
var otherSystems = []string{coscheduling, oldCoscheduling, volcano, kai}

// resolveOthers makes pods members of the groups of other schedulers, and says of both whom these
// would not evict.
func (b *builder) resolveOthers() {
	s := &b.dump.Snapshot
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Group != "" || len(p.Annotations)+len(p.Labels) == 0 {
			continue
		}
		for _, group := range otherSystems {
			name := memberOf(p, group)
			if name == "" {
				continue
			}
			if g := b.others[otherKey{group, p.Namespace, name}]; g != nil {
				p.Group = name
				g.pods = append(g.pods, i)
				b.fractions(p, group)
				break
			}
			b.dump.Unread[unreadGroup(group)]++
		}
		keepAsVolcano(p)
	}
	// What is wrong with the classes themselves is for the library to say.
	classes, _ := priority.NewClasses(s.PriorityClasses)
	of := func(class string, value *int32) int32 {
		e, _ := classes.Resolve(priority.Spec{Class: class, Priority: value})
		return e.Priority
	}
	for key, g := range b.others {
		group := &s.PodGroups[g.of]
		if key.group == coscheduling || key.group == oldCoscheduling {
			for k, i := range g.pods { // its priority is that of its pods
				p := &s.Pods[i]
				if level := of(p.Class, p.Priority); k == 0 || level < *group.Priority {
					group.Priority = &level
				}
			}
		}
		if g.kept || g.byClass && of(group.Class, group.Priority) >= lowestKept {
			group.Guard = &cluster.Guard{Standby: true}
		}
	}
}

// unreadGroup is what is unread of a pod that names a group of another scheduler, unless the
// input has it.
func unreadGroup(group string) string {
	return "the pod group of " + group + ", which is not in the input,"
}

// keepAsVolcano keeps a pod that Volcano is told not to evict.
func keepAsVolcano(p *cluster.Pod) {
	text, ok := p.Annotations[volcanoPreemptable]
	if !ok {
		text, ok = p.Labels[volcanoPreemptable], p.Labels[volcanoPreemptable] != ""
	}
	if may, err := strconv.ParseBool(text); ok && (err != nil || !may) { // so does Volcano
		p.Guard = &cluster.Guard{Standby: true}
	}
}

// Join makes a pod a member of the pod group of another scheduler that its labels or annotations
// name, if has says that there is one of that name in its namespace, and keeps it if it says
// that it is not to be evicted. [Options.Dump] does so for the pods of its input: Join is for pods
// that are made of templates, or come to a cluster that was read before. It reports whether p
// is a member by that.
func Join(p *cluster.Pod, has func(namespace, name string) bool) bool {
	if p.Group != "" {
		return false
	}
	keepAsVolcano(p)
	for _, group := range otherSystems {
		if name := memberOf(p, group); name != "" && has(p.Namespace, name) {
			p.Group = name
			return true
		}
	}
	return false
}

// JoinPods is [Join] for the pods of d, which come to a cluster that has other groups: those that
// are found there are not counted as unread any more.
func (d *Dump) JoinPods(has func(namespace, name string) bool) {
	for i := range d.Snapshot.Pods {
		p := &d.Snapshot.Pods[i]
		if !Join(p, has) {
			continue
		}
		at := slices.IndexFunc(otherSystems, func(group string) bool { return memberOf(p, group) == p.Group })
		for _, group := range otherSystems[at:] {
			if memberOf(p, group) == "" {
				continue
			}
			key := unreadGroup(group)
			if d.Unread[key]--; d.Unread[key] == 0 {
				delete(d.Unread, key)
			}
		}
	}
}

// fractions counts pods of KAI that ask for a part of a device.
func (b *builder) fractions(p *cluster.Pod, group string) {
	if group != kai {
		return
	}
	for _, key := range []string{"gpu-fraction", "gpu-memory"} {
		if p.Annotations[key] != "" {
			b.dump.Unread["metadata.annotations["+key+"]"]++
		}
	}
}
