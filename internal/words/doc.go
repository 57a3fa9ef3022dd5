// Package words puts numbers, names and long values into words, and structs into keys, the same everywhere.
package words
