package ask

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// theirs is a constraint of some terms of other pods, all of which are against a pod.
type theirs = func(against ...cluster.TermID) domain.Constraint

// halver is a constraint that looks at terms of a lone pod, and at those of others.
type halver interface {
	Halves() (byOwn domain.Constraint, byTheirs theirs)
}

// statesOf are those of the constraints that have a say about pod. They belong to q.
func (q *Question) statesOf(pod *cluster.Pod) (states []domain.State) {
	s, ours := q.stranded, q.Constraints[:len(q.Constraints)-len(q.OwnConstraints)]
	if s.own == nil {
		for _, c := range ours {
			if sharing, ok := c.(interface{ Sharing() domain.Constraint }); ok {
				c = sharing.Sharing()
			}
			if h, ok := c.(halver); ok {
				byOwn, byTheirs := h.Halves()
				s.own, s.theirs = append(s.own, byOwn), append(s.theirs, byTheirs)
			} else {
				s.own = append(s.own, c)
			}
		}
	}
	tied := len(pod.Affinity)+len(pod.AntiAffinity) > 0
	if tied || len(pod.Spread)+len(pod.Tokens)+len(pod.Devices) > 0 {
		text, err := json.Marshal([]any{
			pod.Affinity, pod.AntiAffinity, pod.Spread, pod.Tokens, pod.Devices, pod.NodeSelector, pod.NodeAffinity, pod.Tolerations,
		})
		if err != nil {
			panic(&ranges.Stop{Err: err})
		}
		key := string(append(appendTexts(appendText([]byte("own"), pod.Namespace), labelsRead(pod)), text...))
		states = append(states, q.prepared(key, topologyKeys(pod), pod, func() []domain.Constraint {
			q.compare(key, q.met([]*cluster.Pod{pod})+q.spreadOver(pod))
			return s.own
		})...)
	}
	if against := q.termsAgainst(pod); tied || against.now {
		for _, terms := range against.terms {
			key := appendTerms([]byte("theirs"), terms)
			states = append(states, q.prepared(string(key), len(terms), pod, func() (list []domain.Constraint) {
				q.compare(string(key), q.owning(terms))
				for _, by := range s.theirs {
					list = append(list, by(terms...))
				}
				return list
			})...)
		}
	}
	return append(states, q.prepare(q.OwnConstraints, pod)...) // which may read anything
}

// prepared are the states of these constraints, all of what they read of pod being in key; they look at so many topology keys at most.
func (q *Question) prepared(key string, keys int, pod *cluster.Pod, constraints func() []domain.Constraint) []domain.State {
	amounts := (1+keys)*(1+q.Index.NumNodes()) + q.Index.LabelSets().Len()/blockOfNodes
	return q.stranded.states.of(key, amounts, mostAmounts/2, func() []domain.State { return q.prepare(constraints(), pod) })
}

// topologyKeys is how many keys pod's own terms name, each as often as it does.
func topologyKeys(pod *cluster.Pod) int {
	return len(pod.Affinity) + len(pod.AntiAffinity) + len(pod.Spread)
}

func (q *Question) prepare(constraints []domain.Constraint, pod *cluster.Pod) (states []domain.State) {
	for _, c := range constraints {
		s, err := c.Prepare(q.Index, []*cluster.Pod{pod})
		if err != nil {
			panic(&ranges.Stop{Err: err})
		}
		if s != nil {
			states = append(states, s)
		}
	}
	return states
}

// against are the terms of other pods that select a pod.
type against struct {
	text  string             // all of them, written out
	terms [][]cluster.TermID // those of few pods together, those of many each by itself
	now   bool               // one of them is of a pod that runs where its key has a value
}

// manyOwners is from how many pods on that have it a term is prepared by itself.
const manyOwners = 8

