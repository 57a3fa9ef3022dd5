package domain

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/internal/tallies"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// spreadPlan is what a question needs to know of topology spread. It is immutable.
type spreadPlan struct {
	ix          *cluster.Index
	labels      *cluster.LabelSets
	anew        bool // book only what counts where it runs
	constraints []spreadConstraint
	of          [][]ownSpread           // of each member: its constraints
	bySet       lists.Lists             // of each label set: the constraints that book such pods, terminating ones apart if anew
	resident    map[cluster.PodID]int32 // of each pod that more than few constraints book: its number among those
	looksAt     []int32                 // of each node: the number of pods that a constraint looks at
	empty       map[string][]int32      // if anew, by namespace: the constraints with an empty selector, which book nominees alone
}

// ownSpread is a constraint as one of its members has it.
type ownSpread struct {
	constraint int32
	selfMatch  bool // it counts the member
}

// spreadConstraint is one constraint of one or more members that see it alike.
type spreadConstraint struct {
	namespace  string
	matcher    *disruption.Matcher
	empty      bool // it matches everybody, and counts nobody
	maxSkew    int32
	minDomains int32

	of         []cluster.ValueID // of each node
	domainOf   []cluster.ValueID // likewise, but only of eligible nodes
	isDomain   []bool            // of each value
	topology   *cluster.Topology
	numDomains int32
	members    []int32 // whom it counts once they are placed

	misfit, noKey Reason
}

func planSpread(ix *cluster.Index, members []*cluster.Pod, anew bool) (*spreadPlan, error) {
	plan := &spreadPlan{ix: ix, labels: ix.LabelSets(), anew: anew, looksAt: make([]int32, ix.NumNodes()), empty: map[string][]int32{}}
	plan.of, plan.bySet, plan.resident = make([][]ownSpread, len(members)), lists.New(plan.labels.Len()), map[cluster.PodID]int32{}
	known, nodes := map[string][]int32{}, noderules.NewTable(ix)
	for m, p := range members {
		key := ""
		if len(members) > 1 && len(p.Spread) > 0 {
			key = spreadKey(p)
		}
		constraints, ok := known[key]
		if !ok {
			keyed := plan.keyed(p)
			if err := tallies.Check(p, "Spread", (len(plan.constraints)+len(p.Spread))*(len(members)+ix.NumNodes())); err != nil {
				return nil, err
			}
			for i := range p.Spread {
				c, sets, err := plan.newConstraint(nodes, p, &p.Spread[i], keyed)
				if err != nil {
					return nil, err
				}
				constraints = append(constraints, int32(len(plan.constraints)))
				plan.add(c, sets, members)
			}
			known[key] = constraints
		}
		for _, c := range constraints {
			plan.of[m] = append(plan.of[m], ownSpread{c, plan.constraints[c].selects(p)})
		}
	}
	return plan, nil
}

// add adds c, which matches these label sets, and notes whom it counts. An empty selector counts nobody who is placed.
func (plan *spreadPlan) add(c spreadConstraint, sets []cluster.LabelSetID, members []*cluster.Pod) {
	i := int32(len(plan.constraints))
	for m, p := range members {
		if !c.empty && c.selects(p) {
			c.members = append(c.members, int32(m))
		}
	}
	plan.constraints = append(plan.constraints, c)
	if c.empty && plan.anew {
		plan.empty[c.namespace], sets = append(plan.empty[c.namespace], i), nil
	}
	for _, set := range sets {
		plan.bySet.Add(int(set), i)
	}
}

// spreadKey is equal for pods whose constraints have equal domains and count the same pods. Whether a member matches itself is noted for
// each apart.
func spreadKey(p *cluster.Pod) string {
	labels := maps.Clone(p.Labels)
	maps.DeleteFunc(labels, func(k, _ string) bool {
		return !slices.ContainsFunc(p.Spread, func(s cluster.Spread) bool { return slices.Contains(s.MatchLabelKeys, k) })
	})
	return words.JSON(p.Namespace, labels, p.Spread, p.NodeSelector, p.NodeAffinity, p.Tolerations)
}

