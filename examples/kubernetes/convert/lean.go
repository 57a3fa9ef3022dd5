package convert

import (
	"bytes"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
)

// The fields of pods that are read, by slot.
const (
	podVersion = iota
	podKind
	podName
	podNamespace
	podUID
	podLabels
	podAnnotations
	podCreated
	podDeleted
	podOwners
	podNode
	podPriority
	podClass
	podPolicy
	podGroup
	podTolerations
	podSelector
	podAffinities
	podSpread
	podContainers
	podInit
	podOverhead
	podResources
	podHostNetwork
	podVolumes
	podClaims
	podGates
	podDeadline
	podPhase
	podNominated
	podStarted
	podConditions
	podStatuses
	podInitStatuses
	podHas
	podAllotted
)

var podPaths = []string{
	podVersion: "apiVersion", podKind: "kind",
	podName: "metadata.name", podNamespace: "metadata.namespace", podUID: "metadata.uid",
	podLabels: "metadata.labels", podAnnotations: "metadata.annotations",
	podCreated: "metadata.creationTimestamp", podDeleted: "metadata.deletionTimestamp", podOwners: "metadata.ownerReferences",
	podNode: "spec.nodeName", podPriority: "spec.priority", podClass: "spec.priorityClassName", podPolicy: "spec.preemptionPolicy",
	podGroup: "spec.schedulingGroup", podTolerations: "spec.tolerations", podSelector: "spec.nodeSelector",
	podAffinities: "spec.affinity", podSpread: "spec.topologySpreadConstraints",
	podContainers: "spec.containers", podInit: "spec.initContainers", podOverhead: "spec.overhead", podResources: "spec.resources",
	podHostNetwork: "spec.hostNetwork", podVolumes: "spec.volumes", podClaims: "spec.resourceClaims", podGates: "spec.schedulingGates",
	podDeadline: "spec.activeDeadlineSeconds",
	podPhase:    "status.phase", podNominated: "status.nominatedNodeName", podStarted: "status.startTime",
	podConditions: "status.conditions", podStatuses: "status.containerStatuses", podInitStatuses: "status.initContainerStatuses",
	podHas: "status.resources", podAllotted: "status.allocatedResources",
}

// The fields of nodes that are read, by slot.
const (
	nodeVersion = iota
	nodeKind
	nodeName
	nodeLabels
	nodeAnnotations
	nodeCreated
	nodeTaints
	nodeCordon
	nodeAllocatable
	nodeCapacity
	nodeConditions
)

var nodePaths = []string{
	nodeVersion: "apiVersion", nodeKind: "kind",
	nodeName: "metadata.name", nodeLabels: "metadata.labels", nodeAnnotations: "metadata.annotations", nodeCreated: "metadata.creationTimestamp",
	nodeTaints: "spec.taints", nodeCordon: "spec.unschedulable",
	nodeAllocatable: "status.allocatable", nodeCapacity: "status.capacity", nodeConditions: "status.conditions",
}

var (
	podShape  = sync.OnceValue(func() *shape { return objectShape[corev1.Pod](podPaths) })
	nodeShape = sync.OnceValue(func() *shape { return objectShape[corev1.Node](nodePaths) })
)

// objectShape is shapeOf without what only a list has.
func objectShape[T any](paths []string) *shape {
	s := shapeOf[T](paths)
	s.fields["items"] = &field{shape: &shape{}, bit: 1 << 63, slot: -1}
	s.fields["metadata"].shape.fields["continue"] = &field{shape: &shape{}, bit: 1 << 63, slot: -1}
	return s
}

// lean reads pods and nodes straight from their text: what is not read is checked
// and passed over, what many pods share is read once. It reads nothing that the
// decoder of Kubernetes would refuse or read in another way, and leaves the rest,
// which is rare, to that.
type lean struct {
	checker
	names       parts[string]
	maps        parts[map[string]string]
	lists       parts[corev1.ResourceList]
	owners      parts[*cluster.Owner]
	priorities  parts[*int32]
	groups      parts[string]
	tolerations parts[[]cluster.Toleration]
	affinities  parts[affinities]
	spreads     parts[[]cluster.Spread]
	needs       parts[needs]
	conditions  []corev1.PodCondition
	key         []byte
	scratch     corev1.Pod
	started     metav1.Time
	deleted     metav1.Time
}

