// Package naivequota answers quota preemption questions the slow and obvious way:
// maps, strings and sums that are made anew each time they are needed. It is the
// oracle that the library is compared with.
//
// It shares the plain structs with the library and no decision. Input is taken as
// valid and amounts as far from the ends of int64; what the library refuses is not
// refused here.
//
// Source: KEP-83; Kueue v0.20, preemption and flavor assignment.
package naivequota
