package relation

import (
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/check/internal/suits"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// devices are pools of devices of which a pod takes whole ones or a fraction of one.
// Running pods hold those that they say they hold; who does not say, is nominated or placed
// is taken to sit as well as it can.
type devices struct {
	q       *Question
	seating map[*cluster.Node]*suits.Seating // of nodes that somebody looked at
	members map[*cluster.Node][]int
	moved   map[*cluster.Node][]moved     // of nodes that nobody looked at, as far as the index does not know
	first   []int                         // by member: the first that asks for the same
	wants   map[int]map[string]suits.Want // by these
}

// moved is one who came (+1), or left (-1).
type moved struct {
	pod *cluster.Pod
	by  int64
}

func newDevices(q *Question) Relation {
	if !slices.ContainsFunc(q.Members, func(m *cluster.Pod) bool { return len(m.Devices) > 0 }) {
		return nil
	}
	d, known := &devices{q: q, seating: map[*cluster.Node]*suits.Seating{}, members: map[*cluster.Node][]int{}, moved: map[*cluster.Node][]moved{}, wants: map[int]map[string]suits.Want{}}, map[string]int{}
	for i, m := range q.Members {
		text := AsText(m.Devices)
		if _, is := known[text]; !is {
			known[text], d.wants[i] = i, suits.Wants(m)
		}
		d.first = append(d.first, known[text])
	}
	return d
}

// Local reports whether r looks at nobody but those on a node to say who fits there.
func Local(r Relation) bool { _, is := r.(*devices); return is }

// Final are those of list to ask whether a pod never fits, where the first that it does not fit says so: without devices, which need much
// work, if no others come after them.
func Final(list []Relation) []Relation {
	if last := len(list) - 1; last >= 0 && Local(list[last]) {
		return list[:last]
	}
	return list
}

// Monotone: the fractions that all ask for who do not say which device they hold are equal
// for each resource; otherwise room may, rarely, be missed.
func (d *devices) Monotone() bool {
	size := map[string]int64{}
	for _, m := range d.q.Members {
		for _, r := range m.Devices {
			size[r.Resource] += 0
		}
	}
	equal := func(p *cluster.Pod, runs bool) bool {
		for _, r := range p.Devices {
			if had, wanted := size[r.Resource]; wanted && r.Count == 0 && !(runs && len(r.Assigned) > 0) {
				if had != 0 && had != r.Fraction {
					return false
				}
				size[r.Resource] = r.Fraction
			}
		}
		return true
	}
	for _, m := range d.q.Members {
		if !equal(m, false) {
			return false
		}
	}
	for i := range d.q.Snapshot.Pods {
		if p := &d.q.Snapshot.Pods[i]; !equal(p, p.Node != "") {
			return false
		}
	}
	return true
}

// InWay: of those on the same node one of each kind, as any of them sits like the others.
func (d *devices) InWay(_ *cluster.Pod, n *cluster.Node) (list []int) {
	known := map[int]bool{}
	for _, m := range d.members[n] {
		if !known[d.first[m]] {
			known[d.first[m]], list = true, append(list, m)
		}
	}
	return list
}

// on is who takes which devices of n.
func (d *devices) on(n *cluster.Node) *suits.Seating {
	if d.seating[n] == nil {
		if d.q.Index != nil {
			d.seating[n] = d.q.Index.seating(n).Clone()
			for _, m := range d.moved[n] {
				d.seating[n].Take(m.pod, true, m.by)
			}
		} else {
			d.seating[n] = suits.NewSeating(n, d.q.Staying(n), nil)
		}
	}
	return d.seating[n]
}

func (d *devices) Move(p *cluster.Pod, n *cluster.Node, by int) {
	switch runs := p.Node == n.Name; {
	case len(p.Devices) == 0:
	case !runs: // it is nominated
		d.on(n).Take(p, false, int64(by))
	case d.seating[n] != nil:
		d.seating[n].Take(p, true, int64(by))
	case d.q.Index != nil: // who has not moved is counted there; else nobody is yet
		d.moved[n] = append(d.moved[n], moved{p, int64(by)})
	}
}

func (d *devices) Place(m int, n *cluster.Node, by int) {
	if by > 0 {
		d.members[n] = append(d.members[n], m)
	} else if i := slices.Index(d.members[n], m); i >= 0 {
		d.members[n] = slices.Delete(d.members[n], i, i+1)
	}
	if len(d.q.Members[m].Devices) > 0 {
		d.on(n).Take(d.q.Members[m], false, int64(by))
	}
}

// Misfit: a kind of devices has no room for m beside the guests, or could have none.
func (d *devices) Misfit(number int, at *cluster.Node) (check domain.Check, never bool) {
	m := d.q.Members[number]
	wants := d.wants[d.first[number]]
	for resource, w := range wants {
		if pool, ok := at.Devices[resource]; !ok || !w.Suits(pool) {
			return domain.CheckDevice, true
		}
	}
	if d.q.Index != nil && d.seating[at] == nil && d.moved[at] == nil && d.q.Index.seating(at).Full(m) {
		return domain.CheckDevice, false
	}
	seating := d.on(at)
	if d.q.Placed(number) != at {
		seating.Take(m, false, +1)
		defer seating.Take(m, false, -1)
	}
	for resource := range wants {
		if !seating.Seats(resource) {
			return domain.CheckDevice, false
		}
	}
	return "", false
}

// tokens are the exclusive things that one pod at a time holds, on whatever node.
type tokens struct {
	number  map[string]int  // of each that a member asks for
	held    []int           // by number: how many hold it
	wanted  [][]int         // by number: who asks for it
	listed  map[names][]int // of many names: their numbers
	holders []*cluster.Pod  // of those that a lone pod asks for, two of each, by an index
	q       *Question
}

// names are a list of some.
type names struct {
	first *string
	len   int
}

// manyNames is of how many names it is remembered which numbers they have.
const manyNames = 64

// newTokens returns nil where tokens have no say.
func newTokens(q *Question) Relation {
	t, held := &tokens{number: map[string]int{}, listed: map[names][]int{}, q: q}, false
	for m := range q.Members {
		for _, name := range q.Members[m].Tokens {
			i, known := t.number[name]
			if !known {
				i = len(t.held)
				t.number[name], t.held, t.wanted = i, append(t.held, 0), append(t.wanted, nil)
			}
			t.wanted[i] = append(t.wanted[i], m)
		}
	}
	if len(t.number) == 0 {
		return nil
	}
	if q.Index != nil {
		for name, i := range t.number {
			list := q.Index.tokens[name]
			t.held[i] = len(list)
			for _, s := range list[:min(len(list), 2)] {
				t.holders = append(t.holders, s.pod)
			}
		}
	} else {
		for p := range q.Running {
			if len(p.Tokens) > 0 {
				t.bump(p.Tokens, +1)
			}
		}
	}
	for _, holders := range t.held {
		held = held || holders > 0
	}
	if len(q.Members) == 1 && !held { // who is only nominated is not looked at then, as upstream
		return nil
	}
	return t
}

// bump counts a holder, once for each token that it names.
func (t *tokens) bump(names []string, by int) {
	for _, i := range t.numbers(names) {
		t.held[i] += by
	}
}

// numbers are those of the tokens of a pod that a member asks for, each once.
func (t *tokens) numbers(of []string) (list []int) {
	if len(of) >= manyNames && t.listed[names{&of[0], len(of)}] != nil {
		return t.listed[names{&of[0], len(of)}]
	}
	for _, name := range of {
		if i, asked := t.number[name]; asked {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(of) >= manyNames {
		t.listed[names{&of[0], len(of)}] = append([]int{}, list...)
	}
	return list
}

func (t *tokens) Monotone() bool                               { return true }
func (t *tokens) Move(p *cluster.Pod, _ *cluster.Node, by int) { t.bump(p.Tokens, by) }
func (t *tokens) Place(m int, _ *cluster.Node, by int)         { t.bump(t.q.Members[m].Tokens, by) }

func (t *tokens) InWay(p *cluster.Pod, _ *cluster.Node) (list []int) {
	for _, i := range t.numbers(p.Tokens) {
		for _, m := range t.wanted[i] {
			if t.q.Placed(m) != nil {
				list = append(list, m)
			}
		}
	}
	return list
}

func (t *tokens) Misfit(m int, _ *cluster.Node) (check domain.Check, never bool) {
	for _, i := range t.numbers(t.q.Members[m].Tokens) {
		if t.held[i] > 0 {
			check = domain.CheckToken
		}
	}
	return check, false
}
