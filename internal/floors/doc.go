// Package floors checks that the module keeps its layout: which folders there are,
// which package may import which, what a public signature may mention, and that
// everything is documented.
//
// [Load] reads the sources of a module; [Check] returns every breach of the rules
// as a sentence. The package's own test runs both on this module, and on small
// modules that break one rule each.
//
// Only sources are read: no command is run, so that a cached test result is never
// older than the files.
package floors