type affinities struct {
	node           *cluster.NodeAffinity
	affinity, anti []cluster.AffinityTerm
}

// needs is what containers ask of a node.
type needs struct {
	requests cluster.Resources
	ports    []cluster.HostPort
}

func newLean() *lean {
	return &lean{checker: checker{spans: make([][]byte, len(podPaths))}}
}

// headOf finds the version and the kind of text, an object in which they stand first.
func headOf(text []byte) (version, kind string) {
	c := cursor{text: text}
	c.take('{')
	for range 2 {
		key := string(c.key())
		if key != "apiVersion" && key != "kind" {
			break
		}
		value := string(c.plain())
		if key == "kind" {
			kind = value
		} else {
			version = value
		}
		c.take(',')
	}
	if c.bad {
		return "", ""
	}
	return version, kind
}

// pod reads a pod into r. It reports false if that is for others to do.
func (l *lean) pod(text []byte, r *podRead) bool {
	if !utf8.Valid(text) || !l.fits(podShape(), text) || l.spans[podName] == nil || !l.is("Pod", podVersion, podKind) {
		return false
	}
	s := l.spans
	pod := &l.scratch
	*pod = corev1.Pod{}
	pod.Namespace, pod.Name = l.name(podNamespace), l.text(podName)
	l.bad = l.bad || pod.Name == ""
	pod.Spec.NodeName = l.name(podNode)
	pod.CreationTimestamp = l.time(s[podCreated])
	if s[podDeleted] != nil {
		l.deleted = l.time(s[podDeleted])
		pod.DeletionTimestamp = &l.deleted
	}
	pod.Annotations = l.dictionary(podAnnotations)
	if s[podDeadline] != nil {
		l.read(s[podDeadline], &pod.Spec.ActiveDeadlineSeconds)
	}
	pod.Status.Phase = corev1.PodPhase(l.name(podPhase))
	if s[podStarted] != nil {
		l.started = l.time(s[podStarted])
		pod.Status.StartTime = &l.started
	}
	pod.Status.Conditions = l.podConditions(s[podConditions])
	if filled(s[podClaims]) {
		pod.Spec.ResourceClaims = make([]corev1.PodResourceClaim, 1)
	}
	if filled(s[podGates]) {
		pod.Spec.SchedulingGates = make([]corev1.PodSchedulingGate, 1)
	}
	if v := s[podVolumes]; bytes.Contains(v, []byte(`"persistentVolumeClaim"`)) || bytes.Contains(v, []byte(`"ephemeral"`)) {
		l.read(v, &pod.Spec.Volumes)
	}
	readPod(pod, r)
	l.bad = l.bad || r.endsErr != nil
	out := &r.pod
	*out = cluster.Pod{
		Namespace: namespaceOf(&pod.ObjectMeta), Name: pod.Name, UID: l.text(podUID),
		Labels: l.dictionary(podLabels), Annotations: pod.Annotations,
		Node: pod.Spec.NodeName, NominatedNode: l.name(podNominated),
		NodeSelector: l.dictionary(podSelector),
		Class:        l.name(podClass), Policy: priority.Policy(l.name(podPolicy)),
		Created: pod.CreationTimestamp.UTC(), Scheduled: scheduledAt(pod), Started: startedAt(pod),
		Terminating: pod.DeletionTimestamp != nil, Preempted: preempted(pod),
	}
	out.Priority = remembered(l, &l.priorities, podPriority, func(text []byte) *int32 {
		n, err := strconv.ParseInt(string(text), 10, 32)
		l.bad = l.bad || err != nil
		value := int32(n)
		return &value
	})
	out.Owner = remembered(l, &l.owners, podOwners, func(text []byte) *cluster.Owner {
		var p metav1.ObjectMeta
		l.each(text, func(c *cursor) {
			var o metav1.OwnerReference
			c.members(func(key, value []byte) {
				switch string(key) {
				case "kind":
					o.Kind = l.shared(value)
				case "name":
					o.Name = string(l.unquoted(value))
				case "uid":
					o.UID = types.UID(l.unquoted(value))
				case "controller":
					l.read(value, &o.Controller)
				}
			})
			p.OwnerReferences = append(p.OwnerReferences, o)
		})
		return ownerOf(&p)
	})
	out.Group = remembered(l, &l.groups, podGroup, func(text []byte) string {
		var p corev1.Pod
		l.read(text, &p.Spec.SchedulingGroup)
		return groupOf(&p)
	})
	out.Tolerations = remembered(l, &l.tolerations, podTolerations, func(text []byte) []cluster.Toleration {
		var list []corev1.Toleration
		l.read(text, &list)
		return tolerations(list)
	})
	a := remembered(l, &l.affinities, podAffinities, func(text []byte) (a affinities) {
		var all *corev1.Affinity
		l.read(text, &all)
		a.node = nodeAffinity(all)
		a.affinity, a.anti = podAffinity(all)
		return a
	})
	out.NodeAffinity, out.Affinity, out.AntiAffinity = a.node, a.affinity, a.anti
	out.Spread = remembered(l, &l.spreads, podSpread, func(text []byte) []cluster.Spread {
		var list []corev1.TopologySpreadConstraint
		l.read(text, &list)
		return spread(list)
	})
	n := l.needed(pod)
	out.Requests, out.Ports = n.requests, n.ports
	return !l.bad
}

