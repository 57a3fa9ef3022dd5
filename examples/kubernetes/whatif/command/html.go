package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/whatif/page"
	"github.com/preempt-go/preempt/examples/kubernetes/whatif/sheet"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// writePage writes the answer of r as a page.
func (c *config) writePage(o preemption.Options, r *report) error {
	told := &report{
		question: r.question, dump: r.dump, result: r.result, explain: r.explain, limit: r.limit, whyNot: r.whyNot, problems: r.problems, willRun: r.willRun,
		Sheet: sheet.Sheet{Form: sheet.HTML},
	}
	told.inPage(c.sample)
	why, err := r.whyNoNode(o)
	if err != nil {
		return err
	}
	p := &page.Page{
		Title: r.question.title, Told: told.Bytes(), Snapshot: &r.dump.Snapshot, Result: r.result, Asking: r.asking(),
		Priority: r.priority, Amount: amount, WhyNot: func(node string) string { return why[node] },
	}
	return replaceFile(c.html, p.Write)
}

// inPage is answer for a page, which shows the nodes itself.
func (r *report) inPage(sample bool) {
	r.verdict()
	if sample {
		r.Printf("%s\n", sampleNote)
	}
	r.nominations()
	r.victims()
	r.kept()
	r.nearest()
	r.waiting()
	r.whyNots()
	r.trace()
	r.notes()
	r.verified()
}

// asking lists the pods that want to run.
func (r *report) asking() []cluster.Pod {
	q := r.question
	if len(q.preemptor.Pods) > 0 {
		return q.preemptor.Pods
	}
	placed := map[string]bool{}
	for _, n := range r.result.Nominations {
		placed[podName(n.Pod)] = true
	}
	var list []cluster.Pod
	for _, p := range r.dump.PendingPods() {
		itself := q.kind() == cluster.KindPod && p == q.pod
		member := q.kind() == cluster.KindPodGroup && p.Namespace == q.preemptor.Namespace && p.Group == q.preemptor.Name
		if itself || member || placed[p.Namespace+"/"+p.Name] {
			list = append(list, *p)
		}
	}
	return list
}

// mostAsked is how many nodes a group is asked about one by one: each takes a decision.
const mostAsked = 200

// whyNoNode tells of each node that is not chosen why it isn't.
func (r *report) whyNoNode(o preemption.Options) (map[string]string, error) {
	whys := map[string]string{}
	for i := range r.result.Candidates {
		c := &r.result.Candidates[i]
		whys[c.Domain] = fmt.Sprintf("%s would have to go; %s", pods(unlisted(c.Victims)+len(podNames(c.Victims)), "", ""), r.worse(*c))
	}
	if r.question.kind() == cluster.KindWorkload {
		return whys, nil
	}
	o.Candidates, o.Explain = false, false
	planner, err := preemption.NewPlanner(&r.dump.Snapshot, o)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range r.dump.Snapshot.Nodes {
		if name := r.dump.Snapshot.Nodes[i].Name; whys[name] == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		if i >= mostAsked && r.question.kind() != cluster.KindPod {
			whys[name] = "not asked about by itself: -why-not " + name + " tells"
			continue
		}
		why, err := planner.WhyNot(r.question.preemptor, preemption.NodeTarget(name))
		if err != nil {
			return nil, err
		}
		switch {
		case why.Chosen:
		case why.Reason != nil:
			whys[name] = r.lack(name, why)
		default:
			whys[name] = why.Text
		}
	}
	return whys, nil
}

// lack is why a pod does not fit on a node, with amounts as Kubernetes writes them, and when:
// as things are, or even with everybody gone who could go.
func (r *report) lack(node string, why *preemption.Why) string {
	text := strings.Replace(why.Text, why.Reason.String(), r.reason(*why.Reason), 1)
	return strings.TrimPrefix(text, node+": ")
}
