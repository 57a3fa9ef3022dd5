// Package words puts numbers, names and long values into words, and structs and lists into keys, the same everywhere.
package words
