package cluster

// csr is a list for each of a number of rows, in two slices.
type csr[V any] struct {
	first  []int32 // of each row in values; one more than there are rows
	values []V
}

// row returns the list of row i.
func (c *csr[V]) row(i int) []V {
	if len(c.values) == 0 {
		return nil
	}
	return c.values[c.first[i]:c.first[i+1]]
}

// mark notes where a row starts, as values are appended row by row; and once more
// where the last one ends.
func (c *csr[V]) mark() { c.first = append(c.first, int32(len(c.values))) }

// invert turns a list of K for each V into a list of V, ascending, for each K.
func invert[K, V ~int32](numK, numV int, of func(V) []K) csr[V] {
	c := csr[V]{first: make([]int32, numK+1)}
	for v := range V(numV) {
		for _, k := range of(v) {
			c.first[k+1]++
		}
	}
	for k := range numK {
		c.first[k+1] += c.first[k]
	}
	c.values = make([]V, c.first[numK])
	next := make([]int32, numK)
	copy(next, c.first)
	for v := range V(numV) {
		for _, k := range of(v) {
			c.values[next[k]] = v
			next[k]++
		}
	}
	return c
}
