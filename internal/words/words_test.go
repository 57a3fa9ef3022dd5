package words_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/words"
)

func TestSeconds(t *testing.T) {
	require.Equal(t, "0s", words.Seconds(0))
	require.Equal(t, "4m10s", words.Seconds(250))
	require.Equal(t, "9223372036854775807s", words.Seconds(math.MaxInt64), "more than a time.Duration holds")
}

func TestCountAndKey(t *testing.T) {
	require.Equal(t, "0 pods", words.Count(0, "pod"))
	require.Equal(t, "1 pod", words.Count(1, "pod"))
	require.Equal(t, "a/b", words.Key("a", "b"))
	require.Equal(t, "b", words.Key("", "b"), "what has no namespace is named alone")
}

func TestShort(t *testing.T) {
	hundred := strings.Repeat("x", 100)
	require.Equal(t, hundred, words.Short(hundred))
	require.Equal(t, hundred+"... (101 bytes)", words.Short(hundred+"y"))
	require.Equal(t, hundred[:99]+"... (103 bytes)", words.Short(hundred[:99]+"äöü"[:4]), "no half of a letter")
	require.Equal(t, strconv.Quote(hundred), words.Quoted(hundred))
	require.Equal(t, strconv.Quote(hundred+"... (1000000 bytes)"), words.Quoted(strings.Repeat("x", 1_000_000)))
	require.Less(t, len(words.Quoted(strings.Repeat("\xff", 1_000_000))), 500)
}
