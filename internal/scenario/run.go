package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// Question is one of the questions that a scenario asks.
type Question struct {
	Title     string // how it differs from the scenario's other questions; empty if it is the only one
	Snapshot  *preemption.Snapshot
	Preemptor preemption.Preemptor
	Options   preemption.Options
}

// Questions lists every combination of preemptor, time, sampling and rules, in the
// order of the file.
func (s *Scenario) Questions() []Question {
	rules, samplings, times := s.Rules, []*preemption.Sampling{nil}, s.Times
	if len(rules) == 0 {
		rules = []preemption.Rules{""}
	}
	if len(s.Samplings) > 0 {
		samplings = samplings[:0]
	}
	for i := range s.Samplings {
		samplings = append(samplings, &s.Samplings[i])
	}
	if len(times) == 0 {
		times = []time.Time{s.Snapshot.Time}
	}
	var out []Question
	for _, p := range s.Preemptors {
		for _, now := range times {
			snapshot := s.Snapshot
			snapshot.Time = now
			for _, sampling := range samplings {
				for _, r := range rules {
					q := Question{Snapshot: &snapshot, Preemptor: p, Options: s.Options}
					q.Options.Rules, q.Options.Sampling = r, sampling
					q.Options.Candidates, q.Options.Explain = true, true
					q.Title = title(s, q)
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// title names what of a question the scenario varies.
func title(s *Scenario, q Question) string {
	var parts []string
	if len(s.Preemptors) > 1 {
		name := q.Preemptor.Name
		if name == "" {
			name = q.Preemptor.Pods[0].Name
		}
		if q.Preemptor.Placement != nil {
			name += " placed"
		}
		parts = append(parts, name)
	}
	if len(s.Times) > 1 {
		parts = append(parts, "at "+q.Snapshot.Time.Format(time.TimeOnly))
	}
	if sampling := q.Options.Sampling; len(s.Samplings) > 1 {
		parts = append(parts, fmt.Sprintf("%d%% from %d", sampling.Percent, sampling.Offset))
	}
	if len(s.Rules) > 1 {
		parts = append(parts, string(q.Options.Rules))
	}
	return strings.Join(parts, ", ")
}

// Transcript asks every question of s and writes down the answers; questions with
// equal answers one after the other share one.
func (s *Scenario) Transcript() string {
	var b strings.Builder
	last := ""
	for i, q := range s.Questions() {
		answer := s.answer(q)
		if i > 0 && answer == last {
			text := strings.TrimSuffix(b.String(), answer)
			b.Reset()
			b.WriteString(text)
		}
		if q.Title != "" {
			fmt.Fprintf(&b, "-- %s\n", q.Title)
		}
		b.WriteString(answer)
		last = answer
	}
	return b.String()
}

func (s *Scenario) answer(q Question) string {
	var b strings.Builder
	r, err := q.Options.Preempt(q.Preemptor, q.Snapshot)
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(&b, "error: %s\n", line)
		}
		return b.String()
	}
	render(&b, s, q, r)
	return b.String()
}

// File is the scenario's text with transcript in place of the one that it wants.
func (s *Scenario) File(transcript string) string { return s.Question + divider + "\n" + transcript }
