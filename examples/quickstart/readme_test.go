package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readme reads the README, whose program this is.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns the first fenced block of a language.
func block(t *testing.T, text, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "```"+language+"\n")
	if !ok {
		t.Fatalf("README.md has no block of %s", language)
	}
	body, _, _ := strings.Cut(rest, "```")
	return body
}

// TestReadmeProgram: the README shows this program, and what it prints.
func TestReadmeProgram(t *testing.T) {
	text := readme(t)
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, program, _ := strings.Cut(string(source), "\n"); program != block(t, text, "go") {
		t.Error("README.md shows another program than main.go")
	}
	if got, want := output(t), block(t, text, "text"); got != want {
		t.Errorf("main prints\n%s\nREADME.md says\n%s", got, want)
	}
}

// output runs main and returns what it prints.
func output(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	main()
	os.Stdout = stdout
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// allocations are counts in the table of numbers: those of the benchmarks' own page.
var allocations = regexp.MustCompile(`([0-9,]+) allocations`)

// TestReadmeNumbers: the table shows what bench/RESULTS.md has.
func TestReadmeNumbers(t *testing.T) {
	results, err := os.ReadFile(filepath.Join("..", "..", "bench", "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := allocations.FindAllStringSubmatch(readme(t), -1)
	if len(found) == 0 {
		t.Fatal("README.md has no numbers")
	}
	for _, m := range found {
		if !strings.Contains(string(results), "| "+strings.ReplaceAll(m[1], ",", "")+" |") {
			t.Errorf("README.md: %s are not in bench/RESULTS.md", m[0])
		}
	}
}

// TestReadmePicture: the picture is XML, has a title and words for those who do not see
// it, and colors for dark pages.
func TestReadmePicture(t *testing.T) {
	name := regexp.MustCompile(`\]\(([^)]*\.svg)\)`).FindStringSubmatch(readme(t))
	if name == nil {
		t.Fatal("README.md shows no picture")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name[1])))
	if err != nil {
		t.Fatal(err)
	}
	var picture struct {
		XMLName xml.Name
		Title   string `xml:"title"`
		Desc    string `xml:"desc"`
		Style   string `xml:"style"`
	}
	if err := xml.Unmarshal(text, &picture); err != nil {
		t.Fatal(err)
	}
	if picture.XMLName.Local != "svg" || picture.Title == "" || picture.Desc == "" || !strings.Contains(picture.Style, "prefers-color-scheme: dark") {
		t.Errorf("%s lacks something: %+v", name[1], picture)
	}
}

// TestReadmePackages: the README links to every package that users can import.
func TestReadmePackages(t *testing.T) {
	for _, dir := range packages(t) {
		if !strings.Contains(readme(t), "]("+dir+")") {
			t.Errorf("README.md does not name package %s", dir)
		}
	}
}

// packages lists the folders of the root module that have a doc.go, but for internal ones.
func packages(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && rel != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "internal" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir():
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && rel != "." {
				return filepath.SkipDir
			}
		case entry.Name() == "doc.go":
			dirs = append(dirs, filepath.ToSlash(filepath.Dir(rel)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("found no package: " + fmt.Sprint(root))
	}
	return dirs
}
