// Package simulator lives through days of a farm with a [preemption.Planner], in discrete
// events, and compares policies of preemption side by side: utilisation, waits, work that is
// lost, and who evicts whom.
//
// A [Farm] is nodes, jobs (pods, or gangs that run whole) and nodes that come and go; it is
// drawn by [Synthetic], read by [ReadRecorded], or made by hand. [Settings] say how the farm
// works: the grace period of a victim, and how often jobs save their progress. A [Policy] is
// [preemption.Options] with a name. [Compare] runs policies on a farm one after the other,
// [New] one of them step by step; [WriteTable], [WriteCSV] and [WritePage] tell the outcomes.
// The command simulate does all of it by flags; README.md, beside this file, says what was
// found with it.
//
// Whoever waits is asked about in order of priority, then of arrival: what fits runs, what
// does not evicts. Jobs that are alike have one answer, which holds until room comes up where
// they could go; where the policy heeds the time, they are asked about again every while. A
// victim loses what it has not saved, has its grace period, and waits again; whoever evicted
// it holds the room meanwhile. A gang loses everything with one of its pods. In the planner
// victims go at once ([preemption.Planner.Evict]), which is why nothing is ever nominated.
//
// Under a policy that lets jobs take turns before they have saved anything they do so for
// ever: Settings.Until ends it.
//
// Equal farms, settings and policies have equal outcomes, byte for byte, on every machine;
// also if a comparison is saved and resumed in between.
package simulator
