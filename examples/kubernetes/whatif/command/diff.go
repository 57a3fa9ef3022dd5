package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
)

// way is one of the two ways of asking that -diff compares.
type way struct {
	name    string
	options preemption.Options
	planner *preemption.Planner
}

// Comparison is how the answers of two ways differ.
type Comparison struct {
	First  string  `json:"first"`
	Second string  `json:"second"`
	Asked  int     `json:"asked"` // how many pods or groups
	Differ []Apart `json:"differ"`
}

// Apart is a preemptor that is answered in two ways.
type Apart struct {
	Name        string       `json:"name"`
	First       string       `json:"first"` // the verdict, a sentence
	Second      string       `json:"second"`
	Differences []Difference `json:"differences"`
}

// Difference is one thing that differs.
type Difference struct {
	What   string `json:"what"` // a pod of the cluster, a member, or empty: the verdict
	First  string `json:"first"`
	Second string `json:"second"`
	Why    string `json:"why,omitempty"`
}

// ways are the way that the flags say, and the one that -diff names.
func (c *config) ways() (first, second *way) {
	other := *c
	first, second = &way{name: "as the flags say"}, &way{name: c.diff}
	switch {
	case c.diffRules != "":
		other.rules = c.diffRules
		first.name = c.rulesName()
	case c.diffSearch != "":
		other.search = c.diffSearch
		first.name = strings.ToLower(string(cmp.Or(c.search, c.options.Search, preemption.Greedy)))
	default:
		other.options = c.diffOptions
		other.rules = cmp.Or(c.diffOptions.Rules, c.rules)
	}
	first.options, second.options = c.asked(c.rules, nil), other.asked(other.rules, nil)
	return first, second
}

func (c *config) rulesName() string {
	for name, rules := range rulesByName {
		if rules == c.rules {
			return name
		}
	}
	return string(c.rules)
}

// compare asks in two ways, of one preemptor or of all that are pending, and tells who differs.
func (c *config) compare(stdin io.Reader, stdout, stderr io.Writer) error {
	p := startProgress(stderr)
	defer p.stop()
	first, second := c.ways()
	dump, err := c.cluster(stdin, stderr, p)
	if err != nil {
		return err
	}
	for _, w := range []*way{first, second} {
		if w.planner, err = preemption.NewPlanner(&dump.Snapshot, w.options); err != nil {
			return dump.Locate(err)
		}
	}
	questions, err := c.pendingQuestions(dump)
	if err != nil {
		return err
	}
	p.doing(func() string { return fmt.Sprintf("asking about %d in two ways", len(questions)) })
	result := &Comparison{First: first.name, Second: second.name, Asked: len(questions), Differ: []Apart{}}
	for _, q := range questions {
		a, err := apart(q, first, second)
		if err != nil {
			return dump.Locate(err)
		}
		if len(a.Differences) > 0 {
			result.Differ = append(result.Differ, *a)
		}
	}
	r := &report{}
	return c.tell(stdout, result, r, func() {
		r.compared(result)
		r.listed(clusterNotes(dump, most))
	})
}

// pendingQuestions are the one that the flags ask, or one for each pending pod or group.
func (c *config) pendingQuestions(dump *convert.Dump) ([]*question, error) {
	if c.preemptor != nil || c.made != nil {
		q, err := c.question(dump)
		return []*question{q}, err
	}
	pending := dump.PendingPods()
	list := c.wholes(dump, pending)
	if len(list) == 0 {
		return nil, whichPod(dump, pending)
	}
	return list, nil
}

// anotherWay reads what -diff names.
func (c *config) anotherWay() error {
	c.diffRules = rulesByName[c.diff]
	c.diffSearch, _ = searchOf(c.diff)
	if c.diffRules != "" || c.diffSearch != "" {
		return nil
	}
	switch err := readOptions(c.diff, &c.diffOptions); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("-diff: %q is not %s, not a search, and no file of options", c.diff, rulesWanted)
	case err != nil:
		return &unreadable{"-diff", err}
	}
	return nil
}

