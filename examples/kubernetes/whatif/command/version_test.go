package command

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	module := func(path, version string) debug.Module { return debug.Module{Path: path, Version: version} }
	dep := func(m debug.Module, replaced *debug.Module) []*debug.Module {
		other := module("k8s.io/api", "v0.37.2")
		m.Replace = replaced
		return []*debug.Module{&other, &m}
	}
	tests := map[string]struct {
		build debug.BuildInfo
		want  string
	}{
		"installed": {
			debug.BuildInfo{GoVersion: "go1.26.8", Main: module(library+"/examples/whatif", "v0.2.0"), Deps: dep(module(library, "v0.2.1"), nil)},
			"whatif v0.2.0 (library v0.2.1, go1.26.8)",
		},
		"in a checkout, with a replaced library": {
			debug.BuildInfo{GoVersion: "go1.26.8", Main: module(library+"/examples/kubernetes", "(devel)"), Deps: dep(module(library, "v0.1.0"), &debug.Module{Path: "../.."})},
			"whatif devel (library devel, go1.26.8)",
		},
		"in a workspace": {
			debug.BuildInfo{GoVersion: "go1.26.8", Main: module(library+"/examples/whatif", "(devel)"), Deps: dep(module(library, "(devel)"), nil)},
			"whatif devel (library devel, go1.26.8)",
		},
		"in a stamped checkout, with a fork of the library": {
			debug.BuildInfo{GoVersion: "go1.26.8", Main: module(library, "v0.1.1-0.20260101000000-abcdefabcdef+dirty"), Deps: dep(module(library, "v0.1.0"), &debug.Module{Path: "example.com/fork", Version: "v0.1.5"})},
			"whatif v0.1.1-0.20260101000000-abcdefabcdef+dirty (library v0.1.5, go1.26.8)",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, version(&tt.build, true)) })
	}
	require.Equal(t, "whatif devel (built without module information)", version(nil, false))

	stdout, stderr, status := output("", "-version")
	require.Equal(t, 0, status)
	require.Empty(t, stderr)
	require.Regexp(t, `^whatif \S+ \(library \S+, go\S+\)\n$`, stdout)
}
