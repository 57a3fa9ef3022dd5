package ask

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/lists"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// stranded knows where pods could go that would have to leave their nodes.
type stranded struct {
	fates           []*fates         // by reach, anybody first
	shapes          []int32          // by pod: of which shape it is, from 1 on; 0: not known yet, below: no shape tells all about it
	known           map[string]int32 // shapes
	texts, standing []string         // by shape: what it is known by, and what of that matters as things stand
	first           []int32          // by shape: the first that is the same as things stand
	asTheyStand     map[string]int32 // which that is
	key             []byte           // reused
	trial           domain.NodeTrial // reused
	asked           lists.Nonzero    // by pod: which resources it asks for
	needs           []need           // reused
	amounts         int              // how many are kept in rooms and leavers
	spare           []int64          // what is free on all nodes together; nil: not looked at
	free            *rooms           // as things stand; nil: not looked at
	opened          map[opener]*rooms
	top             int32 // see highestClaim
	topKnown        bool
	claims          int        // by how many running pods may evict, and one; 0: not counted
	leavers         []*leavers // by reach, anybody first
	leaving         recent[leaving, []victims.UnitID]
	own             []domain.Constraint            // what our constraints say by the pod's own terms; nil: not asked yet
	theirs          []theirs                       // and by those of others
	states          recent[string, []domain.State] // of either, by all that they read of a pod
	against         recent[string, *against]       // by the labels that terms of other pods read: which of these select a pod
	table           *noderules.Table               // nil: no pod says anything of nodes
	allowed         noderules.Nodes                // reused
}

func (q *Question) newStranded() *stranded {
	return &stranded{
		fates: make([]*fates, 2+q.Settings.Chain), leavers: make([]*leavers, 2+q.Settings.Chain), shapes: make([]int32, q.Index.NumPods()),
		known: map[string]int32{}, asTheyStand: map[string]int32{}, texts: []string{""}, standing: []string{""}, first: []int32{0},
	}
}

// reach is how many moves may follow from one another where it is asked whether a pod fits: with 0 as
// things stand, with 1 those may leave who would fit on another node as things stand, with 2 those
// who would fit with 1, and so on. It evicts none but those whom it may.
type reach int

// anybody lets everyone leave, whatever becomes of them.
const anybody reach = -1

// fates are where pods could go within one reach.
type fates struct {
	hosts  []hosts                  // by shape
	kin    map[kin]hosts            // of those who may evict others of their unit, which do not leave for them
	alone  map[cluster.PodID]bool   // of pods that no shape tells all about: whether they fit nowhere else
	units  map[victims.UnitID]int64 // of units that go whole: how many of their pods count
	leaves []int8                   // of each unit: above zero each of its pods fits elsewhere, below zero not; 0: not asked
}

func (q *Question) newFates() *fates {
	return &fates{kin: map[kin]hosts{}, alone: map[cluster.PodID]bool{}, units: map[victims.UnitID]int64{}, leaves: make([]int8, q.Units.Len())}
}

// count counts those of pods, of unit u, whom adds admits. All of a unit are counted once, however
// many nodes they are on.
func (f *fates) count(q *Question, u victims.UnitID, pods []cluster.PodID, adds func(cluster.PodID) bool) (n int64) {
	whole := len(pods) == len(q.Units.Unit(u).Pods)
	if n, known := f.units[u]; known && whole {
		return n
	}
	for _, p := range pods {
		if adds(p) {
			n++
		}
	}
	if whole {
		f.units[u] = n
	}
	return n
}

// kin are pods of one shape in a unit of several.
type kin struct {
	shape int32
	unit  victims.UnitID
}

// hosts are two nodes that pods of one shape fit on, or all where they are fewer.
type hosts struct {
	known bool
	nodes []cluster.NodeID
	tied  bool // a constraint looks beyond a node, so that each pod is looked at by itself
}

