package ask

import (
	"errors"
	"iter"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/checked"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Move is where a pod goes that has to leave its node.
type Move struct {
	Pod  cluster.PodID
	Node cluster.NodeID
}

// Landing is the what-if in which the preemptor has its places and some pods have left their nodes, who are seated
// elsewhere one after the other: each as a lone pod beside those before it.
type Landing struct {
	q     *Question
	pods  []cluster.PodID // who moves
	reach []reach         // by pod of pods: how many moves may follow from its own
	stays []bool          // likewise: it need not move after all; see spares
	freed []cluster.NodeID
	trial *domain.GangTrial      // of the preemptor's members, then of pods
	under []domain.State         // its constraints
	at    int                    // how many of them are the preemptor's and have a place
	first map[int]cluster.NodeID // by shape of the trial: no node before it takes one more; see seat
}

// NewLanding returns the landing of pods where the preemptor is at. Who is nominated to a node counts there for all of
// them if he does for the least important one.
func (q *Question) NewLanding(at []domain.Assignment, pods []cluster.PodID) (*Landing, error) {
	l := &Landing{q: q, pods: pods, reach: slices.Repeat([]reach{q.Chain()}, len(pods)), stays: make([]bool, len(pods)), at: len(at)}
	return l, l.begin(at)
}

// begin begins the trial, in which those of pods are gone who do not stay, and those of seated have their places. It is an
// error that matches [cluster.ErrInvalid] if a constraint refuses to look at all of them together: they have too many terms.
func (l *Landing) begin(seated []domain.Assignment) error {
	q, own, least := l.q, map[cluster.PodID]bool{}, l.q.Priority
	q.Landed += len(seated) + len(l.pods) + q.Index.NumNodes()/blockOfNodes
	l.first = map[int]cluster.NodeID{}
	members, shown := slices.Clone(q.Members), make([]*cluster.Pod, 0, len(q.Members)+len(l.pods))
	for _, m := range q.Members {
		own[m.ID], shown = true, append(shown, m.Pod)
	}
	for _, p := range l.pods {
		least = min(least, q.Index.Priority(p))
		members, shown = append(members, q.NewMember(q.Index.Pod(p), p)), append(shown, q.Index.Pod(p))
		l.freed = append(l.freed, q.Index.NodeOf(p))
	}
	slices.Sort(l.freed)
	l.freed = slices.Compact(l.freed)
	q.Landed += looksAName*namesOf(shown) + q.met(shown)
	var states []domain.State
	for _, c := range q.Constraints {
		s, err := c.Prepare(q.Index, shown)
		if errors.Is(err, cluster.ErrInvalid) {
			return err
		} else if err != nil {
			panic(&ranges.Stop{Err: err})
		}
		if s != nil {
			states = append(states, s)
		}
	}
	if l.under = states; len(q.landings) > 0 {
		last := len(q.landings) - 1
		l.trial, q.landings = q.landings[last], q.landings[:last]
		l.trial.Renew(members, states)
	} else {
		l.trial = domain.NewGangTrial(q.Index, members, states, func(p cluster.PodID) bool { return !own[p] && q.Index.Priority(p) >= least })
	}
	l.trial.Poll = q.Poll
	for i, p := range l.pods {
		if !l.stays[i] {
			l.trial.Remove(p)
		}
	}
	l.trial.PlaceAll(seated)
	return nil
}

// Seated is how many looks constraints took to find fractions of devices their seats; seatsALook are as many as one look of a landing.
func Seated(states []domain.State) (looks int) {
	for _, s := range states {
		if d, ok := s.(interface{ Seated() int64 }); ok {
			looks += int(d.Seated())
		}
	}
	return looks
}

const seatsALook = 16

// looksAName is for how many looks it counts to read what a pod names.
const looksAName = 4

// met is how many label sets of the cluster affinity terms of pods are compared with, and how many pods have tokens that they have.
func (q *Question) met(pods []*cluster.Pod) (n int) {
	for _, p := range pods {
		for _, name := range p.Tokens {
			if t := q.Index.Tokens().ByName(name); t != cluster.NoToken {
				n += len(q.Index.Tokens().Holders(t))
			}
		}
		for _, terms := range [...][]cluster.AffinityTerm{p.Affinity, p.AntiAffinity} {
			for i := range terms {
				n += len(q.Index.LabelSets().Candidates(terms[i].Selector))
			}
		}
	}
	return n
}

// namesOf is how many labels and tolerations pods have, and what their terms name, which are read in about as many looks.
func namesOf(pods []*cluster.Pod) (n int) {
	selector := func(s *disruption.Selector) {
		if s != nil {
			n += len(s.MatchLabels)
			for _, r := range s.MatchExpressions {
				n += len(r.Values)
			}
		}
	}
	for _, p := range pods {
		n += len(p.Labels) + len(p.Tokens) + len(p.Tolerations)
		if p.NodeAffinity != nil {
			for _, t := range p.NodeAffinity.Terms {
				for _, r := range slices.Concat(t.Labels, t.Fields) {
					n += 1 + len(r.Values)
				}
			}
		}
		for _, terms := range [][]cluster.AffinityTerm{p.Affinity, p.AntiAffinity} {
			for _, t := range terms {
				n += 1 + len(t.Namespaces)
				selector(t.Selector)
				selector(t.NamespaceSelector)
			}
		}
		for _, s := range p.Spread {
			n++
			selector(s.Selector)
		}
	}
	return n
}

// close ends the use of the landing, whose trial another one may have, unless nominated pods make a difference.
func (l *Landing) close() {
	if l.q.anyNominated() {
		return
	}
	l.trial.Poll = nil
	l.trial.UnplaceTo(0)
	for _, p := range l.pods {
		if l.trial.Gone(p) {
			l.trial.Return(p)
		}
	}
	l.q.landings = append(l.q.landings, l.trial)
}

// anyNominated reports whether a pod is nominated to some node.
func (q *Question) anyNominated() bool {
	if q.nominated == 0 {
		q.nominated = -1
		for n := range q.Index.Nodes() {
			if len(q.Index.Nominees(n)) > 0 {
				q.nominated = 1
				break
			}
		}
	}
	return q.nominated > 0
}

// member is the i-th pod as a member of the trial.
func (l *Landing) member(i int) domain.MemberID { return domain.MemberID(len(l.q.Members) + i) }

// Member is the i-th pod, compiled.
func (l *Landing) Member(i int) *domain.Member { return l.trial.Member(l.member(i)) }

// Seat seats the i-th pod on node n, and says why not if it does not fit there.
func (l *Landing) Seat(i int, n cluster.NodeID) domain.Reason {
	seats := Seated(l.under)
	why := l.trial.CanPlace(l.member(i), n)
	l.q.Landed += 1 + (Seated(l.under)-seats)/seatsALook
	if why.OK() {
		l.trial.Place(l.member(i), n)
	}
	return why
}

// moves lists who is seated, in order.
func (l *Landing) moves() (list []Move) {
	for _, a := range l.trial.Assignments()[l.at:] {
		list = append(list, Move{l.pods[int(a.Member)-len(l.q.Members)], a.Node})
	}
	return list
}

// open are the nodes from one on that may have room for the i-th pod: those that have it as things stand, and those that
// somebody has left, its own among them.
func (l *Landing) open(i int, from cluster.NodeID) iter.Seq[cluster.NodeID] {
	p := l.pods[i]
	room := l.q.roomsFor(p, 0)
	return func(yield func(cluster.NodeID) bool) {
		k, _ := slices.BinarySearch(l.freed, from)
		freed, n := l.freed[k:], l.q.nextRoom(room, p, from, cluster.NoNode)
		for n != cluster.NoNode || len(freed) > 0 {
			next := n
			if len(freed) > 0 && (n == cluster.NoNode || freed[0] <= n) {
				next, freed = freed[0], freed[1:]
			}
			if next == n {
				n = l.q.nextRoom(room, p, n+1, cluster.NoNode)
			}
			if !yield(next) {
				return
			}
		}
	}
}

// seatNow seats the i-th pod on the first node but its own on which it fits as things stand. Where nothing but room decides, no
// node before that, and before those that others did not go to as they came from there, takes another one like it.
func (l *Landing) seatNow(i int) bool {
	own, shape := l.q.Index.NodeOf(l.pods[i]), l.trial.Shape(l.member(i))
	from := max(l.first[shape], 0)
	l.q.Landed++ // to look for nodes with room
	full, seated := true, false
	for n := range l.open(i, from) {
		if n != own && l.Seat(i, n).OK() {
			seated = true
		}
		if full && (n == own || seated) {
			full, from = false, n
		}
		if seated {
			break
		}
	}
	if full {
		from = cluster.NodeID(l.q.Index.NumNodes())
	}
	if l.trial.Alike(l.member(i), l.member(i)) {
		l.first[shape] = from
	}
	return seated
}

// seat seats the i-th pod on the first node on which it fits or, with moves that may follow from its own, on the first on
// which it does once others have left, and seats these. It reports false, and has seated nobody, if there is none.
func (l *Landing) seat(i int) bool {
	q, p := l.q, l.pods[i]
	if l.seatNow(i) {
		return true
	}
	if l.reach[i] == 0 || q.Index.Policy(p) == priority.Never {
		return false
	}
	room, own := q.roomsFor(p, l.reach[i]), q.Index.NodeOf(p)
	for n := q.nextRoom(room, p, 0, own); n != cluster.NoNode && q.Landed < q.landsTo; n = q.nextRoom(room, p, n+1, own) {
		if l.seatInTurn(i, n) {
			return true
		}
	}
	return false
}

// seatInTurn seats the i-th pod on node n once those have left whom it may evict and who may move with one less: as
// few of them as giving back leaves, who are seated in turn.
func (l *Landing) seatInTurn(i int, n cluster.NodeID) bool {
	q, p := l.q, l.pods[i]
	var leaving []victims.UnitID
	var pods []cluster.PodID
	for _, u := range q.leavingFor(n, opener{claim: q.claimOf(p), reach: l.reach[i]}) {
		unit := q.Units.Unit(u)
		own := u == q.unitOf(p) || q.Tree != nil && q.Own(unit)
		if !own && !slices.ContainsFunc(unit.Pods, l.trial.Gone) {
			leaving, pods = append(leaving, u), append(pods, unit.Pods...)
		}
	}
	if len(leaving) == 0 {
		return false
	}
	further, err := l.with(pods, nearer(l.reach[i]))
	if err != nil {
		return false
	}
	if !further.Seat(i, n).OK() {
		further.close()
		return false
	}
	further.trial.Settle()
	from := len(l.pods)
	for _, u := range leaving {
		pods := q.Units.Unit(u).Pods
		if !further.spares(from, from+len(pods)) {
			for k := range pods {
				if !further.seat(from + k) {
					further.close()
					return false
				}
			}
		}
		from += len(pods)
	}
	l.close()
	*l = *further
	return true
}

// with is l with more pods gone, of whom so many moves may follow.
func (l *Landing) with(pods []cluster.PodID, within reach) (*Landing, error) {
	m := &Landing{
		q: l.q, at: l.at, freed: slices.Clone(l.freed),
		pods: slices.Concat(l.pods, pods), reach: slices.Concat(l.reach, slices.Repeat([]reach{within}, len(pods))),
		stays: slices.Concat(l.stays, make([]bool, len(pods))),
	}
	return m, m.begin(l.trial.Assignments())
}

// spares puts the pods of a unit back, which are those from the i-th on before the end, if those who are seated fit beside them, and
// reports whether they do.
func (l *Landing) spares(i, end int) bool {
	pods := l.pods[i:end]
	for _, p := range pods {
		l.trial.Return(p)
	}
	before, seats := l.trial.Assignments(), Seated(l.under)
	fits := l.trial.Fits().OK()
	l.q.Landed += (Seated(l.under) - seats) / seatsALook
	if fits && slices.Equal(l.trial.Assignments(), before) {
		for ; i < end; i++ {
			l.stays[i] = true
		}
		return true
	}
	for _, p := range pods {
		l.trial.Remove(p)
	}
	if fits { // in another order, in which who makes room may come too late
		l.trial.UnplaceTo(0)
		l.trial.PlaceAll(before)
	}
	return false
}

// every seats the pods from the i-th on in every way, with so many looks at most, and reports whether one is good.
func (l *Landing) every(i int, looks *int) bool {
	if i == len(l.pods) {
		return true
	}
	own := l.q.Index.NodeOf(l.pods[i])
	for n := range l.open(i, 0) {
		if *looks--; *looks < 0 {
			return false
		}
		if n != own && l.Seat(i, n).OK() {
			if l.every(i+1, looks) {
				return true
			}
			l.trial.Unplace()
		}
	}
	return false
}

const (
	// mostLanded is how many looks landings may take in one question, each at a pod on a node; fewestLanded those on the
	// nodes of one of many chunks.
	mostLanded   = 1 << 20
	fewestLanded = 1 << 15

	// mostMet is with how many label sets terms may be compared in any case, to begin a landing.
	mostMet = 1 << 18

	// landingTurns is how many orders are tried, mostEvery with how many looks every way.
	landingTurns = 16
	mostEvery    = 1 << 11
)

// mayLand is how many looks landings may take: of several questions about what would help each has a fourth.
func (q *Question) mayLand() int {
	if q.NoBounds || q.Asked != nil {
		return mostLanded / 4
	}
	return mostLanded
}

// NobodyLands reports whether no victims can all move, whoever they are, with the preemptor at its places.
func (q *Question) NobodyLands(at []domain.Assignment) bool {
	b, asked := q.landing()
	return asked && b.Room() == 0 && !q.Probing && q.crowded(at) // else it counts how many have none
}

// Land says where the pods of some victims go together once the preemptor is at its places, with those who have to move for them
// within the reach that is asked for, in an order in which each fits once all of them are gone from
// theirs, and how many of the victims' have no place: the most important first, each on the first node by name on which it
// fits, on whatever node but its own. Where some have none it is tried anew, these first; then in
// every way, where these are few. Other ways may be missed, and nobody lands whose terms are more than are counted; all
// of these take half of the looks that are left, at most.
func (q *Question) Land(at []domain.Assignment, out []victims.UnitID, parts victims.Parts) (moves []Move, left int64) {
	for _, u := range out {
		left += int64(len(parts.Of(q.Units, u)))
	}
	b, _ := q.landing()
	if q.Landed >= q.mayLand() || q.NobodyLands(at) {
		return nil, left
	}
	q.landsTo = q.Landed + (q.mayLand()-q.Landed+1)/2
	pods, shown := make([]cluster.PodID, 0, left), make([]*cluster.Pod, 0, left)
	for _, u := range q.Units.Sorted(slices.Clone(out)) {
		for _, p := range parts.Of(q.Units, u) {
			pods, shown = append(pods, p), append(shown, q.Index.Pod(p))
		}
	}
	if met := q.met(shown); met > max(q.mayLand()-q.Landed, mostMet) {
		q.Landed += met
		return nil, left
	}
	for turn := 0; turn < landingTurns && q.Landed < q.landsTo; turn++ {
		l, err := q.NewLanding(at, pods)
		if err != nil {
			return moves, left
		}
		var late, others []cluster.PodID
		for i, p := range pods {
			if q.Landed < q.landsTo && l.seat(i) {
				others = append(others, p)
			} else {
				late = append(late, p)
			}
		}
		if n := int64(len(late)); n < left && l.holds(at) {
			moves, left = l.moves(), n
		}
		l.close()
		next := slices.Concat(late, others)
		if left <= b.Room() || slices.Equal(next, pods) {
			break
		}
		pods = next
	}
	if looks := mostEvery; left > b.Room() && q.Landed < q.landsTo {
		l, err := q.NewLanding(at, pods)
		if err == nil && l.every(0, &looks) {
			return l.moves(), 0
		} else if err == nil {
			l.close()
		}
	}
	return moves, left
}

// ShareLanding leaves landings one of so many parts of their looks.
func (q *Question) ShareLanding(parts int) {
	q.Landed = q.mayLand() - max(q.mayLand()/max(parts, 1), fewestLanded)
}

// crowded reports whether all nodes together have too little room for the preemptor at its places, whoever moves where.
func (q *Question) crowded(at []domain.Assignment) bool {
	q.fatesWithin(0)
	if q.stranded.spare == nil {
		q.stranded.spare = make([]int64, q.Index.NumResources())
		for n := range q.Index.Nodes() {
			for r, v := range q.Index.Free(n) {
				q.stranded.spare[r] = checked.Add(q.stranded.spare[r], max(v, 0))
			}
		}
	}
	for r, left := range q.stranded.spare {
		for _, a := range at {
			if left = checked.Sub(left, q.Members[a.Member].Request()[r]); left < 0 {
				return true
			}
		}
	}
	return false
}

// holds reports whether each fits in order also with everybody gone who moves after it.
func (l *Landing) holds(at []domain.Assignment) bool {
	seated := l.trial.Assignments()[l.at:]
	if first := l.q.Chain(); first == 0 {
		return true // they were all gone before
	}
	var pods []cluster.PodID
	for _, a := range seated {
		pods = append(pods, l.pods[int(a.Member)-len(l.q.Members)])
	}
	again, err := l.q.NewLanding(at, pods)
	if err != nil {
		return false
	}
	defer again.close()
	for i, a := range seated {
		if !again.Seat(i, a.Node).OK() {
			return false
		}
	}
	return true
}

// landing is how many of the victims' pods need not have another place, if it is asked for that they move.
func (q *Question) landing() (b Bound, asked bool) {
	for _, b := range q.Bounds(nil) {
		if b.Of == NumStranded {
			return b, true
		}
	}
	return Bound{}, false
}

// Lands reports whether it is asked for that victims move.
func (q *Question) Lands() bool {
	_, asked := q.landing()
	return asked
}

// OverrunsAt is Overruns of victims who are within all bounds only if they also land together once the preemptor
// is at its places.
func (q *Question) OverrunsAt(at []domain.Assignment, out []victims.UnitID, parts victims.Parts) []Excess {
	if list := q.Overruns(out, parts); len(list) > 0 {
		return list
	}
	return q.withLeft(nil, at, out, parts)
}

// EveryOverrunAt is OverrunsAt, but that it tells, beside other bounds, how many have no place together, too.
func (q *Question) EveryOverrunAt(at []domain.Assignment, out []victims.UnitID, parts victims.Parts) []Excess {
	return q.withLeft(q.Overruns(out, parts), at, out, parts)
}

// withLeft adds to list how many have no place together, if they are too many.
func (q *Question) withLeft(list []Excess, at []domain.Assignment, out []victims.UnitID, parts victims.Parts) []Excess {
	if b, asked := q.landing(); asked {
		if _, left := q.Land(at, out, parts); left > b.Room() {
			list = slices.DeleteFunc(list, func(e Excess) bool { return e.Same(b) }) // of each by itself
			list = append(list, Excess{Bound: b, Amount: left - b.Left, Together: true})
		}
	}
	return list
}
