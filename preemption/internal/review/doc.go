// Package review looks whether an answer still holds.
//
// [Check] complains of what no plan has, whatever the cluster. [Gone] says that there is nothing left to do for an
// answer, [Again] reads its question anew, about those who do not run yet, and [Review.Advise] says whether
// to keep it, with what it takes of limits, to plan again, or to cancel; [Workload] does all of
// that for an answer about a workload.
package review
