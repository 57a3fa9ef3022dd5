package quotasearch

// runner is the walk over one queue in a race.
type runner struct {
	other int // position among the other queues; -1: the preemptor's own
	walk  Walk
}

// race merges the walks over several queues: a heap by the workloads they are at.
type race struct {
	heap []*runner
	all  []*runner // reused from race to race; in this one those up to used
	used int
}

func (r *race) reset() { r.heap, r.used = r.heap[:0], 0 }

func (r *race) len() int { return len(r.heap) }

// first is the walk whose workload goes first.
func (r *race) first() *runner { return r.heap[0] }

// spare returns a runner for the walk over a queue. Once its walk is started, it is
// entered.
func (r *race) spare(other int) *runner {
	if r.used == len(r.all) {
		r.all = append(r.all, &runner{})
	}
	w := r.all[r.used]
	w.other = other
	return w
}

// enter lets the runner that was spare take part, unless its walk is at its end.
func (r *race) enter() {
	w := r.all[r.used]
	if w.walk.Peek() == nil {
		return
	}
	r.used++
	r.heap = append(r.heap, w)
	for i := len(r.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !r.heap[i].walk.Before(&r.heap[up].walk) {
			return
		}
		r.heap[i], r.heap[up] = r.heap[up], r.heap[i]
		i = up
	}
}

// step moves the first walk on.
func (r *race) step() {
	if r.heap[0].walk.Next(); r.heap[0].walk.Peek() == nil {
		r.drop()
		return
	}
	r.sink()
}

// drop takes the first walk out.
func (r *race) drop() {
	last := len(r.heap) - 1
	r.heap[0] = r.heap[last]
	r.heap = r.heap[:last]
	r.sink()
}

func (r *race) sink() {
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(r.heap) && r.heap[child].walk.Before(&r.heap[least].walk) {
				least = child
			}
		}
		if least == i {
			return
		}
		r.heap[i], r.heap[least] = r.heap[least], r.heap[i]
		i = least
	}
}
