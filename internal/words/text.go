package words

import (
	"encoding/json"
	"fmt"
	"slices"
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

// Key is a namespace and a name in one, as messages and options have it.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// JSON is plain structs as one text: equal if and only if they are written alike.
func JSON(values ...any) string {
	b, err := json.Marshal(values)
	if err != nil {
		panic("words: plain structs can be marshalled: " + err.Error())
	}
	return string(b)
}

// Texts are those of list, sorted.
func Texts[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = text(v)
	}
	slices.Sort(out)
	return out
}
