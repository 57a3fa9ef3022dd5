package columns

import "reflect"

// Alike reports whether two ladders of one index are the same in every part.
func Alike(a, b *Ladder) bool {
	return reflect.DeepEqual(a.levels, b.levels) && reflect.DeepEqual(a.lanes, b.lanes) && reflect.DeepEqual(a.journal, b.journal)
}
