package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// question is who wants to run.
type question struct {
	preemptor preemption.Preemptor
	pod       *cluster.Pod // what asks, or each member of a made-up gang; nil for a group of the input
	title     string       // for people: "pod default/web"
}

// kind is what kind of object wants to run.
func (q *question) kind() cluster.Kind {
	switch {
	case q.preemptor.Kind != "":
		return q.preemptor.Kind
	case q.preemptor.Group != nil:
		return cluster.KindPodGroup
	}
	return cluster.KindPod
}

// question finds or makes the preemptor that the command line means.
func (c *config) question(dump *convert.Dump) (*question, error) {
	q, err := c.whoAsks(dump)
	if err == nil {
		q.preemptor.Placement = c.placement
	}
	return q, err
}

func (c *config) whoAsks(dump *convert.Dump) (*question, error) {
	isNode := func(n cluster.Node) bool { return n.Name == c.node }
	switch {
	case c.node != "" && !slices.ContainsFunc(dump.Snapshot.Nodes, isNode):
		return nil, fmt.Errorf("-node: there is no node %s in the input", c.node)
	case c.preemptor != nil:
		return c.named(dump)
	case c.made != nil:
		return c.madeUp()
	}
	pending := dump.PendingPods()
	if len(pending) == 1 && c.rules == preemption.Kubernetes136 {
		return ofPod(pending[0]), nil
	}
	if wholes := c.wholes(dump, pending); len(wholes) == 1 {
		return wholes[0], nil
	}
	return nil, whichPod(dump, pending)
}

// wholes are questions about pods, each in one of them: about the group that it belongs to, or the
// highest composite group above that, as far as the rules know those, or itself.
func (c *config) wholes(dump *convert.Dump, pods []*cluster.Pod) (list []*question) {
	type key struct{ namespace, name string }
	groups, composites := map[key]*cluster.PodGroup{}, map[key]*cluster.CompositePodGroup{}
	for i := range dump.Snapshot.PodGroups {
		g := &dump.Snapshot.PodGroups[i]
		groups[key{g.Namespace, g.Name}] = g
	}
	if c.rules != preemption.Kubernetes136 {
		for i := range dump.Snapshot.CompositePodGroups {
			g := &dump.Snapshot.CompositePodGroups[i]
			composites[key{g.Namespace, g.Name}] = g
		}
	}
	asked := map[string]bool{}
	for _, p := range pods {
		q := ofPod(p)
		if g := groups[key{p.Namespace, p.Group}]; p.Group != "" && g != nil {
			q = ofGroup(cluster.KindPodGroup, g.Namespace, g.Name)
			parent := g.Parent
			for range cluster.MaxTreeDepth - 1 {
				above := composites[key{g.Namespace, parent}]
				if above == nil {
					break
				}
				q, parent = ofGroup(cluster.KindCompositePodGroup, above.Namespace, above.Name), above.Parent
			}
		}
		if !asked[q.title] {
			asked[q.title] = true
			list = append(list, q)
		}
	}
	return list
}

// ofGroup asks for a group of the dump.
func ofGroup(kind cluster.Kind, namespace, name string) *question {
	return &question{
		preemptor: preemption.Preemptor{Kind: kind, Namespace: namespace, Name: name},
		title:     fmt.Sprintf("%s %s/%s", strings.ToLower(string(kind)), namespace, name),
	}
}

// ofPod asks for a pending pod of the dump.
func ofPod(p *cluster.Pod) *question {
	return &question{
		preemptor: preemption.Preemptor{Kind: cluster.KindPod, Namespace: p.Namespace, Name: p.Name},
		pod:       p, title: "pod " + p.Namespace + "/" + p.Name,
	}
}

// ofNewPod asks for a pod that the dump does not have.
func ofNewPod(p cluster.Pod, title string) *question {
	return &question{preemptor: preemption.Preemptor{Pods: []cluster.Pod{p}}, pod: &p, title: title}
}

// groupKinds are the kinds of preemptors that are groups, by their name on the
// command line.
var groupKinds = map[string]cluster.Kind{
	"podgroup":          cluster.KindPodGroup,
	"compositepodgroup": cluster.KindCompositePodGroup,
	"workload":          cluster.KindWorkload,
}

// workloadKinds are the kinds that have a template for pods, by their name on the
// command line.
var workloadKinds = []string{"daemonset", "deployment", "replicaset", "statefulset", "job", "cronjob", "replicationcontroller", "jobset", "leaderworkerset"}

// shortKinds are the short names that kubectl has for kinds.
var shortKinds = map[string]string{
	"po": "pod", "ds": "daemonset", "deploy": "deployment", "rs": "replicaset", "sts": "statefulset", "cj": "cronjob",
	"rc": "replicationcontroller", "lws": "leaderworkerset", "wl": "workload",
}

var wantingKinds = "pod, podgroup, compositepodgroup or workload; or, for its next pod, " + strings.Join(workloadKinds, ", ")

// named is an object that -preemptor names; kind is in small letters.
type named struct{ kind, namespace, name string }

