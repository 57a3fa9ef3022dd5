package victims

import "cmp"

// Importance is what [Units.Compare] looks at first, at hand where many units are
// compared again and again.
type Importance struct {
	worth   uint64
	started int64
	Unit    UnitID
}

// Importance returns that of u.
func (us *Units) Importance(u UnitID) Importance {
	i, unit := Importance{Unit: u}, us.Unit(u)
	switch {
	case us.by.Order != nil:
	case us.ranked():
		i.worth = unit.worth() >> 32
	default:
		i.worth, i.started = unit.worth(), unit.Started
	}
	return i
}

// CompareImportance is Compare of their units.
func (us *Units) CompareImportance(a, b *Importance) int {
	switch {
	case a.worth != b.worth:
		return cmp.Compare(b.worth, a.worth)
	case a.started != b.started:
		return cmp.Compare(a.started, b.started)
	}
	return us.Compare(a.Unit, b.Unit)
}
