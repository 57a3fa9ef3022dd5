package floors_test

import (
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages reads the Markdown files of the repository by their path, those of nested modules
// too.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && strings.HasPrefix(name, ".") && name != ".." && name != ".github" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := texts[filepath.Join(root, "README.md")]; !ok {
		t.Fatalf("found no README.md among %d pages", len(texts))
	}
	return texts
}

var (
	fences   = regexp.MustCompile("(?ms)^```.*?^```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)]*)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names that a page's headings have in links to them.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		name := unlinked.ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// TestLinks: what a page links to within the repository is there, and so is the heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	links := 0
	for page, text := range all {
		text = code.ReplaceAllString(fences.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !anchors(all[target])[anchor] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if links < 20 {
		t.Errorf("found %d links", links)
	}
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestPagesCode: the Go code of a page is lines of an example beside it, in a file that
// is named for the page (pages_test.go for PAGES.md) and has nothing but examples whose
// output is checked. The program of the root's README is a command, with a test of its own.
func TestPagesCode(t *testing.T) {
	root := filepath.Join("..", "..", "README.md")
	for page, text := range pages(t) {
		blocks := goBlock.FindAllStringSubmatch(text, -1)
		if page == root || len(blocks) == 0 {
			continue
		}
		name := strings.TrimSuffix(page, ".md")
		name = filepath.Join(filepath.Dir(name), strings.ToLower(filepath.Base(name))+"_test.go")
		source, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%s has code: %v", page, err)
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(file) {
			if e.Output == "" {
				t.Errorf("%s: Example%s is not run", name, e.Name)
			}
		}
		if strings.Contains(string(source), "\nfunc Test") || len(doc.Examples(file)) == 0 {
			t.Errorf("%s: it has tests, or no examples", name)
		}
		lines := dedented(string(source))
		for _, b := range blocks {
			if !strings.Contains(lines, dedented(b[1])) {
				t.Errorf("%s shows what %s does not have:\n%s", page, name, b[1])
			}
		}
	}
}

// dedented is a text without the spaces at the ends of its lines, so that code may stand
// on another depth.
func dedented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
