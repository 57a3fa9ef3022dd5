package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/sumdb/dirhash"
)

// checkout is the folder of the library, seen from that of the tests.
var checkout = filepath.Join("..", "..", "..")

// must stops the test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// proxied makes a module proxy of the checkout, its files written in the given order,
// and returns its folder, the version and the modules.
func proxied(t *testing.T, reorder func([]string)) (dir, version string, mods []mod) {
	t.Helper()
	files := must[[]string](t)(tracked(checkout))
	reorder(files)
	root := t.TempDir()
	check(t, copyFiles(root, checkout, files))
	mods = must[[]mod](t)(released(checkout))
	version = must[string](t)(planned(mods))
	dir = t.TempDir()
	check(t, writeProxy(dir, root, version, mods))
	return dir, version, mods
}

// TestInstall: go install with a version, from a module proxy and with nothing else of
// the checkout, gives a command that answers, and the same bytes each time.
func TestInstall(t *testing.T) {
	proxy, version, _ := proxied(t, func([]string) {})
	var installed [2][]byte
	for i := range installed {
		home, env := stranger(t, proxy)
		shell(t, home, env, "go", "install", library+"/examples/whatif@"+version)
		command := filepath.Join(home, "bin", "whatif")
		installed[i] = must[[]byte](t)(os.ReadFile(command))
		if want, got := "whatif "+version+" (library "+version+", go", shell(t, home, env, command, "-version"); !strings.HasPrefix(got, want) {
			t.Errorf("-version prints %q, not %q...", got, want)
		}
		want := shown(t, "examples/kubernetes/README.md", "text")
		if got := shell(t, home, env, command); got != want {
			t.Errorf("about the sample, whatif prints\n%s\nREADME.md of examples/kubernetes says\n%s", got, want)
		}
	}
	if !bytes.Equal(installed[0], installed[1]) {
		t.Error("two installations give different bytes")
	}
}

// stranger is a home without anything, and an environment in which the modules of a proxy
// and those that this build has are all that there are.
func stranger(t *testing.T, proxy string) (home string, env []string) {
	home = t.TempDir()
	return home, append(os.Environ(),
		"GOPATH="+home, "GOBIN="+filepath.Join(home, "bin"), "GOMODCACHE="+filepath.Join(home, "mod"),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(modCache(t))+"/cache/download",
		"GOSUMDB=off", "GOWORK=", "GOFLAGS=-modcacherw -trimpath",
	)
}

// shown is the first block of a language that a page shows.
func shown(t *testing.T, page, language string) string {
	t.Helper()
	text := string(must[[]byte](t)(os.ReadFile(filepath.Join(checkout, page))))
	_, text, _ = strings.Cut(text, "```"+language+"\n")
	block, _, ok := strings.Cut(text, "```")
	if !ok || block == "" {
		t.Fatalf("%s shows no %s", page, language)
	}
	return block
}

// TestGet: go get, as README.md has it, and its program are all that it takes.
func TestGet(t *testing.T) {
	proxy, version, _ := proxied(t, func([]string) {})
	_, env := stranger(t, proxy)
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(shown(t, "README.md", "go")), 0o644))
	page := string(must[[]byte](t)(os.ReadFile(filepath.Join(checkout, "README.md"))))
	_, get, _ := strings.Cut(page, "\n    go get ")
	get, _, _ = strings.Cut(get, " ")
	shell(t, dir, env, "go", "mod", "init", "example.com/mine")
	shell(t, dir, env, "go", "get", get+"@"+version)
	if got, want := shell(t, dir, env, "go", "run", "."), shown(t, "README.md", "text"); got != want {
		t.Errorf("the program of README.md prints\n%s\nnot\n%s", got, want)
	}
}

