package words_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/words"
)

func TestSeconds(t *testing.T) {
	require.Equal(t, "0s", words.Seconds(0))
	require.Equal(t, "4m10s", words.Seconds(250))
	require.Equal(t, "9223372036854775807s", words.Seconds(math.MaxInt64), "more than a time.Duration holds")
}
