// Command release prepares a release of the library and of the modules nested in it.
//
//	go run -C .ci/tools ./release api                          # compares the API with that of the last release
//	go run -C .ci/tools ./release plan v0.2.0                  # writes go.mod files: this will be the next
//	go run -C .ci/tools ./release prepare v0.2.0 2027-01-31    # ... and CHANGELOG.md, and prints what comes next
//
// Its tests install the command whatif from a module proxy of this checkout.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := filepath.Join("..", "..")
	if err := run(root, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root string, args []string, w io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == "prepare":
		return prepare(root, args[1], args[2], w)
	case len(args) == 2 && args[0] == "plan":
		_, err := planVersion(root, args[1])
		return err
	case len(args) == 1 && args[0] == "api":
		return compareAPI(root, w)
	}
	return errors.New("usage: release api, release plan VERSION, or release prepare VERSION DATE")
}
