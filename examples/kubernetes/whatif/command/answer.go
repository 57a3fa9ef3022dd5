package command

import (
	"encoding/json"
	"io"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Answer is one line of a batch's output.
type Answer struct {
	Name        string            `json:"name"`
	Status      string            `json:"status"` // see statusOf
	Message     string            `json:"message"`
	Candidates  []Candidate       `json:"candidates"` // every node on which preemption helps, by name
	Best        []string          `json:"best"`       // every candidate that ties for the best, sorted
	Chosen      string            `json:"chosen"`
	Victims     []string          `json:"victims"` // namespace/name, sorted
	Nominations map[string]string `json:"nominations"`
	Error       string            `json:"error"`
	Notes       []string          `json:"notes,omitempty"` // what of the input may matter and was not read

	// Problems says what is not true of the answer; with -verify only, and empty if
	// all of it is true.
	Problems []string `json:"problems,omitzero"`

	Proof *preemption.Proof `json:"proof,omitempty"` // where -options ask for it

	Moves []preemption.Nomination `json:"moves,omitempty"` // where victims go, one after the other, where -options let them go only then

	WhyNot []whyNot `json:"whyNot,omitempty"`

	// Answers are those about several preemptors, in the order in which they are carried out.
	Answers []*Answer `json:"answers,omitempty"`

	*QuotaAnswer // of a Workload

	Decision *preemption.Decision `json:"decision,omitempty"` // of a question in short form
	Validity *preemption.Validity `json:"validity,omitempty"` // of an earlier answer
	Wake     []object             `json:"wake,omitzero"`      // who is to be asked again
}

// Candidate is a node on which preemption helps.
type Candidate struct {
	Node       string   `json:"node"`
	Victims    []string `json:"victims"`            // namespace/name, sorted
	Unlisted   int      `json:"unlisted,omitempty"` // how many more go: see preemption.Candidate
	Violations int      `json:"pdbViolations"`
}

// blank is an answer without anything; its lists are there but empty.
func blank(name string) *Answer {
	return &Answer{Name: name, Candidates: []Candidate{}, Best: []string{}, Victims: []string{}, Nominations: map[string]string{}}
}

// refused answers that the question cannot be read.
func refused(name string, err error) *Answer {
	a := blank(name)
	a.Error = brief(err)
	return a
}

// answered puts a result into the batch's form.
func answered(name string, kind cluster.Kind, r *preemption.Result) *Answer {
	if kind == cluster.KindWorkload {
		return answeredQuota(name, r)
	}
	a := blank(name)
	a.Status, a.Message, a.Proof = statusOf(kind, r.Verdict), r.Message, r.Proof
	if a.Status == "fits" || a.Status == "preempt" {
		a.Chosen = r.Domain
	}
	a.Victims, a.Moves = podNames(r.Victims), r.Moves
	for _, n := range r.Nominations {
		a.Nominations[podName(n.Pod)] = n.Node
	}
	if kind == cluster.KindPod && r.Verdict == preemption.Feasible {
		for _, c := range r.Candidates {
			a.Candidates = append(a.Candidates, Candidate{c.Domain, podNames(c.Victims), unlisted(c.Victims), c.Violations})
			if c.Best {
				a.Best = append(a.Best, c.Domain)
			}
		}
		slices.Sort(a.Best)
	}
	return a
}

// unlisted is how many pods go that victims do not list.
func unlisted(victims []preemption.Victim) (n int) {
	for _, v := range victims {
		n += v.Unlisted
	}
	return n
}

// statusOf is the word of the batch contract for a verdict. A single pod whose
// nominated node still has terminating victims is, in upstream's words, not
// eligible; a group in that position waits.
func statusOf(kind cluster.Kind, v preemption.Verdict) string {
	switch v {
	case preemption.Fits:
		return "fits"
	case preemption.Feasible:
		return "preempt"
	case preemption.NotEligible:
		return "ineligible"
	case preemption.Waiting:
		if kind == cluster.KindPod {
			return "ineligible"
		}
		return "waiting"
	}
	return "unschedulable"
}

func podNames(victims []preemption.Victim) []string {
	names := []string{}
	for _, v := range victims {
		for _, p := range v.Pods {
			names = append(names, podName(p.PodRef))
		}
	}
	slices.Sort(names)
	return names
}

func podName(p preemption.PodRef) string { return p.Namespace + "/" + p.Name }

// wholeAnswer is the answer in the batch's form, with the whole result beside it.
func wholeAnswer(q *question, r *preemption.Result, whys []whyNot, waits *WillRun, notes, problems []string) any {
	a := answered(q.title, q.kind(), r)
	a.Notes, a.Problems, a.WhyNot = notes, problems, whys
	return struct {
		*Answer
		Result *preemption.Result `json:"result"`

		WillRun *WillRun `json:"willRun,omitempty"` // with -will-run
	}{a, r, waits}
}

func writeIndented(w io.Writer, answer any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(answer)
}

// writeYAML writes what writeIndented does, as YAML.
func writeYAML(w io.Writer, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if text, err = yaml.JSONToYAML(text); err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
