package simulator

import (
	"slices"
	"time"
)

// tally is what is measured while a simulation goes on.
type tally struct {
	Counts []counts `json:"counts"` // by level of priority
	Series Series   `json:"series"`
	level  []int32
}

// counts are those of one priority. Work is the amount of the measured resource times seconds.
type counts struct {
	Preemptions, Evictions, Again, Cascades, Failures int64
	Deepest                                           int32
	Useful, Wasted                                    float64
}

// Series is what went on over time, in spans of equal width.
type Series struct {
	Width time.Duration
	Spans []Span
}

// Span is a span of time; each number is the sum over its seconds, but for Wasted, which is
// the work that was lost in it.
type Span struct{ Used, Capacity, Queue, Wasted float64 }

func (s Span) plus(x Span) Span {
	return Span{s.Used + x.Used, s.Capacity + x.Capacity, s.Queue + x.Queue, s.Wasted + x.Wasted}
}

// mostSpans is how many there are at most: after that two become one.
const mostSpans = 240

func newTally(levels []int32) tally {
	return tally{Counts: make([]counts, len(levels)), Series: Series{Width: time.Minute}, level: levels}
}

// at is the span of a time.
func (s *Series) at(t time.Duration) *Span {
	for int64(t/s.Width) >= mostSpans {
		for i := range (len(s.Spans) + 1) / 2 {
			sum := s.Spans[2*i]
			if 2*i+1 < len(s.Spans) {
				sum = sum.plus(s.Spans[2*i+1])
			}
			s.Spans[i] = sum
		}
		s.Spans = s.Spans[:(len(s.Spans)+1)/2]
		s.Width *= 2
	}
	for i := int(t / s.Width); i >= len(s.Spans); {
		s.Spans = append(s.Spans, Span{})
	}
	return &s.Spans[t/s.Width]
}

// measure adds the time from one moment to another, in which nothing happened.
func (s *Simulation) measure(from, to time.Duration) {
	for from < to {
		span := s.Series.at(from)
		end := min(to, from-from%s.Series.Width+s.Series.Width)
		seconds := (end - from).Seconds()
		span.Used += float64(s.used) * seconds
		span.Capacity += float64(s.capacity) * seconds
		span.Queue += float64(s.all) * seconds
		from = end
	}
}

// useful is that a job has run for a while, and that it was worth it.
func (s *Simulation) useful(j int32, ran time.Duration) {
	s.Counts[s.amounts[j].level].Useful += float64(s.weight(j)) * ran.Seconds()
}

// wasted is that what a job has done for a while is lost.
func (s *Simulation) wasted(j int32, ran time.Duration) {
	lost := float64(s.weight(j)) * ran.Seconds()
	s.Counts[s.amounts[j].level].Wasted += lost
	s.Series.at(s.now).Wasted += lost
}

// evicted is that victim v is evicted for j, which may have been a victim itself.
func (s *Simulation) evicted(v, j int32) {
	c := &s.Counts[s.amounts[v].level]
	c.Evictions++
	if s.jobs[v].Evicted > 0 {
		c.Again++
	}
	s.jobs[v].Evicted++
	if s.jobs[j].Depth > 0 {
		c.Cascades++
	}
	s.jobs[v].Depth = s.jobs[j].Depth + 1
	c.Deepest = max(c.Deepest, s.jobs[v].Depth)
}

// failed is that the node of a job goes.
func (s *Simulation) failed(j int32) { s.Counts[s.amounts[j].level].Failures++ }

// Row is what became of the jobs of one priority, or of all.
type Row struct {
	Policy   string
	Priority string // "all": of all of them

	Jobs       int64 // that have come
	Done       int64
	Unfinished int64 // ran, and were not done at the end
	Refused    int64 // never ran

	Preemptions int64 // how often one of them evicted others
	Evictions   int64 // of one of them
	Again       int64 // of a job that had been evicted before
	Cascades    int64 // for somebody who had been evicted himself
	Deepest     int64 // most evictions in a chain in which each is for the victim of the one before
	Failures    int64 // of nodes under a job

	WaitP50, WaitP95, WaitMax time.Duration // all that a job has waited, after evictions too

	Used   float64 // of what there was of the measured resource, from 0 to 1
	Useful float64 // work, in the farm's unit: that was kept, or done by those who still run
	Wasted float64 // that was lost
}

// WastedShare is how much of the work was lost, from 0 to 1.
func (r *Row) WastedShare() float64 {
	if r.Wasted == 0 {
		return 0
	}
	return r.Wasted / (r.Useful + r.Wasted)
}

// Outcome is what came of a policy.
type Outcome struct {
	Policy Policy
	Events int64
	Rows   []Row // of all, and of each priority, the highest first
	Series Series
}

// Outcome is what came of the simulation until now.
func (s *Simulation) Outcome() *Outcome {
	o := &Outcome{Policy: s.policy, Events: s.events, Series: s.Series}
	o.Series.Spans = slices.Clone(s.Series.Spans)
	all := Row{Policy: s.policy.Name, Priority: "all"}
	var allWaits []time.Duration
	capacity := 0.0
	for _, span := range s.Series.Spans {
		capacity += span.Capacity
	}
	for level := range slices.Backward(s.levels) {
		row, waits := s.row(level, capacity)
		all.add(&row)
		allWaits = append(allWaits, waits...)
		o.Rows = append(o.Rows, row)
	}
	all.waits(allWaits)
	o.Rows = slices.Insert(o.Rows, 0, all)
	return o
}
