package cluster

import "slices"

// TokenID is a position among the distinct tokens that the pods of an [Index] hold
// or ask for.
type TokenID int32

// NoToken stands for a token that no pod of the index names.
const NoToken TokenID = -1

// Tokens are the exclusive things that the pods of an index name. Immutable.
type Tokens struct {
	carriers []PodID
	of       csr[TokenID] // of each pod
	byName   map[string]TokenID
}

// Tokens returns the tokens of ix, in order of the first pod that names them. They
// are computed on the first call: O(p + t) for p pods with t tokens.
func (ix *Index) Tokens() *Tokens {
	return once(ix.lazy, &ix.lazy.tokens, func() *Tokens { return newTokens(ix) })
}

// ByName returns the token of that name, or NoToken.
func (ts *Tokens) ByName(name string) TokenID {
	if t, ok := ts.byName[name]; ok {
		return t
	}
	return NoToken
}

// Len is the number of distinct tokens; TokenID runs from 0 to Len-1.
func (ts *Tokens) Len() int { return len(ts.byName) }

// Of returns the tokens of pod p, each once. The slice belongs to ts.
func (ts *Tokens) Of(p PodID) []TokenID { return ts.of.row(int(p)) }

// Carriers returns the pods that have tokens, running and pending, in ascending
// order. The slice belongs to ts.
func (ts *Tokens) Carriers() []PodID { return ts.carriers }

func newTokens(ix *Index) *Tokens {
	carriers := ix.carriers.tokens
	ts := &Tokens{carriers: carriers, byName: map[string]TokenID{}}
	if len(carriers) == 0 {
		return ts
	}
	ts.of.first = make([]int32, 0, ix.NumPods()+1)
	next := 0
	for i := range ix.NumPods() {
		ts.of.mark()
		if next == len(carriers) || int(carriers[next]) != i {
			continue
		}
		next++
		for _, name := range ix.Pod(PodID(i)).Tokens {
			id, known := ts.byName[name]
			if !known {
				id = TokenID(len(ts.byName))
				ts.byName[name] = id
			}
			if !slices.Contains(ts.of.values[ts.of.first[i]:], id) {
				ts.of.values = append(ts.of.values, id)
			}
		}
	}
	ts.of.mark()
	return ts
}
