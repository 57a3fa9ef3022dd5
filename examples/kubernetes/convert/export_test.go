package convert

// TooDense is what is wrong with a YAML text of so many documents.
var TooDense = tooDense

// ListToJSON is a document as JSON, parsed in parts of so many bytes, or nil; WholeToJSON is it parsed as a whole.
var (
	ListToJSON  = listToJSON
	WholeToJSON = wholeToJSON
)

// SetBlock makes l read in blocks of so many bytes.
func (l *Loader) SetBlock(size int) *Loader {
	l.size = size
	return l
}

// Task reads documents, each of them with a blank behind it, as one task of a loader. It returns how many things are
// kept of them, how many complaints these list and count, and for how many pods there is room.
func Task(text string) (found, listed, counted, room int) {
	t := &task{block: &block{text: []byte(text)}}
	start := 0
	for end := range text {
		if text[end] == ' ' {
			t.block.units = append(t.block.units, unit{start: start, end: end})
			start = end + 1
		}
	}
	newLean().task(t)
	for _, x := range t.found {
		listed += len(x.split.bad.list)
		counted += x.split.bad.more
	}
	return len(t.found), listed, counted, cap(t.pods)
}
