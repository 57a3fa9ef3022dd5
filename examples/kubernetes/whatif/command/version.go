package command

import (
	"cmp"
	"runtime/debug"
)

// library is the module path of the library, and the prefix of those nested in it.
const library = "github.com/preempt-go/preempt"

// version tells of what the binary was built: "devel" is a checkout, whose state nobody knows.
func version(build *debug.BuildInfo, ok bool) string {
	if !ok {
		return "whatif devel (built without module information)"
	}
	of := "devel"
	for _, m := range build.Deps {
		if m.Path == library {
			of = released(m)
		}
	}
	return "whatif " + released(&build.Main) + " (library " + of + ", " + build.GoVersion + ")"
}

// released is the version of a module, "devel" if it is a checkout.
func released(m *debug.Module) string {
	if m.Replace != nil {
		m = m.Replace // of a folder, it has no version
	}
	if m.Version == "(devel)" {
		return "devel"
	}
	return cmp.Or(m.Version, "devel")
}
