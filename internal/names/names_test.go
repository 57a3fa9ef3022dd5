package names_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/preempt-go/preempt/internal/names"
)

// The patterns that Kubernetes' documentation and error messages give.
var (
	labelName = regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`)
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func TestNamesTakeWhatThePatternsTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-cA-C0-1._/\-é\n ]{0,8}`).Draw(t, "s")
		if got, want := names.Subdomain(s), subdomain.MatchString(s); got != want {
			t.Fatalf("Subdomain(%q) = %v, want %v", s, got, want)
		}
		if got, want := names.LabelValue(s), s == "" || labelName.MatchString(s); got != want {
			t.Fatalf("LabelValue(%q) = %v, want %v", s, got, want)
		}
		want := labelName.MatchString(s)
		if parts := strings.Split(s, "/"); len(parts) == 2 {
			want = subdomain.MatchString(parts[0]) && labelName.MatchString(parts[1])
		}
		if got := names.LabelKey(s); got != want {
			t.Fatalf("LabelKey(%q) = %v, want %v", s, got, want)
		}
	})
}

func TestLongNames(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, tt := range []struct {
		name      string
		got, want bool
	}{
		{"a label value of 63 bytes", names.LabelValue(long(63)), true},
		{"a label value of 64 bytes", names.LabelValue(long(64)), false},
		{"a label key with a prefix of 253 bytes", names.LabelKey(long(253) + "/" + long(63)), true},
		{"a label key with a prefix of 254 bytes", names.LabelKey(long(254) + "/a"), false},
		{"a label key with a name of 64 bytes", names.LabelKey("a/" + long(64)), false},
		{"a subdomain of 253 bytes in one part", names.Subdomain(long(253)), true},
		{"a subdomain of 254 bytes", names.Subdomain(long(254)), false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
