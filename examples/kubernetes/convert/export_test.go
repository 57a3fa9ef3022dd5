package convert

// SetBlock makes l read in blocks of so many bytes.
func (l *Loader) SetBlock(size int) *Loader {
	l.size = size
	return l
}
