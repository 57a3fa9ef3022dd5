// Package constraints has two constraints of a user's own, to be copied and changed.
//
// [Licences] counts seats of licences that float in the whole cluster: whether a pod
// fits depends on pods on every node. [Power] limits what the pods of a rack draw
// together: it depends on the pods of a rack. Both read annotations of pods, count
// what runs once for a question, and follow each removal and return in constant
// time. Both say what shortcuts the search may take (Scope), when evictions cannot
// help (Hopeless) and where no pod matters (Touches); the tests prove it with
// package constrainttest.
//
// Such a constraint is given to the library in Hooks:
//
//	preemption.Options{Hooks: &preemption.Hooks{Constraints: []domain.Constraint{power}}}
package constraints
