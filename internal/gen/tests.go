package gen

import (
	"runtime"
	"testing"
)

// Tests runs the tests of a package whose clusters are small, and is what its TestMain does. They leave a heap of few megabytes,
// which would be collected hundreds of times a second; beside 64 MiB that are never touched, it may grow to 128 MiB first.
func Tests(m *testing.M) {
	ballast := make([]byte, 64<<20)
	m.Run()
	runtime.KeepAlive(ballast)
}
