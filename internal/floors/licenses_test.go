package floors_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDependenciesAreListed in SECURITY.md, with a license: what the root module requires,
// and what the nested ones do directly.
func TestDependenciesAreListed(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (.*) \| \S.* \| \S.* \|$`)
	listed := map[string]bool{}
	for _, cells := range row.FindAllStringSubmatch(string(page), -1) {
		for module := range strings.SplitSeq(cells[1], ", ") {
			listed[module] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*", "go.mod"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	module := regexp.MustCompile(`(?m)^(?:require )?\s*([a-z]\S*\.\S*/\S+) v\S+( // indirect)?$`)
	seen := 0
	for _, file := range append(files, filepath.Join(root, "go.mod")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range module.FindAllStringSubmatch(string(text), -1) {
			seen++
			switch path := m[1]; {
			case strings.HasPrefix(path, "github.com/preempt-go/preempt"), file != filepath.Join(root, "go.mod") && m[2] != "":
			case !listed[path] && !(listed["k8s.io/*"] && strings.HasPrefix(path, "k8s.io/")):
				t.Errorf("%s requires %s, which SECURITY.md does not list with its license", file, path)
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d modules only", seen)
	}
}
