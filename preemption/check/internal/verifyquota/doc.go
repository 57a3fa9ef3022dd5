// Package verifyquota reads the part of an answer that is about quota, in maps and
// strings. It shares no code with the searches.
package verifyquota
