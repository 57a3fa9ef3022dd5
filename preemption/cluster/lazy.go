package cluster

import "sync"

// carriers lists, in ascending order, the pods that have what few pods have, so
// that a question need not look at all others.
type carriers struct {
	antiAffinity, tokens, devices, guarded []PodID
}

func (ix *Index) findCarriers() {
	for i, p := range ix.pods {
		if len(p.AntiAffinity) > 0 {
			ix.carriers.antiAffinity = append(ix.carriers.antiAffinity, PodID(i))
		}
		if len(p.Tokens) > 0 {
			ix.carriers.tokens = append(ix.carriers.tokens, PodID(i))
		}
		if len(p.Devices) > 0 {
			ix.carriers.devices = append(ix.carriers.devices, PodID(i))
		}
		if p.Guard != nil || len(p.Evictions) > 0 {
			ix.carriers.guarded = append(ix.carriers.guarded, PodID(i))
		}
	}
}

// lazy holds columns that are computed when a question first needs them.
type lazy struct {
	labelSetsOnce, antiTermsOnce, tokensOnce sync.Once

	labelSets *LabelSets
	antiTerms *AntiTerms
	tokens    *Tokens

	topologiesMu sync.Mutex
	topologies   map[string]*Topology
}
