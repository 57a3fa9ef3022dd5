package command

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// testCase is one line of a batch, with a cluster of its own or about that of -f. Unknown fields are ignored.
type testCase struct {
	Name      string            `json:"name"`
	Now       string            `json:"now"`
	Rules     string            `json:"rules"`
	Placement map[string]string `json:"placement"` // of a group: namespace/name of a pod → node

	// Nominated counts the nominations of other pods under v1.36 too; see forgetNominations.
	Nominated bool `json:"nominated"`

	FairSharing *fairSharing `json:"fairSharing"` // of a Workload; absent: as -fair-sharing says

	// Options are those of this question in place of -options, preemption.Options as JSON.
	Options json.RawMessage `json:"options"`

	Objects   []json.RawMessage `json:"objects"`
	Preemptor object            `json:"preemptor"`
	WhyNot    []string          `json:"whyNot"` // nodes, or units as namespace/name

	changes             // of the cluster of -f, for this line and those after it
	Preemptors []object `json:"preemptors"` // ask about all of them at once there
	Apply      bool     `json:"apply"`      // carry the answer out there
}

// preemptor is who asks.
func (q *testCase) preemptor() (preemption.Preemptor, error) {
	p, err := q.Preemptor.preemptor()
	if err != nil {
		err = fmt.Errorf("preemptor.%w", err)
	}
	p.Placement = q.Placement
	return p, err
}

