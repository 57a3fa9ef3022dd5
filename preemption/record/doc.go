// Package record writes down what a planner is asked and told, and plays it again.
//
// A [Recorder] is a planner that writes each call to a journal: the method, its arguments
// and its answer, a line of JSON each, after a first line with the options and the snapshot
// that it began with. [Replay] makes the calls again, on any machine, and compares the answers
// with those that were recorded: a bug report that shows the bug, a test of another release,
// a planner that goes on where one ended.
//
//	rec, err := record.New(file, snapshot, options) // in place of preemption.NewPlanner
//	report, err := record.Replay(file, nil)
//
// [Save] writes a journal of a first line only, and [Replay] makes a planner of it: what a
// snapshot tells. What it does not tell, who is parked, is lost unless the journal has been
// there from the beginning. The counts of [preemption.Stats].Trials are not compared, since what a question
// costs may depend on what the planner has remembered.
//
// A time outside of the years 0 to 9999 and text that is not UTF-8, which JSON does not have,
// end the recording; see [Recorder.Err]. Not in a journal are hooks, which are given to Replay again; forks, views and gatherings,
// which change nothing; and changes that are made on the planner behind the recorder's back.
package record
