package naivequota

import (
	"maps"
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// Options are those of a question.
type Options struct {
	Fair       bool
	Strategies []string // "a", "b"
}

// Answer is what the twin has to say about a workload.
type Answer struct {
	Status    string            // "fits", "preempt" or "unschedulable"
	Flavors   map[string]string // "podset/resource" → flavor
	Borrowing int
	Victims   map[string]string // namespace/name → ground
	Counts    []int32           // nil: as many as asked for
}

type cost struct{ mode, level int } // 0 noFit 1 noCandidates 2 preempt 3 reclaim 4 fit

type taken struct {
	set      int
	resource string
	fr       FR
	amount   int64
	cost
}

// Ask answers for the pending workload of that name.
func Ask(s *cluster.Snapshot, namespace, name string, o Options) Answer {
	w := NewWorld(s)
	i := slices.IndexFunc(s.Workloads, func(j cluster.Workload) bool { return j.Namespace == namespace && j.Name == name })
	job := &s.Workloads[i]
	i = slices.IndexFunc(s.LocalQueues, func(q cluster.LocalQueue) bool { return q.Namespace == namespace && q.Name == job.Queue })
	queue := w.Queues[s.LocalQueues[i].ClusterQueue]
	full, least, steps := []int32{}, []int32{}, int32(0)
	for _, set := range job.PodSets {
		full = append(full, set.Count)
		m := set.Count
		if set.MinCount != nil {
			m = *set.MinCount
		}
		least = append(least, m)
		steps += set.Count - m
	}
	answer := w.ask(job, queue, full, o)
	if answer.Status != "unschedulable" || steps == 0 {
		return answer
	}
	low, high := int32(0), steps+1
	for low < high {
		mid := (low + high) / 2
		counts := []int32{}
		for i := range full {
			counts = append(counts, full[i]-(full[i]-least[i])*mid/steps)
		}
		if a := w.ask(job, queue, counts, o); a.Status != "unschedulable" {
			answer, high = a, mid
			if !slices.Equal(counts, full) {
				answer.Counts = counts
			}
		} else {
			low = mid + 1
		}
	}
	return answer
}

func (w *World) ask(job *cluster.Workload, queue *Node, counts []int32, o Options) Answer {
	none := Answer{Status: "unschedulable", Flavors: map[string]string{}, Victims: map[string]string{}}
	list, ok := w.assign(job, queue, counts, o)
	if !ok {
		return none
	}
	a := Answer{Status: "fits", Flavors: map[string]string{}, Victims: map[string]string{}}
	q := &Question{W: job, Queue: queue, Request: Amounts{}, Contested: map[FR]bool{}}
	for _, t := range list {
		a.Flavors[job.PodSets[t.set].Name+"/"+t.resource] = t.fr.Flavor
		a.Borrowing = max(a.Borrowing, t.level)
		if t.amount > 0 {
			q.Request[t.fr] += t.amount
		}
		if t.mode != 4 {
			q.Contested[t.fr] = true
		}
	}
	if len(q.Contested) == 0 {
		return a
	}
	targets := w.Search(q, o)
	if len(targets) == 0 {
		return none
	}
	a.Status = "preempt"
	for _, t := range targets {
		a.Victims[t.W.Namespace+"/"+t.W.Name] = t.Reason
	}
	return a
}

// Search is the search that o asks for.
func (w *World) Search(q *Question, o Options) []Target {
	if o.Fair {
		return w.Fair(q, o.Strategies)
	}
	return w.Classical(q)
}

func (w *World) assign(job *cluster.Workload, queue *Node, counts []int32, o Options) ([]taken, bool) {
	used := Amounts{}
	var list []taken
	seen := map[int]bool{}
	for i := range job.PodSets {
		if seen[i] {
			continue
		}
		var sets []int
		for k := range job.PodSets {
			if k == i || k > i && job.PodSets[i].Group != "" && job.PodSets[k].Group == job.PodSets[i].Group {
				sets, seen[k] = append(sets, k), true
			}
		}
		asks, total := map[int]map[string]int64{}, map[string]int64{}
		for _, k := range sets {
			asks[k] = map[string]int64{}
			for r, v := range job.PodSets[k].Requests {
				asks[k][r] = v * int64(counts[k])
			}
			if group(queue, cluster.Pods) != nil {
				asks[k][cluster.Pods] = int64(counts[k])
			}
			for r, v := range asks[k] {
				total[r] += v
			}
		}
		chosen := map[string]taken{}
		for _, r := range slices.Sorted(maps.Keys(total)) {
			g := group(queue, r)
			if _, done := chosen[r]; done || g == nil && total[r] == 0 {
				continue
			}
			if g == nil {
				return nil, false
			}
			best := w.choose(job, queue, sets, g, total, used, o)
			if best == nil {
				return nil, false
			}
			maps.Copy(chosen, best)
		}
		for _, k := range sets {
			for r, v := range asks[k] {
				if c, ok := chosen[r]; ok {
					list = append(list, taken{k, r, c.fr, v, c.cost})
					used[c.fr] += v
				}
			}
		}
	}
	return list, true
}

func group(queue *Node, resource string) *cluster.ResourceGroup {
	for i := range queue.Queue.Groups {
		g := &queue.Queue.Groups[i]
		for _, q := range g.Flavors[0].Resources {
			if q.Resource == resource {
				return g
			}
		}
	}
	return nil
}

func (w *World) choose(job *cluster.Workload, queue *Node, sets []int, g *cluster.ResourceGroup, total map[string]int64, used Amounts, o Options) map[string]taken {
	f := queue.Queue.Fungibility
	better := func(a, b cost) bool {
		rank := func(c cost) int { return min(c.mode, 2) }
		switch {
		case a.mode == 0 || rank(a) != rank(b):
			return rank(a) > rank(b)
		case f.Preference == cluster.PreemptionOverBorrowing && a.level != b.level:
			return a.level < b.level
		case a.mode != b.mode:
			return a.mode > b.mode
		}
		return a.level < b.level
	}
	var best map[string]taken
	bestCost := cost{0, 1 << 30}
	for _, flavor := range g.Flavors {
		if !w.suits(job, sets, flavor.Flavor) {
			continue
		}
		worst := cost{4, 0}
		options := map[string]taken{}
		for _, q := range flavor.Resources {
			v, asked := total[q.Resource]
			if !asked {
				continue
			}
			fr := FR{flavor.Flavor, q.Resource}
			c := w.cost(job, queue, fr, v+used[fr], o)
			if better(worst, c) {
				worst = c
			}
			options[q.Resource] = taken{fr: fr, cost: c}
		}
		if better(worst, bestCost) {
			best, bestCost = options, worst
		}
		preempts := worst.mode == 2 || worst.mode == 3
		goOn := worst.mode <= 1 || preempts && f.WhenCanPreempt != cluster.StopSearch || worst.level > 0 && f.WhenCanBorrow == cluster.TryNextFlavor
		if !goOn {
			return options
		}
	}
	return best
}

// suits knows flavors without labels and taints, and node selectors.
func (w *World) suits(job *cluster.Workload, sets []int, flavor string) bool {
	for i := range w.Snapshot.ResourceFlavors {
		f := &w.Snapshot.ResourceFlavors[i]
		if f.Name != flavor {
			continue
		}
		for _, k := range sets {
			for key, want := range job.PodSets[k].NodeSelector {
				if have, ok := f.NodeLabels[key]; ok && have != want {
					return false
				}
			}
		}
		return true
	}
	return false
}

func (w *World) cost(job *cluster.Workload, queue *Node, fr FR, v int64, o Options) cost {
	if v > queue.Potential(fr) {
		return cost{0, 0}
	}
	level, smaller := w.BorrowHeight(queue, fr, v)
	if v <= w.Available(queue, fr) {
		return cost{4, level}
	}
	p := queue.Queue.Preemption
	nominal := queue.Quotas[fr].Nominal >= v
	kep83 := p.ReclaimWithinCohort == cluster.ReclaimFromAny || p.ReclaimWithinCohort == cluster.ReclaimFromLowerPriority
	reclaims := p.ReclaimWithinCohort != "" && p.ReclaimWithinCohort != cluster.QueueNever
	if !nominal && (kep83 || !(smaller || p.BorrowWithinCohort != nil || o.Fair && reclaims)) {
		return cost{0, level}
	}
	targets := w.Search(&Question{W: job, Queue: queue, Request: Amounts{fr: v}, Contested: map[FR]bool{fr: true}}, o)
	mode := 3
	for _, t := range targets {
		delete(w.In, t.Admitted)
		if t.Queue == queue {
			mode = 2
		}
	}
	level, _ = w.BorrowHeight(queue, fr, v)
	w.restore(targets)
	if len(targets) == 0 {
		mode = 1
	}
	return cost{mode, level}
}
