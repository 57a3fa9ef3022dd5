package scenario

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Scenario is a question with the transcript of its answer.
type Scenario struct {
	Question string // everything above the dashes, as it stands in the file
	Want     string // everything below

	Snapshot   preemption.Snapshot
	Preemptors []preemption.Preemptor
	Rules      []preemption.Rules // empty: the default
	Samplings  []preemption.Sampling
	Options    preemption.Options // but for rules and sampling
	Times      []time.Time        // each asked about; empty: Snapshot.Time alone
}

// Error is what is wrong with a scenario, and where.
type Error struct {
	Name string
	Line int // from 1
	Text string
}

// Error names the scenario, the line of it and what is wrong there.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Text) }

// divider stands between the question and the transcript.
const divider = "----"

// Sections yields the name and the text of each scenario of a file. What is above the first name has none.
func Sections(file string) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for i, section := range strings.Split("\n"+file, "\n== ") {
			name, text, _ := strings.Cut(section, "\n")
			if i == 0 && strings.TrimSpace(text) == "" {
				continue
			}
			if !yield(name, strings.TrimRight(text, "\n")+"\n") {
				return
			}
		}
	}
}

// Parse reads a scenario. The error is an *Error: the first thing that is wrong.
func Parse(name, text string) (*Scenario, error) {
	s := &Scenario{Question: text}
	if q, want, found := strings.Cut(text, "\n"+divider+"\n"); found {
		s.Question, s.Want = q+"\n", want
	}
	s.Snapshot.Time = noon
	statements, err := split(s.Question)
	if err == nil && !strings.HasPrefix(text, "# ") {
		err = complaint(1, "a scenario starts with a comment that says the behaviour")
	}
	for _, st := range statements {
		if err == nil {
			err = s.read(st)
		}
	}
	if err == nil && len(s.Preemptors) == 0 {
		err = complaint(1, "nobody preempts: there is no preempt line")
	}
	if err != nil {
		err.Name = name
		return nil, err
	}
	return s, nil
}

// statement is a line with the lines that continue it: a word and objects.
type statement struct {
	word    string
	line    int
	objects []object
}

// object is a name and what is known of it. A statement's attributes before any
// name are an object without a name.
type object struct {
	name  string
	attrs []attr
}

type attr struct{ key, value string }

func complaint(line int, format string, args ...any) *Error {
	return &Error{Line: line, Text: fmt.Sprintf(format, args...)}
}

func split(text string) ([]statement, *Error) {
	var out []statement
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			out = append(out, statement{word: words[0], line: i + 1})
			words = words[1:]
		}
		if len(out) == 0 {
			return nil, complaint(i+1, "an indented line continues another, and there is none")
		}
		out[len(out)-1].add(words)
	}
	return out, nil
}

func (st *statement) add(words []string) {
	for _, w := range words {
		key, value, isAttr := strings.Cut(w, "=")
		switch {
		case !isAttr:
			st.objects = append(st.objects, object{name: w})
		case len(st.objects) == 0:
			st.objects = append(st.objects, object{attrs: []attr{{key, value}}})
		default:
			o := &st.objects[len(st.objects)-1]
			o.attrs = append(o.attrs, attr{key, value})
		}
	}
}

// read takes one statement into the scenario.
func (s *Scenario) read(st statement) *Error {
	err := s.readObjects(st)
	if err != nil {
		return complaint(st.line, "%s: %v", st.word, err)
	}
	return nil
}

func (s *Scenario) readObjects(st statement) error {
	if len(st.objects) == 0 {
		return fmt.Errorf("nothing follows")
	}
	switch st.word {
	case "group":
		return s.group(st.objects[0], st.objects[1:])
	case "preempt":
		return s.preempt(st.objects)
	}
	read, ok := map[string]func(object) error{
		"nodes": s.node, "pods": s.pod, "composite": s.composite, "budget": s.budget, "class": s.class,
		"namespace": s.namespace, "now": s.now, "rules": s.rules, "sampling": s.sampling, "options": s.options,
		"place": s.place, "earlier": s.earlier,
	}[st.word]
	if !ok {
		return fmt.Errorf("a line starts with nodes, pods, group, composite, budget, class, namespace, now, rules, sampling, options, place, earlier or preempt")
	}
	for _, o := range st.objects {
		if o.name == "" && st.word != "sampling" && st.word != "options" {
			return fmt.Errorf("%s=%s stands before any name", o.attrs[0].key, o.attrs[0].value)
		}
		if err := read(o); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scenario) preempt(objects []object) error {
	kinds := []cluster.Kind{cluster.KindPod, cluster.KindPodGroup, cluster.KindCompositePodGroup}
	if i := slices.IndexFunc(kinds, func(k cluster.Kind) bool { return strings.ToLower(string(k)) == objects[0].name }); i >= 0 && len(objects) > 1 {
		for _, o := range objects[1:] {
			if len(o.attrs) > 0 {
				return fmt.Errorf("%s: it is in the snapshot, where all is said about it", o.name)
			}
			ns, name := namespaced(o.name)
			s.Preemptors = append(s.Preemptors, preemption.Preemptor{Kind: kinds[i], Namespace: ns, Name: name})
		}
		return nil
	}
	for _, o := range objects {
		p, err := pod(o)
		if err != nil {
			return err
		}
		s.Preemptors = append(s.Preemptors, preemption.Preemptor{Kind: cluster.KindPod, Pods: []preemption.Pod{p}})
	}
	return nil
}

// place gives the preemptor of the line above a node for one of its members.
func (s *Scenario) place(o object) error {
	if len(s.Preemptors) == 0 {
		return fmt.Errorf("%s: there is no preempt line above", o.name)
	}
	name, node, found := strings.Cut(o.name, "@")
	if !found || len(o.attrs) > 0 {
		return fmt.Errorf("%s: it is POD@NODE", o.name)
	}
	p := &s.Preemptors[len(s.Preemptors)-1]
	if p.Placement == nil {
		p.Placement = map[string]string{}
	}
	namespace, rest := namespaced(name)
	p.Placement[namespace+"/"+rest] = node
	return nil
}