// numStranded counts those of pods, of one unit, that fit on no node but their own, within the
// reach that is asked for.
func (q *Question) numStranded(u victims.UnitID, pods []cluster.PodID) int64 {
	return q.fatesWithin(q.Chain()).count(q, u, pods, func(p cluster.PodID) bool { return q.isStranded(p, q.Chain()) })
}

// numInTurn counts those of them that would fit on one if they evicted others, whatever becomes of
// these, which they may.
func (q *Question) numInTurn(u victims.UnitID, pods []cluster.PodID) int64 {
	if q.NoCascade {
		return 0
	}
	return q.fatesWithin(anybody).count(q, u, pods, func(p cluster.PodID) bool { return q.isStranded(p, q.Chain()) && !q.isStranded(p, anybody) })
}

// Follows says how many moves have to follow from that of running pod p for it to fit on a node but its own, at most
// as many as are asked for. Where ok is false it fits on none, unless it evicts others whatever becomes of
// these.
func (q *Question) Follows(p cluster.PodID) (moves int, evicts, ok bool) {
	for within := reach(0); within <= q.Chain(); within++ {
		if !q.isStranded(p, within) {
			return int(within), false, true
		}
	}
	return 0, !q.NoCascade && !q.isStranded(p, anybody), false
}

// AsksWhoMoves reports whether a criterion or limit asks who has another place.
func (q *Question) AsksWhoMoves() bool {
	asked := func(c victims.Criterion) bool { return c == victims.CriterionStranded || c == victims.CriterionCascade }
	return slices.ContainsFunc(q.Ranking, asked) || slices.ContainsFunc(q.Limits, func(b Bound) bool { return b.Of == NumStranded })
}

// Chain is the reach that is asked for.
func (q *Question) Chain() reach {
	if q.NoCascade {
		return 0
	}
	return reach(q.Settings.Chain)
}

// fatesWithin is what is known of them within a reach.
func (q *Question) fatesWithin(of reach) *fates {
	if q.stranded == nil {
		q.stranded = q.newStranded()
	}
	known := &q.stranded.fates[of-anybody]
	if *known == nil {
		*known = q.newFates()
	}
	return *known
}

// ShareFates lets q know what is known of where pods could go from another question of the same preemptor that is not asked meanwhile.
func (q *Question) ShareFates(of *Question) {
	if of.AsksWhoMoves() {
		of.fatesWithin(0)
		q.stranded, q.Compared = of.stranded, of.Compared
	}
}

// isStranded reports whether running pod p fits on no node but its own within a reach, with what it may
// evict.
func (q *Question) isStranded(p cluster.PodID, within reach) bool {
	if within != 0 && q.Index.Policy(p) == priority.Never {
		within = 0
	}
	if within != 0 && !q.isStranded(p, nearer(within)) {
		return false
	}
	known, own := q.fatesWithin(within), q.Index.NodeOf(p)
	if of := q.hostsFor(known, p, within); of.known && !of.tied {
		return !slices.ContainsFunc(of.nodes, func(n cluster.NodeID) bool { return n != own })
	}
	alone, found := known.alone[p]
	if !found {
		alone = !q.anyRoom(p, own, within) || len(q.hostsOf(p, q.statesOf(q.Index.Pod(p)), 1, own, within, "")) == 0
		known.alone[p] = alone
	}
	return alone
}

// hostsFor are those of running pod p within a reach, unless it is to be looked at by itself.
func (q *Question) hostsFor(known *fates, p cluster.PodID, within reach) hosts {
	shape, own := q.shapeOf(p), q.unitOf(p)
	switch {
	case shape <= 0:
		return hosts{}
	case within == 0 || !q.May(own, q.claimOf(p)):
		key := q.stranded.texts[shape]
		if within == 0 {
			shape, key = q.stranded.first[shape], q.stranded.standing[shape]
		}
		if n := int(shape) + 1 - len(known.hosts); n > 0 {
			known.hosts = append(known.hosts, make([]hosts, n)...)
		}
		if !known.hosts[shape].known {
			known.hosts[shape] = q.findHosts(p, within, key)
		}
		return known.hosts[shape]
	case len(q.Units.Unit(own).Pods) == 1: // what is its own it does not evict
		return hosts{}
	}
	of, found := known.kin[kin{shape, own}]
	if !found {
		of = q.findHosts(p, within, string(binary.AppendUvarint([]byte(q.stranded.texts[shape]), uint64(own))))
		known.kin[kin{shape, own}] = of
	}
	return of
}