// is reports whether an object is of a kind of v1, as it says or as its list does.
func (l *lean) is(kind string, version, slot int) bool {
	if l.spans[slot] == nil {
		return true
	}
	return string(l.spans[slot]) == `"`+kind+`"` && string(l.spans[version]) == `"v1"`
}

// node reads a node. ok is false if that is for others to do.
func (l *lean) node(text []byte) (r nodeRead, ok bool) {
	if !utf8.Valid(text) || !l.fits(nodeShape(), text) || l.spans[nodeName] == nil || !l.is("Node", nodeVersion, nodeKind) {
		return r, false
	}
	s := l.spans
	node := corev1.Node{}
	node.Name = l.text(nodeName)
	l.bad = l.bad || node.Name == ""
	node.Labels, node.Annotations = l.dictionary(nodeLabels), l.dictionary(nodeAnnotations)
	node.CreationTimestamp = l.time(s[nodeCreated])
	l.read(s[nodeTaints], &node.Spec.Taints)
	l.read(s[nodeCordon], &node.Spec.Unschedulable)
	node.Status.Allocatable, node.Status.Capacity = l.resources(nodeAllocatable), l.resources(nodeCapacity)
	l.each(s[nodeConditions], func(c *cursor) {
		var condition corev1.NodeCondition
		c.members(func(key, value []byte) {
			switch string(key) {
			case "lastHeartbeatTime":
				condition.LastHeartbeatTime = l.time(value)
			case "lastTransitionTime":
				condition.LastTransitionTime = l.time(value)
			}
		})
		node.Status.Conditions = append(node.Status.Conditions, condition)
	})
	r = readNode(&node)
	return r, !l.bad && r.err == nil
}

// remembered is what the text in a slot is read as, mostly from memory; zero without a text.
func remembered[T any](l *lean, p *parts[T], slot int, read func([]byte) T) (value T) {
	text := l.spans[slot]
	if text == nil {
		return value
	}
	value, _ = p.get(text, func() (T, bool) {
		value := read(text)
		return value, !l.bad
	})
	return value
}

// read decodes text as the decoder of Kubernetes does; nil leaves target alone.
func (l *lean) read(text []byte, target any) {
	if text != nil && Unmarshal(text, target) != nil {
		l.bad = true
	}
}

// text is the string in a slot.
func (l *lean) text(slot int) string { return string(l.unquoted(l.spans[slot])) }

// name is text for what many objects have in common.
func (l *lean) name(slot int) string { return l.shared(l.spans[slot]) }

func (l *lean) shared(span []byte) string {
	text := l.unquoted(span)
	name, _ := l.names.get(text, func() (string, bool) { return string(text), true })
	return name
}

// unquoted is the inside of a string; nil has none.
func (l *lean) unquoted(span []byte) []byte {
	if span == nil || string(span) == "null" {
		return nil
	}
	if bytes.IndexByte(span, '\\') >= 0 {
		l.bad = true
		return nil
	}
	return span[1 : len(span)-1]
}

