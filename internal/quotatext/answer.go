package quotatext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Answer asks the library.
func (s *Scenario) Answer() (string, error) {
	if s.Evict != nil {
		return s.search()
	}
	r, err := s.Options.Preempt(s.Preemptor, &s.Snapshot)
	if err != nil {
		return "", err
	}
	return s.Render(r), nil
}

// search asks the search for victims alone.
func (s *Scenario) search() (string, error) {
	ix, err := quota.NewIndex(&s.Snapshot)
	if err != nil {
		return "", err
	}
	usage := quota.NewTree(ix).NewUsage()
	for _, r := range ix.Reservations() {
		usage.Add(r.Queue, r.Usage)
	}
	w := *s.Evict
	w.Admission = &cluster.Admission{ClusterQueue: w.Queue}
	asks, _, err := ix.Reserve(&w, ix.Now())
	if err != nil {
		return "", err
	}
	q := &quotasearch.Question{Queue: asks.Queue, Priority: asks.Priority, Ordered: asks.Ordered}
	for _, u := range asks.Usage {
		if u.Amount > 0 {
			q.Request = append(q.Request, u)
		}
		if !slices.Contains(s.Free, ix.ResourceName(u.Column)) {
			q.Contested = append(q.Contested, u.Column)
		}
	}
	order := quotasearch.NewOrder(ix.Queue(q.Queue).Preemption.Order)
	search := quotasearch.New(ix, usage, quotasearch.NewReservations(ix, order))
	var list []quotasearch.Victim
	if o := s.Options.Quota; o.FairSharing != nil {
		precision := quota.Exact
		if o.KueueFloat {
			precision = quota.KueueFloat
		}
		list = search.Fair(q, quotasearch.Strategies(o.FairSharing.Strategies), precision)
	} else {
		list = search.Classical(q)
	}
	grounds := map[string]string{}
	for _, v := range list {
		grounds[v.Workload.Name] = string(v.Reason)
	}
	return RenderVictims(grounds), nil
}

// RenderVictims writes down who goes on what ground, in order of name.
func RenderVictims(grounds map[string]string) string {
	var list []string
	for name, ground := range grounds {
		list = append(list, name+" "+ground)
	}
	slices.Sort(list)
	if len(list) == 0 {
		return "nobody"
	}
	return strings.Join(list, ", ")
}

// Render writes down an answer: the verdict, the victims in order of name with the
// ground on which they go, how far up it borrows, and the flavors where there is
// more than one to choose.
func (s *Scenario) Render(r *preemption.Result) string {
	var b strings.Builder
	b.WriteString(string(r.Verdict))
	switch r.Verdict {
	case preemption.NotEligible:
		return b.String() + ": " + r.Message
	case preemption.Infeasible:
		if r.Quota != nil && r.Quota.Lack != "" {
			return b.String() + ": " + string(r.Quota.Lack)
		}
		return b.String()
	}
	if r.Domain != "" {
		b.WriteString(" on " + r.Domain)
	}
	var victims []string
	for _, v := range r.Victims {
		if v.Quota == nil {
			victims = append(victims, v.Name)
			continue
		}
		victims = append(victims, v.Name+" "+string(v.Quota.Reason))
	}
	slices.Sort(victims)
	if len(victims) > 0 {
		b.WriteString(": " + strings.Join(victims, ", "))
	}
	if r.Quota == nil {
		return b.String()
	}
	if r.Quota.Borrowing > 0 {
		fmt.Fprintf(&b, "; borrows %d up", r.Quota.Borrowing)
	}
	if len(s.Snapshot.ResourceFlavors) > 1 {
		var flavors []string
		for _, f := range r.Quota.Flavors {
			if f.Flavor != "default" {
				flavors = append(flavors, strings.TrimSpace(f.PodSet+" "+f.Resource+" "+f.Flavor))
			}
		}
		if len(flavors) > 0 {
			b.WriteString("; " + strings.Join(flavors, ", "))
		}
	}
	if r.Quota.Counts != nil {
		fmt.Fprintf(&b, "; counts %v", r.Quota.Counts)
	}
	return b.String()
}

// Rewrite returns the text of a file with the transcripts replaced by answers, by
// the scenarios' names.
func Rewrite(text string, answers map[string]string) string {
	var b strings.Builder
	name, below := "", false
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if heading, ok := strings.CutPrefix(line, "== "); ok {
			name, below = heading, false
		}
		if below {
			if line == "" && i+1 < len(lines) {
				b.WriteString("\n")
			}
			continue
		}
		b.WriteString(line + "\n")
		if strings.HasPrefix(line, "----") {
			b.WriteString(answers[name] + "\n")
			below = true
		}
	}
	return b.String()
}