// TestClone: the commands of a clone need no module of the library from elsewhere,
// whatever the environment (-trimpath only for the sake of the build cache).
func TestClone(t *testing.T) {
	modCache(t)
	root := t.TempDir()
	check(t, copyFiles(root, checkout, must[[]string](t)(tracked(checkout))))
	for _, env := range [][]string{{"GOFLAGS=-trimpath"}, {"GOFLAGS=-trimpath -mod=mod"}, {"GOFLAGS=-trimpath -mod=readonly", "GOWORK=off"}} {
		env = slices.Concat(os.Environ(), []string{"GOWORK=", "GOPROXY=off"}, env)
		got := shell(t, root, env, "go", "run", "-C", "examples/kubernetes", "./whatif", "-version")
		if !strings.HasPrefix(got, "whatif devel (library devel, go") {
			t.Errorf("%v: -version prints %q", env[len(env)-2:], got)
		}
	}
	env := append(os.Environ(), "GOWORK=", "GOPROXY=off", "GOFLAGS=-trimpath")
	if got := shell(t, root, env, "go", "run", "-C", "examples/whatif", ".", "-version"); !strings.HasPrefix(got, "whatif devel (library devel, go") {
		t.Errorf("examples/whatif: -version prints %q", got)
	}
}

// modCache is the module cache of this build, in which the modules of others are, at the
// latest after this.
func modCache(t *testing.T) string {
	env := append(os.Environ(), "GOWORK=off")
	shell(t, filepath.Join(checkout, "examples", "kubernetes"), env, "go", "list", "-deps", "./whatif")
	return strings.TrimSpace(shell(t, ".", env, "go", "env", "GOMODCACHE"))
}

// shell runs a command and returns what it prints; without input.
func shell(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, env
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, complaint.String())
	}
	return out.String()
}

// TestZips: the archive of a module depends on nothing but the files, and holds what its
// users and its tests need.
func TestZips(t *testing.T) {
	one, version, mods := proxied(t, func([]string) {})
	other, _, _ := proxied(t, slices.Reverse)
	for _, m := range mods {
		name := filepath.Join(filepath.FromSlash(m.path), "@v", version+".zip")
		a, b := must[[]byte](t)(os.ReadFile(filepath.Join(one, name))), must[[]byte](t)(os.ReadFile(filepath.Join(other, name)))
		if sha256.Sum256(a) != sha256.Sum256(b) {
			t.Errorf("%s: two archives differ", m.path)
		}
		h1 := must[string](t)(dirhash.HashZip(filepath.Join(one, name), dirhash.Hash1))
		files := contents(t, a, m, version)
		t.Logf("%s: %d bytes, %d files, %s", m.path, len(a), len(files), h1)
		if limit := 2 << 20; len(a) > limit {
			t.Errorf("%s: the archive has %d bytes, more than %d", m.path, len(a), limit)
		}
		if !slices.Contains(files, "go.mod") || m.dir == "." && !slices.Contains(files, "LICENSE") {
			t.Errorf("%s: the archive lacks go.mod or LICENSE", m.path)
		}
	}
}

// TestZipsOfClones: two clones make the same archive of the library, wherever they are, and it is that
// of the checkout if nothing is changed there: whoever clones a tag can compare with go.sum.
func TestZipsOfClones(t *testing.T) {
	mods := must[[]mod](t)(released(checkout))
	version := must[string](t)(planned(mods))
	hash := func(root string) string {
		dir := t.TempDir()
		check(t, writeProxy(dir, root, version, mods[:1]))
		return must[string](t)(dirhash.HashZip(filepath.Join(dir, filepath.FromSlash(library), "@v", version+".zip"), dirhash.Hash1))
	}
	var hashes []string
	for range 2 {
		root := filepath.Join(t.TempDir(), "clone")
		must[string](t)(git(checkout, "clone", "--quiet", "--shared", ".", root))
		hashes = append(hashes, hash(root))
	}
	t.Log(hashes[0])
	if hashes[0] != hashes[1] {
		t.Errorf("two clones make archives with the hashes %q", hashes)
	}
	if must[string](t)(git(checkout, "status", "--porcelain")) != "" {
		return
	}
	root := t.TempDir()
	check(t, copyFiles(root, checkout, must[[]string](t)(tracked(checkout))))
	if here := hash(root); here != hashes[0] {
		t.Errorf("the archive of the checkout has the hash %s, those of clones %s", here, hashes[0])
	}
}

