package heaps

// Init makes a heap of h. O(len).
func Init[T any](h []T, compare func(a, b *T) int) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		Down(h, i, compare)
	}
}

// Up moves the i-th to its place, which is there or before it. O(log len).
func Up[T any](h []T, i int, compare func(a, b *T) int) {
	for i > 0 {
		up := (i - 1) / 2
		if compare(&h[i], &h[up]) >= 0 {
			return
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

// Down moves the i-th to its place, which is there or behind it. O(log len).
func Down[T any](h []T, i int, compare func(a, b *T) int) {
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

// Push adds v. O(log len).
func Push[T any](h []T, v T, compare func(a, b *T) int) []T {
	h = append(h, v)
	Up(h, len(h)-1, compare)
	return h
}

// Pop takes the first away, which is the least; there has to be one. O(log len).
func Pop[T any](h []T, compare func(a, b *T) int) []T {
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	Down(h, 0, compare)
	return h
}

// Keep takes all away but those that counts admits, and returns what is left of h. O(len).
func Keep[T any](h []T, counts func(v *T) bool, compare func(a, b *T) int) []T {
	kept := h[:0]
	for i := range h {
		if counts(&h[i]) {
			kept = append(kept, h[i])
		}
	}
	Init(kept, compare)
	return kept
}
