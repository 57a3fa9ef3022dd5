package names

import "strings"

// What the checks expect, for messages: "x is not <Want...>".
const (
	WantLabelKey   = "a label key: a name of 1 to 63 letters, digits, '-', '_' and '.' that starts and ends with a letter or digit, after an optional DNS subdomain and '/'"
	WantLabelValue = "a label value: at most 63 letters, digits, '-', '_' and '.' that start and end with a letter or digit, or empty"
	WantSubdomain  = "a DNS subdomain: at most 253 lower-case letters, digits, '-' and '.', each part starting and ending with a letter or digit"
)

const (
	maxName      = 63  // bytes of a label value and of a label key's name
	maxSubdomain = 253 // bytes of a DNS subdomain
)

// LabelKey reports whether s may be the key of a label, a qualified name.
func LabelKey(s string) bool {
	if prefix, name, found := strings.Cut(s, "/"); found {
		return Subdomain(prefix) && name != "" && LabelValue(name)
	}
	return s != "" && LabelValue(s)
}

// LabelValue reports whether s may be the value of a label. It may be empty.
func LabelValue(s string) bool {
	if len(s) > maxName {
		return false
	}
	for i := range len(s) {
		inner := 0 < i && i < len(s)-1 && (s[i] == '-' || s[i] == '_' || s[i] == '.')
		if !inner && !isLower(s[i]) && !isDigit(s[i]) && !isUpper(s[i]) {
			return false
		}
	}
	return true
}

// Subdomain reports whether s is a DNS subdomain: the form of most objects' names.
func Subdomain(s string) bool {
	if s == "" || len(s) > maxSubdomain {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if !subdomainPart(part) {
			return false
		}
	}
	return true
}

func subdomainPart(s string) bool {
	for i := range len(s) {
		inner := 0 < i && i < len(s)-1 && s[i] == '-'
		if !inner && !isLower(s[i]) && !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
