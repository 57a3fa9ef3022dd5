package words

import (
	"strconv"
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