// shapeOf is the shape of running pod p: all of one fit on the same nodes, and may evict the same
// pods, but for their own. Below zero: p is asked about by itself.
func (q *Question) shapeOf(p cluster.PodID) int32 {
	s, pod := q.stranded, q.Index.Pod(p)
	if shape := s.shapes[p]; shape != 0 {
		return shape
	}
	shape := int32(-1)
	shown := *pod
	if q.Filter == nil { // who else reads them is asked about each pod by itself
		shown.Labels, shown.Annotations, shown.Class, shown.Group, shown.Queue = nil, nil, "", "", ""
	}
	key, keyed := ShapeKey(s.key[:0], &shown, q.Index.Request(p), q.Index.Priority(p), nil, true)
	if keyed && len(q.OwnConstraints) == 0 && len(pod.Affinity)+len(pod.AntiAffinity)+len(pod.Spread)+len(pod.Tokens) == 0 {
		for _, d := range pod.Devices {
			key = binary.AppendVarint(binary.AppendVarint(appendText(key, d.Resource), int64(d.Count)), d.Fraction)
		}
		c := q.claimOf(p)
		key = appendText(key, q.termsAgainst(pod).text)
		end := len(key)
		key = binary.AppendVarint(binary.AppendVarint(key, c.RanSeconds), c.Evicted.UnixNano())
		var known bool
		if shape, known = s.known[string(key)]; !known {
			shape = int32(len(s.known) + 1)
			text := string(key)
			standing, first := text, shape
			if q.Filter == nil && !q.anyNominated() { // nobody asks for its priority, the first four bytes of key
				standing = text[4:end]
			}
			if of, is := s.asTheyStand[standing]; is {
				first = of
			}
			s.known[text], s.asTheyStand[standing] = shape, first
			s.first, s.texts, s.standing = append(s.first, first), append(s.texts, text), append(s.standing, standing)
		}
	}
	s.key, s.shapes[p] = key, shape
	return shape
}

// nearer is the reach before.
func nearer(within reach) reach {
	if within == anybody {
		return 0
	}
	return within - 1
}

// unitOf is the unit of pod p.
func (q *Question) unitOf(p cluster.PodID) victims.UnitID {
	u, _ := q.Units.UnitOf(p)
	return u
}

// claimOf is what eligibility reads of pod p, if it asks.
func (q *Question) claimOf(p cluster.PodID) victims.Claim {
	c := victims.Claim{Priority: q.Index.Priority(p)}
	if q.Protections != nil && q.Protections.ReadsHistory() {
		c.Add(q.Index.Pod(p).RanSeconds, q.Index.Pod(p).Evictions)
	}
	return c
}

// findHosts looks for the hosts of p, and of all others for whom key stands.
func (q *Question) findHosts(p cluster.PodID, within reach, key string) hosts {
	if !q.anyRoom(p, cluster.NoNode, within) {
		return hosts{known: true}
	}
	states := q.statesOf(q.Index.Pod(p))
	if slices.ContainsFunc(states, looksBeyond) {
		return hosts{known: true, tied: true}
	}
	return hosts{known: true, nodes: q.hostsOf(p, states, 2, cluster.NoNode, within, key)}
}

// looksBeyond reports whether a constraint looks beyond a node.
func looksBeyond(s domain.State) bool { return !s.Scope().NodeLocal }

