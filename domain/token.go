package domain

import (
	"slices"

	"github.com/preempt-go/preempt/preemption/cluster"
)

// ExclusiveTokens returns the constraint of [cluster.Pod.Tokens]: a member fits nowhere while another pod holds a token that it asks for,
// be it on whatever node.
//
// A token stands for anything that one pod at a time may have: a volume claim with the access mode ReadWriteOncePod (name the token
// namespace/claim), a licence, a lock. Upstream evicts on the node of the placement only, so that a token is freed for a single pod by a
// holder on the chosen node. What a node has a number of (attachable volumes) is a resource; a volume that is bound to a zone is node
// affinity of the pod; claims that are not bound yet, and dynamic resource claims, need a Constraint of the user's own.
//
// Upstream notes whether a claim is in use, not by how many pods; where, against the rules, several pods hold one token, here all of them
// have to go.
//
// Like upstream, Prepare gives a nil State where nobody holds a token that a single preemptor asks for; pods that are only nominated are
// not looked at then. It is monotone and not node-local. Prepare costs O(t + h) for the t tokens that members ask for and the h pods that
// have them; all other calls cost O(t) for the t tokens of one pod.
//
// Source: kube-scheduler v1.36, volume restrictions filter.
func ExclusiveTokens() Constraint { return exclusiveTokens{} }

type exclusiveTokens struct{}

func (exclusiveTokens) Name() Check { return CheckToken }

func (exclusiveTokens) Prepare(ix *cluster.Index, members []*cluster.Pod) (State, error) {
	if !slices.ContainsFunc(members, func(p *cluster.Pod) bool { return len(p.Tokens) > 0 }) {
		return nil, nil
	}
	s := newTokenState(ix.Tokens(), members)
	for t, number := range s.number {
		for _, p := range s.tokens.Holders(t) {
			if n := ix.NodeOf(p); n != cluster.NoNode {
				s.holders[number]++
				s.touched[n] = true
			}
		}
	}
	if len(members) == 1 && !slices.ContainsFunc(s.holders, func(h int32) bool { return h > 0 }) {
		return nil, nil
	}
	return s, nil
}

// tokenState counts who holds the tokens that members ask for. They are numbered by themselves, as those of inline members may be unknown
// to the index.
type tokenState struct {
	tokens  *cluster.Tokens
	number  map[cluster.TokenID]int32 // of each token of the index that a member asks for
	asks    [][]int32                 // of each member
	reasons []Reason
	touched map[cluster.NodeID]bool // the nodes where a holder runs
	holders []int32                 // by number
}

func newTokenState(tokens *cluster.Tokens, members []*cluster.Pod) *tokenState {
	s := &tokenState{tokens: tokens, number: map[cluster.TokenID]int32{}, asks: make([][]int32, len(members)), touched: map[cluster.NodeID]bool{}}
	byName := map[string]int32{}
	var last []int // who asks for a token last
	for m, p := range members {
		for _, name := range p.Tokens {
			number, known := byName[name]
			if !known {
				number = int32(len(byName))
				byName[name] = number
				last = append(last, -1)
				s.reasons = append(s.reasons, Reason{Check: CheckToken, Detail: name})
				if t := tokens.ByName(name); t != cluster.NoToken {
					s.number[t] = number
				}
			}
			if last[number] != m {
				s.asks[m], last[number] = append(s.asks[m], number), m
			}
		}
	}
	s.holders = make([]int32, len(byName))
	return s
}

func (s *tokenState) Remove(p cluster.PodID, _ cluster.NodeID) { s.move(p, -1) }
func (s *tokenState) Return(p cluster.PodID, _ cluster.NodeID) { s.move(p, +1) }

func (s *tokenState) move(p cluster.PodID, sign int32) {
	for _, t := range s.tokens.Of(p) {
		if number, asked := s.number[t]; asked {
			s.holders[number] += sign
		}
	}
}

func (s *tokenState) Place(m MemberID, _ cluster.NodeID)   { s.movePlaced(m, +1) }
func (s *tokenState) Unplace(m MemberID, _ cluster.NodeID) { s.movePlaced(m, -1) }

func (s *tokenState) movePlaced(m MemberID, sign int32) {
	for _, number := range s.asks[m] {
		s.holders[number] += sign
	}
}

func (s *tokenState) Fits(m MemberID, _ cluster.NodeID) Reason {
	for _, number := range s.asks[m] {
		if s.holders[number] > 0 {
			return s.reasons[number]
		}
	}
	return Reason{}
}

// Touches reports whether a holder runs on node n.
func (s *tokenState) Touches(n cluster.NodeID) bool { return s.touched[n] }

// TouchesPod reports whether p holds a token that a member asks for.
func (s *tokenState) TouchesPod(p cluster.PodID, _ cluster.NodeID) bool {
	return slices.ContainsFunc(s.tokens.Of(p), func(t cluster.TokenID) bool {
		_, asked := s.number[t]
		return asked
	})
}

func (s *tokenState) Clone() State {
	c := *s
	c.holders = slices.Clone(s.holders)
	return &c
}

func (s *tokenState) Scope() Scope { return Scope{Monotone: true} }

func (s *tokenState) fitsSame(a, b MemberID) bool { return slices.Equal(s.asks[a], s.asks[b]) }
