package verify

import "slices"

// gangFits is a region in which the members fit when they are placed one after the other,
// each on the first node that it fits on, once leave of the region are gone; empty if
// there is none. It does not look at every placement: what it finds is one, what it does
// not find there may be all the same.
func (a *answer) gangFits(leave func(region) []*unit) string {
	if a.o.Hooks != nil && a.o.Hooks.Splitter != nil {
		return "" // its domains are not known
	}
	for _, round := range a.rounds() {
		for _, r := range round {
			out := leave(r)
			for _, u := range out {
				a.leaveAll(u.pods)
			}
			fits := a.fillUp(r)
			for _, u := range out {
				a.comeBackAll(u.pods)
			}
			if fits {
				return r.name
			}
		}
	}
	return ""
}

// fillUp places members in r one after the other, says whether those that found a place
// will do, and takes them off.
func (a *answer) fillUp(r region) bool {
	from := map[string]int{}                   // by what members ask for: nodes before are full
	steps := len(a.pods) + 4*len(r.nodes) + 64 // linear in the cluster
	for _, m := range a.members {
		if a.asked.Placement != nil {
			n := a.byNode[a.asked.Placement[m.Namespace+"/"+m.Name]]
			if n != nil && len(a.misfits(m, n)) == 0 {
				a.place(m, n)
			}
			continue
		}
		shape := asText([]any{m.Requests, m.Ports, m.NodeSelector, m.NodeAffinity, m.Tolerations, m.RequiredNode})
		for i := from[shape]; i < len(r.nodes) && steps > 0; i, steps = i+1, steps-1 {
			if from[shape] = i; len(a.misfits(m, r.nodes[i])) == 0 {
				a.place(m, r.nodes[i])
				break
			}
			from[shape] = i + 1
		}
	}
	in := func(m *member) bool { return m.to != nil }
	group, _ := a.team.strays()
	ok := slices.ContainsFunc(a.members, in) && a.team.runs(in) && a.team.inVain(in) == nil && group == ""
	if a.asked.Placement != nil {
		for _, m := range a.members {
			_, given := a.asked.Placement[m.Namespace+"/"+m.Name]
			ok = ok && given == in(m)
		}
	}
	for _, m := range a.members {
		if in(m) {
			a.unplace(m)
		}
	}
	return ok
}
