// Package found holds what the readers of an answer find untrue about it.
package found
