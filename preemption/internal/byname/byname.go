package byname

import (
	"cmp"

	"github.com/google/btree"
)

// degree is that of the trees.
const degree = 32

// New returns an empty tree in the order of less.
func New[T any](less func(a, b *T) bool) *btree.BTreeG[*T] { return btree.NewG(degree, less) }

// Tree returns a tree of list in the order of less. Of equal objects the last stays.
func Tree[T any](list []*T, less func(a, b *T) bool) *btree.BTreeG[*T] {
	t := New(less)
	for _, item := range list {
		t.ReplaceOrInsert(item)
	}
	return t
}

// Before compares namespaces, then names.
func Before(namespace1, name1, namespace2, name2 string) bool {
	if c := cmp.Compare(namespace1, namespace2); c != 0 {
		return c < 0
	}
	return name1 < name2
}

// All lists the objects of t.
func All[T any](t *btree.BTreeG[*T]) []*T {
	list := make([]*T, 0, t.Len())
	t.Ascend(func(item *T) bool { list = append(list, item); return true })
	return list
}

// Values lists copies of the objects of t.
func Values[T any](t *btree.BTreeG[*T]) []T {
	list := make([]T, 0, t.Len())
	t.Ascend(func(item *T) bool { list = append(list, *item); return true })
	return list
}

// Pointers lists pointers into list.
func Pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
