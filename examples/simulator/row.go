package simulator

import (
	"slices"
	"strconv"
	"time"
)

// row is what became of the jobs of one level, and how long each of them has waited.
func (s *Simulation) row(level int, capacity float64) (r Row, waits []time.Duration) {
	c := &s.Counts[level]
	r = Row{
		Policy: s.policy.Name, Priority: strconv.Itoa(int(s.levels[level])),
		Preemptions: c.Preemptions, Evictions: c.Evictions, Again: c.Again, Cascades: c.Cascades, Deepest: int64(c.Deepest), Failures: c.Failures,
	}
	useful := c.Useful
	for j := range s.jobs {
		l := &s.jobs[j]
		if s.amounts[j].level != level || l.State == coming {
			continue
		}
		r.Jobs++
		waited := l.Waited
		switch l.State {
		case done:
			r.Done++
		case waiting, leaving:
			if l.State == waiting {
				waited += s.now - l.Since
			}
			if l.Run == 0 {
				r.Refused++
			} else {
				r.Unfinished++
			}
		default:
			r.Unfinished++
			waited -= max(l.Since-s.now, 0)
			useful += float64(s.weight(int32(j))) * max(s.now-l.Since, 0).Seconds()
		}
		if s.list[j].Node == "" || l.Run > 0 && waited > 0 {
			waits = append(waits, waited)
		}
	}
	if capacity > 0 {
		r.Used = (useful + c.Wasted) / capacity
	}
	unit := 3600 * float64(max(s.farm.PerUnit, 1))
	r.Useful, r.Wasted = useful/unit, c.Wasted/unit
	r.waits(waits)
	return r, waits
}

// add adds what can be added of another row.
func (r *Row) add(x *Row) {
	r.Jobs += x.Jobs
	r.Done += x.Done
	r.Unfinished += x.Unfinished
	r.Refused += x.Refused
	r.Preemptions += x.Preemptions
	r.Evictions += x.Evictions
	r.Again += x.Again
	r.Cascades += x.Cascades
	r.Deepest = max(r.Deepest, x.Deepest)
	r.Failures += x.Failures
	r.Used += x.Used
	r.Useful += x.Useful
	r.Wasted += x.Wasted
}

// waits sets the waits: of a hundred jobs, fifty have waited at most so long as the median.
func (r *Row) waits(list []time.Duration) {
	if len(list) == 0 {
		return
	}
	slices.Sort(list)
	at := func(percent int) time.Duration { return list[(len(list)*percent+99)/100-1] }
	r.WaitP50, r.WaitP95, r.WaitMax = at(50), at(95), at(100)
}
