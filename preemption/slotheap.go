package preemption

// heapify makes a heap of h, the least first.
func heapify[T any](h []T, compare func(a, b *T) int) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftDown(h, i, compare)
	}
}

// siftUp moves the i-th to its place in the heap, which is before it.
func siftUp[T any](h []T, i int, compare func(a, b *T) int) {
	for i > 0 {
		up := (i - 1) / 2
		if compare(&h[i], &h[up]) >= 0 {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

// siftDown moves the i-th to its place in the heap, which is behind it.
func siftDown[T any](h []T, i int, compare func(a, b *T) int) {
	for {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && compare(&h[down+1], &h[down]) < 0 {
			down++
		}
		if compare(&h[i], &h[down]) <= 0 {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
