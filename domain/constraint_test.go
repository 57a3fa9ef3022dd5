package domain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/domain/constrainttest"
)

// builtin are the constraints of this package with what their worlds are full of.
var builtin = []struct {
	constraint domain.Constraint
	features   features
	fromStart  bool
}{
	{domain.ExclusiveTokens(), features{tokens: true, maxMembers: 3}, false},
	{domain.Devices(), features{devices: true, maxMembers: 3}, true},
	{domain.TopologySpread(), features{spread: true, maxMembers: 3}, false},
	{domain.TopologySpread(), features{spread: true, terminating: true}, true},
	{domain.TopologySpread(), features{spread: true, terminating: true, maxMembers: 3}, true},
	{domain.TopologySpreadAnew(), features{spread: true, terminating: true}, false},
	{domain.InterPodAffinity(), features{affinity: true}, false},
	{domain.InterPodAffinity(), features{affinity: true, maxMembers: 3}, false},
	{domain.InterPodAffinity136(), features{affinity: true, maxMembers: 3}, false},
}

func keepsTheContract(t *rapid.T) {
	b := builtin[rapid.IntRange(0, len(builtin)-1).Draw(t, "constraint")]
	w := drawWorld(t, b.features)
	require.NoError(t, constrainttest.Check(b.constraint, &w.snapshot, w.members, constrainttest.Options{
		Seed: rapid.Uint64().Draw(t, "seed"), Histories: 2, Steps: 20, FromStart: b.fromStart,
	}))
}

func TestBuiltinConstraintsKeepTheContract(t *testing.T) { rapid.Check(t, keepsTheContract) }
func FuzzBuiltinConstraintsKeepTheContract(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(keepsTheContract))
}