// contents lists the files of an archive, and complains about those that no user and no
// test needs, or that are larger than a file of a module should be.
func contents(t *testing.T, archive []byte, m mod, version string) []string {
	var names []string
	r := must[*zip.Reader](t)(zip.NewReader(bytes.NewReader(archive), int64(len(archive))))
	for _, f := range r.File {
		name := strings.TrimPrefix(f.Name, m.path+"@"+version+"/")
		names = append(names, name)
		inTestdata := strings.Contains("/"+name, "/testdata/")
		switch ext := filepath.Ext(name); {
		case f.UncompressedSize64 > 256<<10:
			t.Errorf("%s: %s has %d bytes", m.path, name, f.UncompressedSize64)
		case inTestdata && !tested(r, f.Name):
			t.Errorf("%s: %s is data of tests that are not there", m.path, name)
		case inTestdata, slices.Contains([]string{".go", ".mod", ".sum", ".work", ".md", ".svg"}, ext):
		case embedded(t, r, f.Name):
		case name != "LICENSE" && name != ".gitignore":
			t.Errorf("%s: what is %s for?", m.path, name)
		}
	}
	return names
}

// embedded reports whether a Go file beside a file names it: programs have such files in
// them.
func embedded(t *testing.T, r *zip.Reader, name string) bool {
	return slices.ContainsFunc(r.File, func(f *zip.File) bool {
		if path.Dir(f.Name) != path.Dir(name) || path.Ext(f.Name) != ".go" {
			return false
		}
		source := must[io.ReadCloser](t)(f.Open())
		defer source.Close()
		return bytes.Contains(must[[]byte](t)(io.ReadAll(source)), []byte(path.Base(name)))
	})
}

// tested reports whether a test lies beside the folder testdata that has a file.
func tested(r *zip.Reader, name string) bool {
	beside, _, _ := strings.Cut(name, "testdata/")
	return slices.ContainsFunc(r.File, func(f *zip.File) bool {
		rest, ok := strings.CutPrefix(f.Name, beside)
		return ok && strings.HasSuffix(rest, "_test.go") && !strings.Contains(rest, "/")
	})
}

// TestPrepare: a release is one step, after which the commands that it prints make one
// that go install finds by its tags.
func TestPrepare(t *testing.T) {
	root := t.TempDir()
	check(t, copyFiles(root, checkout, must[[]string](t)(tracked(checkout))))
	shell(t, root, os.Environ(), "git", "init", "-q")
	shell(t, root, os.Environ(), "git", "add", "-A")
	commit := []string{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "as it is"}
	shell(t, root, os.Environ(), "git", commit...)
	const version = "v0.99.1"
	var said strings.Builder
	check(t, prepare(root, version, "2027-01-31", &said))
	mods := must[[]mod](t)(released(root))
	if got := must[string](t)(planned(mods)); got != version {
		t.Errorf("the modules require %s, not %s", got, version)
	}
	if last := mods[len(mods)-1].dir; last != "examples/whatif" {
		t.Errorf("the last module to be tagged is %s", last)
	}
	log := string(must[[]byte](t)(os.ReadFile(filepath.Join(root, "CHANGELOG.md"))))
	if !strings.Contains(log, "\n## [Unreleased]\n\n## [0.99.1] - 2027-01-31\n\n### ") {
		t.Error("CHANGELOG.md has not the new section")
	}
	for _, m := range mods {
		before := must[[]byte](t)(os.ReadFile(filepath.Join(checkout, m.dir, "go.mod")))
		after := must[[]byte](t)(os.ReadFile(filepath.Join(root, m.dir, "go.mod")))
		plan := must[string](t)(planned(must[[]mod](t)(released(checkout))))
		if changed := strings.ReplaceAll(string(after), version, plan); changed != string(before) {
			t.Errorf("%s/go.mod changed beyond its versions:\n%s", m.dir, after)
		}
	}
	for line := range strings.Lines(said.String()) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "git" && words[1] != "push" {
			shell(t, root, os.Environ(), "git", append(slices.Clone(commit[:4]), words[1:]...)...)
		}
	}
	if want := "git push --atomic origin main v0.99.1 examples/kubernetes/v0.99.1 examples/kubescheduler/v0.99.1 examples/whatif/v0.99.1\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("said\n%s\nwithout %s", &said, want)
	}
	installTagged(t, root, version)
	if err := prepare(root, "v0.99.2", "2027-02-01", &said); err == nil || !strings.Contains(err.Error(), "has nothing under") {
		t.Errorf("what has not changed is released: %v", err)
	}
	check(t, os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte("## [Unreleased]\n\n- something\n"), 0o644))
	shell(t, root, os.Environ(), "git", append(commit, "-a")...)
	for _, bad := range [][2]string{{version, "2027-02-01"}, {"v0.99.0", "2027-02-01"}, {"0.99.2", "2027-02-01"}, {"v0.99", "2027-02-01"}, {"v0.99.2", "1.2.2027"}} {
		if err := prepare(root, bad[0], bad[1], &said); err == nil {
			t.Errorf("%s of %s can be prepared", bad[0], bad[1])
		}
	}
	if status := shell(t, root, os.Environ(), "git", "status", "--porcelain"); status != "" {
		t.Errorf("what was refused has changed\n%s", status)
	}
	check(t, prepare(root, "v0.99.2", "2027-02-01", &said))
}

