// Package answer is what an answer is made of: who has to go, where the preemptor goes, and why.
//
// A [Result] has a [Verdict] and, where evictions help, the [Victim] list with the [Reason] why
// each of them cannot stay; a [Candidate] for every other domain, [KeptUnit] for whom guards
// keep, [Nearest] for what would help where nothing does, a [Proof] that nothing disrupts less, and
// the [Step] list of a trace are there on request. [Why] answers why not another node or unit, [Validity] whether an answer still holds.
//
// All of it is data with JSON tags, in names and words, and nothing here decides. Package preemption
// makes answers, and has these names as its own, but for the actions of a Step.
package answer
