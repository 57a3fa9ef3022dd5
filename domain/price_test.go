package domain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/domain"
)

func TestPricesAddUp(t *testing.T) {
	p := domain.Free
	p.Add(domain.Price{Lead: 5, Violations: 1, Highest: 7, Sum: 10, Pods: 2})
	p.Add(domain.Price{Lead: math.MaxInt64, Highest: 3, Sum: 1, Pods: 1})
	require.Equal(t, domain.Price{Lead: math.MaxInt64, Violations: 1, Highest: 7, Sum: 11, Pods: 3}, p)
	p.Add(domain.Free)
	require.Equal(t, int64(7), p.Highest)
}
