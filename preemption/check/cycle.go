package check

import "slices"

// shortestCycle returns the events of the shortest cycle with an eviction, which
// comes first; nil if there is none. Among equally short ones the first that was
// reached wins.
func (g *graph) shortestCycle() []Event {
	component := g.components()
	var best []Event
	for from := range g.edges {
		for _, e := range g.edges[from] {
			if e.event.Kind != Evict || component[from] != component[e.to] {
				continue
			}
			most := len(g.states)
			if best != nil {
				most = len(best) - 2
			}
			if back, ok := g.path(e.to, from, component, most); ok {
				best = append([]Event{e.event}, back...)
			}
		}
	}
	return best
}

// path returns the events of a shortest way from one situation to another of the same
// component, of at most so many events.
func (g *graph) path(from, to int, component []int, most int) ([]Event, bool) {
	type step struct {
		at, before int
		event      Event
	}
	if from == to {
		return nil, true
	}
	seen := map[int]bool{from: true}
	queue := []step{{from, -1, Event{}}}
	depth, end := 0, 1 // of the steps that are depth events away
	for i := 0; i < len(queue); i++ {
		if i == end {
			depth, end = depth+1, len(queue)
		}
		if depth >= most {
			return nil, false
		}
		for _, e := range g.edges[queue[i].at] {
			if seen[e.to] || component[e.to] != component[from] {
				continue
			}
			seen[e.to] = true
			queue = append(queue, step{e.to, i, e.event})
			if e.to != to {
				continue
			}
			var events []Event
			for at := len(queue) - 1; queue[at].before >= 0; at = queue[at].before {
				events = append(events, queue[at].event)
			}
			slices.Reverse(events)
			return events, true
		}
	}
	return nil, false
}

// components numbers the situations so that those agree from which each can be
// reached from the other: Tarjan's algorithm, without recursion.
func (g *graph) components() []int {
	n := len(g.states)
	component, low, order := make([]int, n), make([]int, n), make([]int, n)
	for i := range order {
		order[i], component[i] = -1, -1
	}
	var stack []int
	type frame struct{ at, edge int }
	next, count := 0, 0
	for root := range n {
		if order[root] >= 0 {
			continue
		}
		frames := []frame{{root, 0}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.edge == 0 && order[f.at] < 0 {
				order[f.at], low[f.at] = next, next
				next++
				stack = append(stack, f.at)
			}
			if f.edge < len(g.edges[f.at]) {
				to := g.edges[f.at][f.edge].to
				f.edge++
				switch {
				case order[to] < 0:
					frames = append(frames, frame{to, 0})
				case component[to] < 0:
					low[f.at] = min(low[f.at], order[to])
				}
				continue
			}
			at := f.at
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].at
				low[up] = min(low[up], low[at])
			}
			if low[at] != order[at] {
				continue
			}
			for {
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				component[top] = count
				if top == at {
					break
				}
			}
			count++
		}
	}
	return component
}
