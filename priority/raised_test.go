package priority_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/priority"
)

func TestRaisedIsNeverBelowZero(t *testing.T) {
	require.Zero(t, priority.Raised(math.MinInt32))
	require.Equal(t, int64(1<<31), priority.Raised(0))
	require.Equal(t, int64(1<<32-1), priority.Raised(math.MaxInt32))
	require.Positive(t, math.MaxInt64-priority.Raised(math.MaxInt32)*(1<<31-1), "so many pods fit a sum")
}
