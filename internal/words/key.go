package words

// Key is a namespace and a name in one, as messages and options have it.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
