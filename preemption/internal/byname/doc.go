// Package byname keeps the objects of a live model in order of their names: pointers to
// objects that are never changed, in trees that are cloned lazily.
package byname
