// Package verify reads answers about pods and groups of pods, in maps and strings.
//
// It shares no code with the searches: what a rule says is written here anew, as plainly as it can be told.
package verify