func (l *lean) dictionary(slot int) map[string]string {
	return remembered(l, &l.maps, slot, func(text []byte) map[string]string {
		m := map[string]string{}
		c := cursor{text: text}
		c.members(func(key, value []byte) { m[string(key)] = string(l.unquoted(value)) })
		l.bad = l.bad || c.bad
		return m
	})
}

func (l *lean) resources(slot int) corev1.ResourceList {
	return remembered(l, &l.lists, slot, func(text []byte) (list corev1.ResourceList) {
		l.read(text, &list)
		return list
	})
}

// time is the time in a string that is one, in UTC; nil has none.
func (l *lean) time(span []byte) metav1.Time {
	text := l.unquoted(span)
	if text == nil {
		return metav1.Time{}
	}
	t, err := time.Parse(time.RFC3339, string(text))
	l.bad = l.bad || err != nil
	return metav1.Time{Time: t}
}

// each calls yield at each element of span, a list.
func (l *lean) each(span []byte, yield func(*cursor)) {
	if span == nil {
		return
	}
	c := cursor{text: span}
	c.take('[')
	for first := true; c.more(']', first); first = false {
		yield(&c)
	}
	l.bad = l.bad || c.bad
}

func (l *lean) podConditions(span []byte) []corev1.PodCondition {
	l.conditions = l.conditions[:0]
	l.each(span, func(c *cursor) {
		var condition corev1.PodCondition
		c.members(func(key, value []byte) {
			switch string(key) {
			case "type":
				condition.Type = corev1.PodConditionType(l.shared(value))
			case "status":
				condition.Status = corev1.ConditionStatus(l.shared(value))
			case "reason":
				condition.Reason = l.shared(value)
			case "lastTransitionTime":
				condition.LastTransitionTime = l.time(value)
			}
		})
		l.conditions = append(l.conditions, condition)
	})
	return l.conditions
}

// needed is what pod asks of a node. It is a function of the texts that make the key.
func (l *lean) needed(pod *corev1.Pod) needs {
	s := l.spans
	l.key = l.key[:0]
	for _, slot := range []int{podContainers, podInit} {
		l.project(s[slot], "name", "resources", "restartPolicy", "ports")
	}
	for _, slot := range []int{podStatuses, podInitStatuses} {
		l.project(s[slot], "name", "allocatedResources", "resources")
	}
	for _, slot := range []int{podOverhead, podResources, podHostNetwork, podHas, podAllotted} {
		l.key = append(append(l.key, s[slot]...), 0)
	}
	l.key = strconv.AppendBool(l.key, resizeInfeasible(pod))
	n, _ := l.needs.get(l.key, func() (n needs, ok bool) {
		whole := corev1.Pod{}
		whole.Status.Conditions = pod.Status.Conditions
		l.read(s[podContainers], &whole.Spec.Containers)
		l.read(s[podInit], &whole.Spec.InitContainers)
		l.read(s[podStatuses], &whole.Status.ContainerStatuses)
		l.read(s[podInitStatuses], &whole.Status.InitContainerStatuses)
		l.read(s[podOverhead], &whole.Spec.Overhead)
		l.read(s[podResources], &whole.Spec.Resources)
		l.read(s[podHostNetwork], &whole.Spec.HostNetwork)
		l.read(s[podHas], &whole.Status.Resources)
		l.read(s[podAllotted], &whole.Status.AllocatedResources)
		f := podFields(&whole)
		n = needs{requests: requests(&f, &whole), ports: hostPorts(&whole)}
		l.bad = l.bad || f.err() != nil
		return n, !l.bad
	})
	return n
}

// project adds to the key the texts of some fields of each element of span.
func (l *lean) project(span []byte, fields ...string) {
	l.each(span, func(c *cursor) {
		l.key = append(l.key, 1)
		c.members(func(key, value []byte) {
			for i, field := range fields {
				if string(key) == field {
					l.key = append(append(append(l.key, byte(i+2)), value...), 0)
				}
			}
		})
	})
	l.key = append(l.key, 0)
}

// filled reports whether span is a list with something in it.
func filled(span []byte) bool {
	return span != nil && bytes.TrimSpace(span[1:])[0] != ']'
}
