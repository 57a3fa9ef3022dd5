package words

import "encoding/json"

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
