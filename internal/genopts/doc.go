// Package genopts draws options to ask the questions of package gen under: [Random] by seed, [Any] from rapid's bits.
//
// It is apart from gen, so that the tests of what package preemption is made of can have clusters without it.
package genopts