// termsAgainst are the terms of other pods that are against pod.
func (q *Question) termsAgainst(pod *cluster.Pod) *against {
	var read map[string]string
	terms := q.Index.AntiTerms()
	for k, v := range pod.Labels {
		if terms.Reads(k) {
			if read == nil {
				read = map[string]string{}
			}
			read[k] = v
		}
	}
	key := string(appendTexts(appendText([]byte("against"), pod.Namespace), read))
	return q.stranded.against.of(key, 1, mostShared, func() *against {
		var all, few []cluster.TermID
		a, candidates := &against{}, terms.Candidates(pod)
		q.compare(key, len(candidates))
		for _, t := range candidates {
			if !terms.Term(t).Selects(pod.Namespace, q.Index.NamespaceLabels(pod.Namespace), pod.Labels) {
				continue
			}
			owners, topology := terms.Owners(t), q.Index.Topology(terms.Term(t).TopologyKey())
			a.now = a.now || slices.ContainsFunc(owners, func(p cluster.PodID) bool {
				n := q.Index.NodeOf(p)
				return n != cluster.NoNode && topology.Of(n) != cluster.NoValue
			})
			if all = append(all, t); len(owners) < manyOwners {
				few = append(few, t)
			} else {
				a.terms = append(a.terms, []cluster.TermID{t})
			}
		}
		if a.text = string(appendTerms(nil, all)); len(few) > 0 {
			a.terms = append(a.terms, few)
		}
		return a
	})
}

func appendTerms(dst []byte, terms []cluster.TermID) []byte {
	for _, t := range terms {
		dst = binary.AppendUvarint(dst, uint64(t))
	}
	return dst
}

// owning is how many pods have terms.
func (q *Question) owning(terms []cluster.TermID) (n int) {
	for _, t := range terms {
		n += len(q.Index.AntiTerms().Owners(t))
	}
	return n
}

// spreadOver is how many label sets of the cluster the selectors by which pod is spread are compared with.
func (q *Question) spreadOver(pod *cluster.Pod) (n int) {
	for i := range pod.Spread {
		n += len(q.Index.LabelSets().Candidates(pod.Spread[i].Selector))
	}
	return n
}

// Compared is how much terms of pods that may have to move were compared with, and how many seats were looked for, in a question and all of its copies.
type Compared struct {
	mu    sync.Mutex
	by    map[string]bool // what was
	total int
}

// mostCompared is how many comparisons there may be; fewCompared or fewer at a time are not counted.
const mostCompared, fewCompared = 1 << 23, 64

// compare notes that what key says is compared with n label sets, pods or terms, or takes as much as that: it counts once, whichever copy of the question asks first.
func (q *Question) compare(key string, n int) {
	c := q.Compared
	if c == nil || n <= fewCompared {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[key] {
		return
	}
	if c.by == nil {
		c.by = map[string]bool{}
	}
	c.by[key] = true
	if c.total += n; c.total > mostCompared {
		most := strconv.Itoa(mostCompared)
		panic(&ranges.Stop{Err: &cluster.FieldError{
			Kind: "pods", Field: "Affinity, AntiAffinity, Spread, Tokens, Devices", Value: "more than " + most + " comparisons of their terms and seats of their fractions, to tell who has another place,", Want: "at most " + most,
		}})
	}
}

// labelsRead are the labels of pod that its own terms read.
func labelsRead(pod *cluster.Pod) map[string]string {
	keys := map[string]bool{}
	for _, terms := range [...][]cluster.AffinityTerm{pod.Affinity, pod.AntiAffinity} {
		for i := range terms {
			readBy(keys, terms[i].Selector, terms[i].MatchLabelKeys, terms[i].MismatchLabelKeys)
		}
	}
	for i := range pod.Spread {
		readBy(keys, pod.Spread[i].Selector, pod.Spread[i].MatchLabelKeys)
	}
	read := map[string]string{}
	for k := range keys {
		if v, has := pod.Labels[k]; has {
			read[k] = v
		}
	}
	return read
}

// readBy adds the labels that s and lists of keys read to keys.
func readBy(keys map[string]bool, s *disruption.Selector, lists ...[]string) {
	if s != nil {
		for k := range s.MatchLabels {
			keys[k] = true
		}
		for i := range s.MatchExpressions {
			keys[s.MatchExpressions[i].Key] = true
		}
	}
	for _, k := range slices.Concat(lists...) {
		keys[k] = true
	}
}
