package cluster

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Unlimited is the amount without bound. It stays itself whatever is added or
// taken away.
const Unlimited = math.MaxInt64

// Weight is a queue's or cohort's part under fair sharing, in billionths. In JSON
// it is a decimal number such as "1.5". Twice the weight makes half the share.
type Weight int64

// OneWeight is the weight of whoever names none.
const OneWeight Weight = 1_000_000_000

// ErrWeight says that a text is not a weight.
var ErrWeight = errors.New("cluster: not a weight between 0 and 9223372036 with at most nine decimals")

// parseWeight reads a decimal number, at least 0, with at most nine decimals.
func parseWeight(text string) (Weight, error) {
	whole, decimals, point := strings.Cut(text, ".")
	if len(decimals) > 9 || point && decimals == "" || !isDigits(whole) || !isDigits(decimals+"0") {
		return 0, fmt.Errorf("%w: %s", ErrWeight, quote(string(text)))
	}
	n, err := strconv.ParseInt(whole+decimals+strings.Repeat("0", 9-len(decimals)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", ErrWeight, quote(string(text)))
	}
	return Weight(n), nil
}

// String writes w as a decimal number without needless zeros.
func (w Weight) String() string {
	sign, n := "", uint64(w)
	if w < 0 {
		sign, n = "-", -n
	}
	one := uint64(OneWeight)
	s := sign + strconv.FormatUint(n/one, 10)
	if n%one == 0 {
		return s
	}
	return s + "." + strings.TrimRight(fmt.Sprintf("%09d", n%one), "0")
}

// MarshalText writes w as String does.
func (w Weight) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads a decimal number, at least 0, with at most nine decimals.
func (w *Weight) UnmarshalText(text []byte) error {
	v, err := parseWeight(string(text))
	if err == nil {
		*w = v
	}
	return err
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
