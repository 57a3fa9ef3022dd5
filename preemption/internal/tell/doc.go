// Package tell reads a question, has it searched, and tells in words and names what the search comes to.
//
// [Read] finds the preemptor in a [live.Cluster] and makes an [Inquiry]: the question of the searches, with
// what it takes to tell its answer. [Answer] is the whole road of a question, [Decide] and [AtOnce] are the road
// of an answer in short, [WhyNot] that of one about another node or unit, and [Together] that of several equal
// pods. The searches return ids, prices and steps; sentences are made of them here, and of
// nothing else.
//
// What hooks panic with goes through: the caller catches it.
package tell
