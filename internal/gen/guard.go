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
		g.Labels = Pick(b.Source, nil, map[string]string{"app": "web"})
		if b.chance(len(b.s.PriorityClasses) > 0, 30) {
			g.Class = Pick(b.Source, b.s.PriorityClasses...).Name
		}
	}
	for i := range b.s.CompositePodGroups {
		g := &b.s.CompositePodGroups[i]
		b.guarded(&g.Guard, &g.Evictions, &g.RanSeconds)
	}
	for i := range b.s.Pods {
		p := &b.s.Pods[i]
		b.guarded(&p.Guard, &p.Evictions, &p.RanSeconds)
		if b.Source(3) > 0 {
			p.Scheduled = b.moment()
		}
	}
}

func (b *builder) guardClass(c *priority.Class) {
	c.Annotations = map[string]string{}
	if b.Source(2) > 0 {
		c.Annotations[priority.MinimumPreemptableAnnotation] = Pick(b.Source, "100", "1000", "1001", "2000")
	}
	if b.Source(2) > 0 {
		c.Annotations[priority.TolerationSecondsAnnotation] = Pick(b.Source, "0", "-1", "3600", "7200", "9223372036")
	}
	if b.chance(true, 20) {
		c.GuaranteedSeconds = Pick(b.Source, int64(3600), 7200)
	}
}

// moment is a whole number of hours before now, or next to it, or an hour ahead, as clocks differ.
func (b *builder) moment() time.Time {
	return epoch.Add(6*time.Hour - time.Duration(b.Source(4))*time.Hour - Pick(b.Source, 0, 0, time.Second, -time.Hour))
}

func (b *builder) guarded(guard **cluster.Guard, evictions *[]time.Time, ran *int64) {
	if b.chance(true, 20) {
		*guard = &cluster.Guard{Standby: b.chance(true, 20)}
		if b.Source(2) > 0 {
			seconds := Pick(b.Source, int64(0), 3600, 7200, 10*3600)
			(*guard).GuaranteedSeconds = &seconds
		}
	}
	if !b.chance(true, 20) || b.s.Time.IsZero() {
		return
	}
	for range 1 + b.Source(2) {
		*evictions = append(*evictions, b.moment())
	}
	*ran = 1800 * int64(b.Source(6))
}

// Guards are guards by seed, for the questions of a Profile with Guards.
func Guards(seed uint64) victims.Guards { return DrawGuards(Seeded(seed)) }

// DrawGuards draws rules of what protects units.
func DrawGuards(s Source) victims.Guards {
	g := victims.Guards{Toleration: Pick(s, priority.TolerationCode, "", "", priority.TolerationOff)}
	if s.chance(true, 30) {
		g.GuaranteedSeconds = Pick(s, int64(3600), 3599, 7200)
	}
	if s.chance(true, 30) {
		g.EqualAfterSeconds = Pick(s, int64(3600), 1)
	}
	if s.chance(true, 30) {
		g.Cooldown = victims.Cooldown{Evictions: Pick(s, int32(1), 2), Seconds: Pick(s, int64(3600), 7200, 7201)}
	}
	if s.chance(true, 20) {
		g.Protect = &disruption.Selector{MatchLabels: map[string]string{"app": Pick(s, "web", "db")}}
	}
	return g
}