// Hopeless reports whether one of states says that the pod that it is about does not fit on node n, whatever is evicted anywhere.
func Hopeless(states []domain.State, n cluster.NodeID) bool {
	return slices.ContainsFunc(states, func(s domain.State) bool {
		b, ok := s.(domain.Bounder)
		return ok && !b.Hopeless(0, n).OK()
	})
}

// allowed are the nodes that pod may run on by what it says of nodes; nil: it says little, and wanted is false. It is good until the next
// call.
func (q *Question) allowed(pod *cluster.Pod, wanted bool) noderules.Nodes {
	if !wanted && len(pod.NodeSelector)+len(pod.Tolerations) == 0 && pod.NodeAffinity == nil {
		return nil
	}
	s := q.stranded
	if s.table == nil {
		s.table = noderules.NewTable(q.Index)
	}
	s.allowed = s.table.Allowed(s.allowed[:0], pod)
	return s.allowed
}

// hostsOf lists up to most nodes, but one, on which running pod p would fit if it left its own and those
// within reach left there. What is in its own unit goes for it no more. Seats of many fractions
// count as comparisons: once for each reach and key, or for p where key is empty.
func (q *Question) hostsOf(p cluster.PodID, states []domain.State, most int, but cluster.NodeID, within reach, key string) (list []cluster.NodeID) {
	q.GoOn()
	defer func(before int) {
		if n := (Seated(states) - before) / seatsALook; n > fewCompared {
			q.compare("seats within "+strconv.Itoa(int(within))+cmp.Or(key, " pod "+strconv.Itoa(int(p))), n)
		}
	}(Seated(states))
	t, by := &q.stranded.trial, opener{claim: q.claimOf(p), reach: within}
	own := q.unitOf(p)
	room := q.roomsFor(p, within) // which tells who leaves before the trial is begun
	local := !slices.ContainsFunc(states, looksBeyond)
	allowed := q.allowed(q.Index.Pod(p), !local)
	next := func(n cluster.NodeID) cluster.NodeID {
		n = q.nextRoom(room, p, n, but)
		for allowed != nil && n != cluster.NoNode && !allowed.Has(n) {
			if n = allowed.Next(n); n != cluster.NoNode {
				n = q.nextRoom(room, p, n, but)
			}
		}
		return n
	}
	member := q.NewMember(q.Index.Pod(p), p)
	t.Ask(q.Index, member, states, domain.Nominees{Self: p, Priority: q.Index.Priority(p)})
	defer t.Restore()
	for n := next(0); n != cluster.NoNode; n = next(n + 1) {
		if !member.Static(q.Index.Node(n)).OK() || Hopeless(states, n) {
			continue
		}
		t.Reset(n)
		if but != cluster.NoNode && len(states) > 0 {
			t.Remove(p)
		}
		if !local {
			shut, by := t.Shut(within != 0)
			if q.dropShut(allowed, shut, by); !allowed.Has(n) {
				continue
			}
		}
		if within != 0 {
			for _, u := range q.leavingFor(n, by) {
				if u == own {
					continue
				}
				pods := q.Units.Unit(u).Pods
				if local { // the others change nothing on the node
					pods = q.PodsOn(u, n)
				}
				for _, p := range pods {
					t.Remove(p)
				}
			}
		}
		if t.Fits().OK() {
			if list = append(list, n); len(list) == most {
				break
			}
		}
	}
	return list
}

// dropShut leaves shut out of allowed, but for nodes on which pod by may leave, unless that is NoPod; see [domain.NodeTrial.Shut].
func (q *Question) dropShut(allowed noderules.Nodes, shut []cluster.NodeID, by cluster.PodID) {
	var open []cluster.NodeID
	if by != cluster.NoPod {
		if u, ok := q.Units.UnitOf(by); ok {
			for _, p := range q.Units.Unit(u).Pods {
				if n := q.Index.NodeOf(p); n != cluster.NoNode && allowed.Has(n) {
					open = append(open, n)
				}
			}
		}
	}
	for _, n := range shut {
		allowed.Drop(n)
	}
	for _, n := range open {
		allowed.Add(n)
	}
}
