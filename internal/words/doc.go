// Package words puts numbers into words, the same everywhere.
package words
