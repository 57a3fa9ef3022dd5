// Package words puts numbers, names and long values into words, the same everywhere.
package words
