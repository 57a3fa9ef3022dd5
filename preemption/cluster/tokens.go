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
	of       map[PodID][]TokenID
	byName   map[string]TokenID
}

// Tokens returns the tokens of ix, in order of the first pod that names them. They
// are computed on the first call and on the next one after such a pod has changed:
// O(p + t) for p pods that have t tokens.
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
func (ts *Tokens) Of(p PodID) []TokenID { return ts.of[p] }

// Carriers returns the pods that have tokens, running and pending, in ascending
// order. The slice belongs to ts.
func (ts *Tokens) Carriers() []PodID { return ts.carriers }

func newTokens(ix *Index) *Tokens {
	ts := &Tokens{carriers: ix.carriers.tokens, of: make(map[PodID][]TokenID, len(ix.carriers.tokens)), byName: map[string]TokenID{}}
	var last []PodID // who named a token last
	for _, p := range ts.carriers {
		var list []TokenID
		for _, name := range ix.Pod(p).Tokens {
			id, known := ts.byName[name]
			if !known {
				id = TokenID(len(ts.byName))
				ts.byName[name] = id
				last = append(last, NoPod)
			}
			if last[id] != p {
				list, last[id] = append(list, id), p
			}
		}
		ts.of[p] = list
	}
	return ts
}

// replaceTokens notes that number id stands for another pod.
func (ix *Index) replaceTokens(id PodID, old, p *Pod) {
	if len(old.Tokens)+len(p.Tokens) == 0 {
		return
	}
	ix.lazy.tokens.Store(nil)
	list := slices.Clone(ix.carriers.tokens) // a fork has the same
	i, had := slices.BinarySearch(list, id)
	switch has := len(p.Tokens) > 0; {
	case has && !had:
		list = slices.Insert(list, i, id)
	case had && !has:
		list = slices.Delete(list, i, i+1)
	}
	ix.carriers.tokens = list
}