// installTagged installs the latest whatif from a repository, which stands for the public
// one, without a proxy that has it.
func installTagged(t *testing.T, root, version string) {
	t.Helper()
	home, env := stranger(t, t.TempDir())
	env = append(env, "GOPROXY=file://"+filepath.ToSlash(modCache(t))+"/cache/download,direct", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://"+filepath.ToSlash(root)+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+library)
	shell(t, home, env, "go", "install", library+"/examples/whatif@latest")
	if got := shell(t, home, env, filepath.Join(home, "bin", "whatif"), "-version"); !strings.HasPrefix(got, "whatif "+version+" (library "+version) {
		t.Errorf("-version prints %q", got)
	}
}

// TestAPI: what is gone since the last release needs a version that may break.
func TestAPI(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		check(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	commit := func() {
		t.Helper()
		shell(t, root, os.Environ(), "git", "add", "-A")
		shell(t, root, os.Environ(), "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "a change")
	}
	plan := func(version string) {
		t.Helper()
		write("examples/whatif/go.mod", "module "+library+"/examples/whatif\n\nrequire "+library+" "+version+"\n")
	}
	expect := func(want string, complaint bool) {
		t.Helper()
		var said strings.Builder
		err := compareAPI(root, &said)
		if !strings.Contains(said.String(), want) || (err != nil) != complaint {
			t.Errorf("said %q and complained %v; expected %q, a complaint: %v", &said, err, want, complaint)
		}
	}
	shell(t, root, os.Environ(), "git", "init", "-q")
	write("go.mod", "module "+library+"\n\ngo 1.26\n")
	write("p/p.go", "package p\n\n// A is one.\nconst A = 1\n\n// B is two.\nconst B = 2\n")
	write("internal/q/q.go", "package q\n\n// C is for the module itself.\nconst C = 1\n")
	plan("v0.1.0")
	commit()
	expect("no released version", false)
	shell(t, root, os.Environ(), "git", "tag", "v0.1.0")
	shell(t, root, os.Environ(), "git", "tag", "v0.2.0-rc.1")
	expect("since v0.1.0", false)

	write("internal/q/q.go", "package q\n")
	write("p/p.go", "package p\n\n// A is one.\nconst A = 1\n\n// B is two.\nconst B = 2\n\n// D is new.\nconst D = 1\n")
	expect("D: added", false)

	write("p/p.go", "package p\n\n// A is one.\nconst A = 1\n")
	expect("B: removed", true)
	plan("v0.1.1")
	expect("B: removed", true)
	plan("v0.2.0")
	expect("B: removed", false)

	commit()
	shell(t, root, os.Environ(), "git", "tag", "v1.0.0")
	write("p/p.go", "package p\n")
	plan("v1.1.0")
	expect("A: removed", true)
	write("p/p.go", "package p\n\nfunc {\n")
	expect("", true)
}

// TestOrder: a module is tagged after those that it requires, all with one version.
func TestOrder(t *testing.T) {
	mods := must[[]mod](t)(released(checkout))
	for i, m := range mods {
		for _, later := range mods[i:] {
			if required(m.file, later.path) != "" {
				t.Errorf("%s comes before %s, which it requires", m.dir, later.dir)
			}
		}
	}
	if _, err := planned([]mod{
		{dir: "a", path: "a", file: must[*modfile.File](t)(modfile.Parse("", []byte("module a\nrequire b v0.1.0\n"), nil))},
		{dir: "b", path: "b", file: must[*modfile.File](t)(modfile.Parse("", []byte("module b\nrequire a v0.2.0\n"), nil))},
	}); err == nil {
		t.Error("two versions at once are no plan")
	}
}
