// Package words puts numbers and long values into words, the same everywhere.
package words
