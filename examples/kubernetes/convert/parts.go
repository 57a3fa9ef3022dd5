package convert

// parts remembers what some texts were read as: most pods are much alike, and what
// is read from the same text is shared among them.
type parts[T any] struct{ known map[string]T }

// maxParts is how many texts are remembered before all are forgotten.
const maxParts = 1 << 12

// get is what text is read as. What cannot be read is not remembered.
func (p *parts[T]) get(text []byte, read func() (T, bool)) (T, bool) {
	if value, ok := p.known[string(text)]; ok {
		return value, true
	}
	value, ok := read()
	if ok {
		if p.known == nil || len(p.known) == maxParts {
			p.known = map[string]T{}
		}
		p.known[string(text)] = value
	}
	return value, ok
}