// parseNamed reads KIND/NAMESPACE/NAME, or KIND/NAME in the default namespace.
func parseNamed(text string) (*named, error) {
	parts := strings.Split(text, "/")
	if len(parts) == 2 {
		parts = []string{parts[0], metav1.NamespaceDefault, parts[1]}
	}
	if len(parts) != 3 || slices.Contains(parts, "") {
		return nil, fmt.Errorf("%q is not KIND/NAMESPACE/NAME, such as pod/default/web", text)
	}
	kind := strings.ToLower(parts[0])
	n := &named{cmp.Or(shortKinds[kind], kind), parts[1], parts[2]}
	if n.kind != "pod" && groupKinds[n.kind] == "" && !n.workload() {
		return nil, fmt.Errorf("%q is not a kind that can want to run: %s", parts[0], wantingKinds)
	}
	return n, nil
}

// workload reports whether the next pod of n is meant.
func (n *named) workload() bool { return slices.Contains(workloadKinds, n.kind) }

// named finds the object that -preemptor names.
func (c *config) named(dump *convert.Dump) (*question, error) {
	kind, namespace, name := c.preemptor.kind, c.preemptor.namespace, c.preemptor.name
	if group, ok := groupKinds[kind]; ok {
		return ofGroup(group, namespace, name), nil
	}
	if kind == "pod" {
		for i := range dump.Snapshot.Pods {
			switch p := &dump.Snapshot.Pods[i]; {
			case p.Namespace != namespace || p.Name != name:
			case c.count > 1:
				like := *p
				like.Name += "-more"
				return c.gang(like, "gang"), nil
			default:
				return ofPod(p), nil
			}
		}
		return nil, fmt.Errorf("-preemptor: there is no pod %s/%s in the input; %w", namespace, name, whichPod(dump, dump.PendingPods()))
	}
	template, ok := dump.Template(kind, namespace, name)
	if !ok {
		return nil, fmt.Errorf("-preemptor: there is no %s %s/%s in the input", kind, namespace, name)
	}
	pod, err := template.Pod(c.node)
	if err != nil {
		return nil, err
	}
	convert.Join(&pod, func(namespace, name string) bool {
		return slices.ContainsFunc(dump.Snapshot.PodGroups, func(g cluster.PodGroup) bool { return g.Namespace == namespace && g.Name == name })
	})
	if c.count > 1 {
		return c.gang(pod, "gang"), nil
	}
	title := fmt.Sprintf("the next pod of %s %s/%s", kind, namespace, name)
	return ofNewPod(pod, title), nil
}

// madeUp makes the pod that the command line describes.
func (c *config) madeUp() (*question, error) {
	m := c.made
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: m.name, Labels: m.labels}}
	if pod.Name == "" {
		pod.Name = "preemptor"
	}
	pod.Spec = corev1.PodSpec{
		Priority: m.priority, PriorityClassName: m.class,
		Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: m.requests}}},
	}
	p, err := convert.Pod(&pod)
	if err != nil {
		return nil, err
	}
	p.RequiredNode = c.node
	if c.count > 1 {
		return c.gang(p, "made-up gang"), nil
	}
	return ofNewPod(p, "made-up pod "+p.Namespace+"/"+p.Name), nil
}

// gang asks for a group of pods like p, all of which are needed. It is named after p.
func (c *config) gang(p cluster.Pod, title string) *question {
	need := int32(c.count)
	p.UID, p.Node, p.NominatedNode, p.Group, p.Terminating, p.Preempted = "", "", "", "", false, false
	p.Created, p.Scheduled, p.Started = time.Time{}, time.Time{}, time.Time{}
	g := &cluster.PodGroup{Namespace: p.Namespace, Name: p.Name, MinCount: &need, Priority: p.Priority, Class: p.Class, Policy: p.Policy}
	q := &question{
		preemptor: preemption.Preemptor{Group: g},
		title:     fmt.Sprintf("%s %s/%s of %d", title, p.Namespace, p.Name, c.count),
	}
	for i := range c.count {
		member := p
		member.Name, member.Group = fmt.Sprintf("%s-%d", p.Name, i), p.Name
		q.preemptor.Pods = append(q.preemptor.Pods, member)
	}
	q.pod = &q.preemptor.Pods[0]
	return q
}

// whichPod asks the user to choose.
func whichPod(dump *convert.Dump, pending []*cluster.Pod) error {
	const most = 20
	var b strings.Builder
	switch len(pending) {
	case 0:
		b.WriteString("no pod of the input is pending; make one up with -cpu, -memory and -priority")
		if len(dump.Templates) > 0 {
			b.WriteString(", or ask for the next pod of a workload:")
		}
		for i, t := range dump.Templates {
			if i == most {
				fmt.Fprintf(&b, "\n  and %d more", len(dump.Templates)-most)
				break
			}
			fmt.Fprintf(&b, "\n  -preemptor %s/%s/%s", strings.ToLower(t.Kind), t.Namespace, t.Name)
		}
	case 1:
		fmt.Fprintf(&b, "the only pending pod is -preemptor pod/%s/%s", pending[0].Namespace, pending[0].Name)
	default:
		fmt.Fprintf(&b, "%d pods are pending; choose one:", len(pending))
		for i, p := range pending {
			if i == most {
				fmt.Fprintf(&b, "\n  and %d more", len(pending)-most)
				break
			}
			fmt.Fprintf(&b, "\n  -preemptor pod/%s/%s", p.Namespace, p.Name)
		}
	}
	return fmt.Errorf("%s", b.String())
}
