// Package problems makes errors of what is wrong with a question.
//
// [Pod], [Workload] and [Preemptor] locate what is wrong with one of those; [Join] joins
// complaints, of which it spells out a thousand.
package problems
