package quotatext

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/preempt-go/preempt/internal/scenario"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Scenario is one question and the answer that is written down.
type Scenario struct {
	Name      string
	Snapshot  cluster.Snapshot
	Preemptor cluster.Preemptor
	Options   preemption.Options
	Want      string

	// Evict is set where only the search for victims is asked: what the workload
	// takes, in one pod set with flavors, and the resources that are not contested.
	Evict *cluster.Workload
	Free  []string
}

// Parse reads a file. The error names the line.
func Parse(text string) ([]*Scenario, error) {
	var setup []string
	var list []*Scenario
	var lines []string
	var wanted *strings.Builder
	name := ""
	flush := func() error {
		if name == "" {
			setup = lines
			return nil
		}
		s, err := build(append(append([]string{}, setup...), lines...))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.Name = name
		if wanted != nil {
			s.Want = strings.TrimSpace(wanted.String())
		}
		list = append(list, s)
		return nil
	}
	for _, line := range strings.Split(text, "\n") {
		switch heading, ok := strings.CutPrefix(line, "== "); {
		case ok:
			if err := flush(); err != nil {
				return nil, err
			}
			name, lines, wanted = heading, nil, nil
		case strings.HasPrefix(line, "----"):
			wanted = new(strings.Builder)
		case wanted != nil:
			wanted.WriteString(line + "\n")
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, " ") && len(lines) > 0:
			lines[len(lines)-1] += line
		default:
			lines = append(lines, line)
		}
	}
	return list, flush()
}

// builder makes a snapshot of lines.
type builder struct {
	s   *Scenario
	now time.Time
}

func build(lines []string) (*Scenario, error) {
	b := &builder{s: &Scenario{}, now: at(1000)}
	b.s.Snapshot.Time = b.now
	var cluster []string
	for _, line := range lines {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "nodes", "pods", "group":
			cluster = append(cluster, line)
			continue
		case "place":
			cluster = append(cluster, "preempt "+rest)
			continue
		}
		if err := b.line(line); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	b.finish()
	return b.s, b.addCluster(cluster)
}

// addCluster reads lines of package scenario: nodes, pods and who wants a place.
func (b *builder) addCluster(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	s, err := scenario.Parse("", "# Nodes.\n"+strings.Join(lines, "\n")+"\n")
	if err != nil {
		return err
	}
	to := &b.s.Snapshot
	to.Time, to.Nodes, to.Pods, to.PodGroups = s.Snapshot.Time, s.Snapshot.Nodes, s.Snapshot.Pods, s.Snapshot.PodGroups
	b.s.Preemptor = s.Preemptors[0]
	b.s.Preemptor.Pods = slices.Clone(b.s.Preemptor.Pods)
	for i := range to.Pods {
		to.Pods[i].Namespace = ""
	}
	for i := range to.PodGroups {
		to.PodGroups[i].Namespace = ""
	}
	b.s.Preemptor.Namespace = ""
	for i := range b.s.Preemptor.Pods {
		b.s.Preemptor.Pods[i].Namespace = ""
	}
	return nil
}

// at is a moment, in seconds.
func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// object is a name and what is said about it.
type object struct {
	name, in string
	pairs    []pair
}

type pair struct{ key, value string }

func (b *builder) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if word == "fair" {
		b.s.Options.Quota.FairSharing = &preemption.FairSharing{}
		for _, s := range strings.Fields(rest) {
			b.s.Options.Quota.FairSharing.Strategies = append(b.s.Options.Quota.FairSharing.Strategies, preemption.FairStrategy(s))
		}
		return nil
	}
	var objects []object
	for _, field := range strings.Fields(rest) {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			name, in, _ := strings.Cut(field, "@")
			objects = append(objects, object{name: name, in: in})
			continue
		}
		if len(objects) == 0 {
			return fmt.Errorf("%s belongs to nothing", field)
		}
		o := &objects[len(objects)-1]
		o.pairs = append(o.pairs, pair{key, value})
	}
	switch word {
	case "preempt":
		return b.preempt(objects)
	case "evict":
		return b.evict(objects)
	}
	read, ok := map[string]func(*object) error{
		"flavor": b.flavor, "cohort": b.cohort, "queue": b.queue, "local": b.local, "jobs": b.job,
	}[word]
	if !ok {
		return fmt.Errorf("%q is not flavor, cohort, queue, local, jobs, preempt, evict or fair", word)
	}
	for i := range objects {
		if err := read(&objects[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish adds what goes without saying: flavors that are named, and a LocalQueue
// for every queue.
func (b *builder) finish() {
	s := &b.s.Snapshot
	known := map[string]bool{}
	for _, f := range s.ResourceFlavors {
		known[f.Name] = true
	}
	name := func(groups []cluster.ResourceGroup) {
		for _, g := range groups {
			for _, f := range g.Flavors {
				if !known[f.Flavor] {
					known[f.Flavor] = true
					s.ResourceFlavors = append(s.ResourceFlavors, cluster.ResourceFlavor{Name: f.Flavor})
				}
			}
		}
	}
	for i := range s.ClusterQueues {
		name(s.ClusterQueues[i].Groups)
		q := s.ClusterQueues[i].Name
		s.LocalQueues = append(s.LocalQueues, cluster.LocalQueue{Name: q, ClusterQueue: q})
	}
	for i := range s.Cohorts {
		name(s.Cohorts[i].Groups)
	}
}