// apart asks q in two ways and finds what differs.
func apart(q *question, first, second *way) (*Apart, error) {
	one, err := first.planner.Preempt(q.preemptor)
	if err != nil {
		return nil, err
	}
	other, err := second.planner.Preempt(q.preemptor)
	if err != nil {
		return nil, err
	}
	a := &Apart{Name: q.title, First: said(one), Second: said(other)}
	if one.Verdict != other.Verdict {
		a.Differences = append(a.Differences, Difference{First: string(one.Verdict), Second: string(other.Verdict)})
	}
	places, places2 := nodesOf(one), nodesOf(other)
	for _, pod := range keys(places, places2) {
		if places[pod] != places2[pod] {
			d := Difference{What: pod, First: goes(places[pod]), Second: goes(places2[pod])}
			d.Why = why(q, second, places[pod], first, places2[pod])
			a.Differences = append(a.Differences, d)
		}
	}
	victims, victims2 := evictedNames(one.Victims), evictedNames(other.Victims)
	for _, pod := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(victims, victims2)))) {
		goesFirst, goesSecond := slices.Contains(victims, pod), slices.Contains(victims2, pod)
		if goesFirst != goesSecond {
			spares := second
			if goesSecond {
				spares = first
			}
			d := Difference{What: pod, First: fate(goesFirst), Second: fate(goesSecond)}
			if w, err := spares.planner.WhyNot(q.preemptor, preemption.UnitTarget(pod)); err == nil && !w.Chosen {
				d.Why = spares.name + ": " + w.Text
			}
			a.Differences = append(a.Differences, d)
		}
	}
	return a, nil
}

// why says what speaks, by a way, against the node that the other way takes.
func why(q *question, by *way, node string, or *way, node2 string) string {
	if node == "" {
		by, node = or, node2
	}
	w, err := by.planner.WhyNot(q.preemptor, preemption.NodeTarget(node))
	if err != nil || w.Chosen {
		return "" // a group may put others there
	}
	return fmt.Sprintf("%s, of %s: %s", by.name, node, w.Text)
}

func nodesOf(r *preemption.Result) map[string]string {
	places := map[string]string{}
	for _, n := range r.Nominations {
		places[podName(n.Pod)] = n.Node
	}
	return places
}

// evictedNames are the names of the pods that go, and of workloads whose pods are not known.
func evictedNames(list []preemption.Victim) []string {
	names := podNames(list)
	for i := range list {
		if v := &list[i]; len(v.Pods) == 0 {
			names = append(names, v.Namespace+"/"+v.Name)
		}
	}
	return names
}

func keys(maps ...map[string]string) []string {
	var list []string
	for _, m := range maps {
		for key := range sorted(m) {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func said(r *preemption.Result) string {
	switch r.Verdict {
	case preemption.NotEligible, preemption.Waiting, preemption.Infeasible:
		return string(r.Verdict) + ": " + r.Message
	}
	return r.Message
}

func goes(node string) string {
	if node == "" {
		return "gets no place"
	}
	return "goes to " + node
}

func fate(evicted bool) string {
	if evicted {
		return "is evicted"
	}
	return "stays"
}

// compared tells a comparison.
func (r *report) compared(c *Comparison) {
	switch n := len(c.Differ); {
	case n == 0:
		r.Printf("%s and %s: the same answer%s.\n", c.First, c.Second, ofAll(c.Asked))
	case c.Asked == 1:
		r.Printf("%s and %s: another answer.\n", c.First, c.Second)
	default:
		r.Printf("%s and %s: another answer for %d of %d.\n", c.First, c.Second, n, c.Asked)
	}
	for _, a := range c.Differ[:min(mostOutcomes, len(c.Differ))] {
		r.Printf("\n%s\n  - %s: %s\n  - %s: %s\n", a.Name, c.First, a.First, c.Second, a.Second)
		var rows []string
		for _, d := range a.Differences {
			if d.What != "" {
				rows = append(rows, strings.Join([]string{d.What, d.First, d.Second, d.Why}, "\t"))
			}
		}
		if len(rows) > 0 {
			r.Table(strings.Join([]string{"POD", strings.ToUpper(c.First), strings.ToUpper(c.Second), "WHY"}, "\t"), rows[:min(mostPods, len(rows))])
			r.more(len(rows), mostPods)
		}
	}
	r.more(len(c.Differ), mostOutcomes)
}

func ofAll(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" for each of the %d that were asked about", n)
}
