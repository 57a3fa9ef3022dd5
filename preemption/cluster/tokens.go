package cluster

import "slices"

// TokenID is a position among the distinct tokens that the pods of an [Index] hold
// or ask for.
type TokenID int32

// NoToken stands for a token that no pod of the index names.
const NoToken TokenID = -1

// Tokens are the exclusive things that the pods of an index name. Immutable.
type Tokens struct {
	of      [][]TokenID // of each pod up to the last that has any
	byName  map[string]TokenID
	holders [][]PodID // of each token
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
func (ts *Tokens) Of(p PodID) []TokenID {
	if int(p) >= len(ts.of) {
		return nil
	}
	return ts.of[p]
}

// Holders returns the pods that name token t, running and pending, in ascending order. The slice belongs to ts.
func (ts *Tokens) Holders(t TokenID) []PodID { return ts.holders[t] }

func newTokens(ix *Index) *Tokens {
	ts := &Tokens{byName: map[string]TokenID{}}
	carriers := ix.carriers.tokens
	if len(carriers) > 0 {
		ts.of = make([][]TokenID, carriers[len(carriers)-1]+1)
	}
	for _, p := range carriers {
		var list []TokenID
		for _, name := range ix.Pod(p).Tokens {
			id, known := ts.byName[name]
			if !known {
				id = TokenID(len(ts.byName))
				ts.byName[name] = id
				ts.holders = append(ts.holders, nil)
			}
			if held := ts.holders[id]; len(held) == 0 || held[len(held)-1] != p {
				list, ts.holders[id] = append(list, id), append(held, p)
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
