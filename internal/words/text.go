package words

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// Longest is how many bytes of a name or value a message has.
const Longest = 100

// Short is s as a message has it: what is longer than 100 bytes ends there, with how many
// bytes it has in all.
func Short(s string) string {
	if len(s) <= Longest {
		return s
	}
	end := Longest
	for end > Longest-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "... (" + strconv.Itoa(len(s)) + " bytes)"
}

// Quoted is Short between quotation marks, as Go writes a string.
func Quoted(s string) string {
	return strconv.Quote(Short(s))
}

// Seconds writes a number of seconds as time.Duration does: 4m10s.
func Seconds(n int64) string {
	if d := time.Duration(n) * time.Second; d/time.Second == time.Duration(n) {
		return d.String()
	}
	return fmt.Sprintf("%ds", n)
}

// Count is n things in words: 1 pod, 2 pods.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
