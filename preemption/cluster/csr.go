package cluster

// csr is a list for each of a number of rows, in two slices.
type csr[V any] struct {
	first  []int32 // of each row in values; one more than there are rows
	values []V
}

// row returns the list of row i, none if i is beyond the last one.
func (c *csr[V]) row(i int) []V {
	if i+1 >= len(c.first) {
		return nil
	}
	return c.values[c.first[i]:c.first[i+1]]
}

// mark notes where a row starts, as values are appended row by row; and once more
// where the last one ends.
func (c *csr[V]) mark() { c.first = append(c.first, int32(len(c.values))) }
