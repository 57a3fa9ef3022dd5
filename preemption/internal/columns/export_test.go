package columns

import "reflect"

// Alike reports whether two columns of one index are the same in every part.
func Alike(a, b *NodeColumns) bool {
	return reflect.DeepEqual(a.levels, b.levels) && reflect.DeepEqual(a.lanes, b.lanes) && reflect.DeepEqual(a.journal, b.journal)
}