// several are those who ask at once.
func (q *testCase) several() (list []preemption.Preemptor, err error) {
	for i, who := range q.Preemptors {
		p, err := who.preemptor()
		if err != nil {
			return nil, fmt.Errorf("preemptors[%d].%w", i, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// preemptor is o as one who asks.
func (o object) preemptor() (preemption.Preemptor, error) {
	kind := cluster.Kind(o.Kind)
	switch kind {
	case cluster.KindPod, cluster.KindPodGroup, cluster.KindCompositePodGroup, cluster.KindWorkload:
		return preemption.Preemptor{Kind: kind, Namespace: cmp.Or(o.Namespace, metav1.NamespaceDefault), Name: o.Name}, nil
	}
	return preemption.Preemptor{}, fmt.Errorf("kind: %q is not Pod, PodGroup, CompositePodGroup or Workload", o.Kind)
}

// answerBatch answers each line of the file, one line each, in its order. The error
// may be that some answer is not true, after all of them.
func (c *config) answerBatch(stdin io.Reader, stdout, stderr io.Writer) error {
	var answeredSoFar atomic.Int64
	p := startProgress(stderr)
	defer p.stop()
	var of *live
	answer := c.answerLine
	if len(c.files) > 0 || c.questions != "" {
		dump, err := c.cluster(stdin, stderr, p)
		if err == nil {
			of, err = newLive(dump, c.asked(c.rules, nil))
		}
		if err != nil {
			return err
		}
	}
	if c.questions != "" {
		of.earlier, answer = map[string]*keptAnswer{}, c.answerQuestion
		if c.sample {
			fmt.Fprintln(stderr, "whatif:", sampleNote)
		}
	}
	in, err := open(cmp.Or(c.batch, c.questions), stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	p.doing(func() string { return fmt.Sprintf("answered %d lines", answeredSoFar.Load()) })
	var problems []string
	err = eachLine(in, c.unpacked, func(number int, line []byte) error {
		defer answeredSoFar.Add(1)
		a := answer(of, number, line)
		problems = append(problems, a.Problems...)
		return writeLine(stdout, a)
	})
	return errors.Join(err, untrue(problems))
}

// eachLine calls yield with each line of r, which may be gzipped (see [convert.Unzip]),
// numbered from 1 and without its end; a line may be of any length.
func eachLine(r io.Reader, unpacked int64, yield func(number int, line []byte) error) error {
	in, err := convert.Unzip(r, unpacked)
	if err != nil {
		return err
	}
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := yield(number, bytes.TrimSpace(line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// writeLine writes one answer.
func writeLine(w io.Writer, a *Answer) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(a); err != nil {
		return err
	}
	return b.Flush()
}

// answerLine answers one line, about the cluster of -f if there is one and the line has no
// objects. What is wrong with it is part of the answer.
func (c *config) answerLine(l *live, number int, line []byte) *Answer {
	var q testCase
	if err := convert.Unmarshal(line, &q); err != nil {
		return refused(nameIn(line), fmt.Errorf("line %d: %w", number, err))
	}
	own, err := c.with(q.Options)
	if err != nil {
		return refused(q.Name, fmt.Errorf("line %d: options: %w", number, err))
	}
	answer := own.answerCase
	if l != nil && q.Objects == nil {
		answer = func(q *testCase) (*Answer, error) { return own.answerLive(l, q) }
	}
	a, err := answer(&q)
	if err != nil {
		return refused(q.Name, fmt.Errorf("line %d: %w", number, err))
	}
	return a
}

// with is c, asking under other options; as it is if there are none.
func (c *config) with(options json.RawMessage) (*config, error) {
	if options == nil {
		return c, nil
	}
	own := *c
	own.options = preemption.Options{}
	if err := decodeOptions(options, &own.options); err != nil {
		return nil, err
	}
	own.rules = cmp.Or(own.options.Rules, c.rules)
	return &own, nil
}

// nameIn finds the name of a case whose other fields cannot be read.
func nameIn(line []byte) string {
	var named struct {
		Name string `json:"name"`
	}
	_ = convert.Unmarshal(line, &named)
	return named.Name
}

func (c *config) answerCase(q *testCase) (*Answer, error) {
	rules, now, err := c.defaults(q)
	if err != nil {
		return nil, err
	}
	if q.any() || q.Apply || len(q.Preemptors) > 0 {
		return nil, errors.New("reset, set, remove, cordon, bind, apply, preemptors: they are for lines about the cluster of -f, without objects of their own")
	}
	preemptor, err := q.preemptor()
	if err != nil {
		return nil, err
	}
	objects, err := convert.Split(q.Objects)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	dump, err := c.reading(now).Dump(objects)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	if rules == preemption.Kubernetes136 && !q.Nominated {
		forgetNominations(&dump.Snapshot, preemptor)
	}
	o := c.asked(rules, q.FairSharing)
	r, err := ask(o, preemptor, &dump.Snapshot)
	if err != nil {
		return nil, dump.Locate(err)
	}
	a := answered(q.Name, preemptor.Kind, r)
	a.Notes = c.notes(dump)
	a.Problems = c.problems(o, preemptor, &dump.Snapshot, r)
	if a.WhyNot, err = asking(q.WhyNot, o, preemptor, &dump.Snapshot); err != nil {
		return nil, fmt.Errorf("whyNot: %w", err)
	}
	return a, nil
}

// forgetNominations leaves only the preemptor its nominated node. A scheduler counts
// the nominations in its own memory, of the pods in its queue; the recorded answers
// of v1.36.3 are those of a scheduler that has just the preemptor in its queue: in
// all four of them where another pod's nomination would matter, it does not count.
func forgetNominations(s *preemption.Snapshot, of preemption.Preemptor) {
	for i := range s.Pods {
		p := &s.Pods[i]
		itself := of.Kind == cluster.KindPod && p.Name == of.Name
		member := of.Kind == cluster.KindPodGroup && p.Group == of.Name
		if p.Namespace != of.Namespace || !itself && !member {
			p.NominatedNode = ""
		}
	}
}

// defaults reads the rules and the moment of a case.
func (c *config) defaults(q *testCase) (preemption.Rules, time.Time, error) {
	now, err := parseTime(q.Now)
	if err != nil {
		return "", now, fmt.Errorf("now: %w", err)
	}
	if now.IsZero() {
		now = c.now
	}
	if q.Rules == "" {
		return c.rules, now, nil
	}
	rules, ok := rulesByName[q.Rules]
	if !ok {
		return "", now, fmt.Errorf("rules: %q is not %s", q.Rules, rulesWanted)
	}
	return rules, now, nil
}
