// Command mutate shows what tests would not notice: it makes one small mistake at a time
// in a package, runs the tests, and prints the mistakes that they let pass.
//
//	go run -C .ci/tools ./mutate -C ../.. ./victims
//	go run -C .ci/tools ./mutate -C ../.. -tests ./preemption -n 200 -seed 1 ./preemption/internal/columns
//	go run -C .ci/tools ./mutate -C ../.. ./domain >printed; go run -C .ci/tools ./mutate -among $PWD/printed -C ../.. -tests ./preemption ./domain
//
// A mistake, or mutant, is one of these: a comparison whose boundary is moved or that is
// negated, a condition negated, && and || swapped, an arithmetic operator, += or ++
// swapped for its opposite, min for max, a number greater by one, true for false, or a
// statement left out (a call, an assignment, break, continue, defer, return without
// values).
//
// Nothing is written in the tree. All mutants of a package are compiled at once, each
// behind a condition that the environment variable of one run makes true (mutant
// schemata, Untch, Offutt and Harrold 1993), so that a run costs what the tests cost that
// reach the mutant; those that noticed most for their time come first. The sources go to the
// compiler by go build's -overlay. A mutant is killed when tests fail, panic, or take more
// than ten times as long as without it.
//
// Mutants in code that no test reaches are counted apart. Those that change no answer,
// and why, are listed in .ci/tools/equivalent.txt: they count as neither killed nor survived. An
// entry that matches no mutant any more is an error.
package main