// newConstraint returns a constraint of p, and the label sets whose namespace and labels match.
func (plan *spreadPlan) newConstraint(nodes *noderules.Table, p *cluster.Pod, s *cluster.Spread, keyed []bool) (c spreadConstraint, sets []cluster.LabelSetID, err error) {
	topology := plan.ix.Topology(s.TopologyKey)
	c = spreadConstraint{
		namespace: p.Namespace, maxSkew: s.MaxSkew, minDomains: max(s.MinDomains, 1),
		of: topology.Column(), isDomain: make([]bool, topology.Len()), topology: topology,
		misfit: Reason{Check: CheckSpread, Detail: "too many pods in the same " + s.TopologyKey},
		noKey:  Reason{Check: CheckSpread, Unresolvable: true, Detail: "the node has no label " + s.TopologyKey},
	}
	selector := withLabelKeys(s, p)
	if c.matcher, err = selector.Compile(); err != nil {
		return c, nil, fmt.Errorf("domain: pod %q: topology spread: %w", p.Namespace+"/"+p.Name, err)
	}
	c.empty = c.matcher.Empty()
	for _, set := range plan.labels.Candidates(selector) {
		if c.selects(plan.labels.Pod(set)) {
			sets = append(sets, set)
		}
	}
	c.findDomains(plan.ix, nodes, p, s, keyed)
	return c, sets, nil
}

func (c *spreadConstraint) selects(p *cluster.Pod) bool {
	return p.Namespace == c.namespace && c.matcher.Matches(p.Labels)
}

// withLabelKeys returns the selector of s with what its label keys stand for.
func withLabelKeys(s *cluster.Spread, owner *cluster.Pod) *disruption.Selector {
	if s.Selector == nil || len(s.MatchLabelKeys) == 0 {
		return s.Selector
	}
	merged := *s.Selector
	merged.MatchExpressions = slices.Clone(merged.MatchExpressions)
	for _, key := range s.MatchLabelKeys {
		if value, ok := owner.Labels[key]; ok {
			merged.MatchExpressions = append(merged.MatchExpressions, disruption.Requirement{Key: key, Operator: disruption.In, Values: []string{value}})
		}
	}
	return &merged
}

// keyed tells of each node whether it has the topology keys of all constraints of p.
func (plan *spreadPlan) keyed(p *cluster.Pod) []bool {
	keyed := slices.Repeat([]bool{true}, plan.ix.NumNodes())
	for i := range p.Spread {
		for n, v := range plan.ix.Topology(p.Spread[i].TopologyKey).Column() {
			keyed[n] = keyed[n] && v != cluster.NoValue
		}
	}
	return keyed
}

// findDomains tells the eligible nodes, of those that have all keys, by node policies.
func (c *spreadConstraint) findDomains(ix *cluster.Index, nodes *noderules.Table, p *cluster.Pod, s *cluster.Spread, keyed []bool) {
	rule, picky := noderules.NewRule(p), s.NodeAffinityPolicy != cluster.Ignore && picks(p)
	if picky {
		rule = nodes.Next(p)
	}
	var out []int
	for n, v := range c.of {
		switch {
		case v == cluster.NoValue:
		case !keyed[n] || picky && !rule.Matches(ix.Node(cluster.NodeID(n))) ||
			s.NodeTaintsPolicy == cluster.Honor && rule.Untolerated(ix.Node(cluster.NodeID(n))) != nil:
			out = append(out, n)
		case !c.isDomain[v]:
			c.isDomain[v] = true
			c.numDomains++
		}
	}
	if c.domainOf = c.of; len(out) > 0 {
		c.domainOf = slices.Clone(c.of)
	}
	for _, n := range out {
		c.domainOf[n] = cluster.NoValue
	}
}

// count counts the running pods for each constraint, and notes where they matter.
func (plan *spreadPlan) count() tallies.Crowd {
	counts, valueOf := make([][]int32, len(plan.constraints)), make([][]cluster.ValueID, len(plan.constraints))
	for i, c := range plan.constraints {
		counts[i], valueOf[i] = make([]int32, len(c.isDomain)), c.domainOf
	}
	crowd := tallies.NewCrowd(valueOf, len(plan.of))
	for _, set := range plan.bySet.Filled() {
		list := plan.bySet.Of(set)
		for _, p := range plan.labels.Carriers(cluster.LabelSetID(set)) {
			n, leaves := plan.ix.NodeOf(p), plan.ix.Terminating(p)
			if n == cluster.NoNode || plan.anew && leaves {
				continue
			}
			if len(list) > tallies.Few {
				plan.resident[p] = crowd.Resident(n, list)
			}
			looked := int32(0)
			for _, i := range list {
				if v := valueOf[i][n]; v != cluster.NoValue {
					if looked = 1; !leaves && !plan.constraints[i].empty {
						counts[i][v]++
					}
				}
			}
			plan.looksAt[n] += looked
		}
	}
	for i, c := range plan.constraints {
		crowd.Begin(i, tallies.New(counts[i], c.isDomain), c.members)
	}
	return crowd
}
