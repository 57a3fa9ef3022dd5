package words

import (
	"encoding/json"
	"slices"
)

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

// SameTexts reports whether two lists have the same texts in any order.
func SameTexts[T any](a, b []T, text func(T) string) bool {
	return len(a) == len(b) && (len(a) == 0 || slices.Equal(Texts(a, text), Texts(b, text)))
}
