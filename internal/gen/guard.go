package gen

import (
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// guard lets classes, groups and running pods say what protects them. Times lie
// close to where a rule changes its mind.
func (b *builder) guard() {
	if !b.p.Guards {
		return
	}
	for i := range b.s.PriorityClasses {
		b.guardClass(&b.s.PriorityClasses[i])
	}
	for i := range b.s.PodGroups {
		g := &b.s.PodGroups[i]
		b.guarded(&g.Guard, &g.Evictions, &g.RanSeconds)
		g.Labels = pick(b.source, nil, map[string]string{"app": "web"})
		if b.chance(len(b.s.PriorityClasses) > 0, 30) {
			g.Class = pick(b.source, b.s.PriorityClasses...).Name
		}
	}
	for i := range b.s.CompositePodGroups {
		g := &b.s.CompositePodGroups[i]
		b.guarded(&g.Guard, &g.Evictions, &g.RanSeconds)
	}
	for i := range b.s.Pods {
		p := &b.s.Pods[i]
		b.guarded(&p.Guard, &p.Evictions, &p.RanSeconds)
		if b.source(3) > 0 {
			p.Scheduled = b.moment()
		}
	}
}

func (b *builder) guardClass(c *priority.Class) {
	c.Annotations = map[string]string{}
	if b.source(2) > 0 {
		c.Annotations[priority.MinimumPreemptableAnnotation] = pick(b.source, "100", "1000", "1001", "2000")
	}
	if b.source(2) > 0 {
		c.Annotations[priority.TolerationSecondsAnnotation] = pick(b.source, "0", "-1", "3600", "7200", "9223372036")
	}
	if b.chance(true, 20) {
		c.GuaranteedSeconds = pick(b.source, int64(3600), 7200)
	}
}

// moment is a whole number of hours before now, or next to it, or an hour ahead, as clocks differ.
func (b *builder) moment() time.Time {
	return epoch.Add(6*time.Hour - time.Duration(b.source(4))*time.Hour - pick(b.source, 0, 0, time.Second, -time.Hour))
}

func (b *builder) guarded(guard **cluster.Guard, evictions *[]time.Time, ran *int64) {
	if b.chance(true, 20) {
		*guard = &cluster.Guard{Standby: b.chance(true, 20)}
		if b.source(2) > 0 {
			seconds := pick(b.source, int64(0), 3600, 7200, 10*3600)
			(*guard).GuaranteedSeconds = &seconds
		}
	}
	if !b.chance(true, 20) || b.s.Time.IsZero() {
		return
	}
	for range 1 + b.source(2) {
		*evictions = append(*evictions, b.moment())
	}
	*ran = 1800 * int64(b.source(6))
}

// Guards are guards by seed, for the questions of a Profile with Guards.
func Guards(seed uint64) victims.Guards { return drawGuards(seeded(seed)) }

func drawGuards(s source) victims.Guards {
	g := victims.Guards{Toleration: pick(s, priority.TolerationCode, "", "", priority.TolerationOff)}
	if s.chance(true, 30) {
		g.GuaranteedSeconds = pick(s, int64(3600), 3599, 7200)
	}
	if s.chance(true, 30) {
		g.EqualAfterSeconds = pick(s, int64(3600), 1)
	}
	if s.chance(true, 30) {
		g.Cooldown = victims.Cooldown{Evictions: pick(s, int32(1), 2), Seconds: pick(s, int64(3600), 7200, 7201)}
	}
	if s.chance(true, 20) {
		g.Protect = &disruption.Selector{MatchLabels: map[string]string{"app": pick(s, "web", "db")}}
	}
	return g
}
