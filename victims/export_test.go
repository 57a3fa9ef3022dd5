package victims

import "reflect"

// Alike reports whether two ladders of one index are the same in every part, and their
// units and budgets too.
func Alike(a, b *Ladder) bool {
	return reflect.DeepEqual(a.levels, b.levels) && reflect.DeepEqual(a.lanes, b.lanes) && reflect.DeepEqual(a.journal, b.journal) &&
		reflect.DeepEqual(a.budgets.cover, b.budgets.cover) && reflect.DeepEqual(a.budgets.lists, b.budgets.lists) &&
		reflect.DeepEqual(a.us.units, b.us.units) && reflect.DeepEqual(a.us.unitOf, b.us.unitOf) && reflect.DeepEqual(a.us.on, b.us.on)
}
