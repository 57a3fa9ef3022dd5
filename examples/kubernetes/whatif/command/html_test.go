package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// paged is an answer and its page.
type paged struct {
	Answer
	file string
}

// asPage runs the command and returns the answer with the page of it.
func asPage(t *testing.T, stdin string, args ...string) *paged {
	t.Helper()
	p := &paged{file: filepath.Join(t.TempDir(), "answer.html")}
	stdout, stderr, status := output(stdin, append(args, "-html", p.file, "-o", "json")...)
	require.Equal(t, statusAnswered, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &p.Answer))
	return p
}

// A page is one file, names nobody outside it, and nothing of the input can leave its place in it.
func TestHTMLNeedsNothingElse(t *testing.T) {
	p := asPage(t, "")
	text, err := os.ReadFile(p.file)
	require.NoError(t, err)
	require.NotContains(t, string(text), "://")
	require.Contains(t, string(text), "default-src 'none'")
	require.Contains(t, string(text), "prefers-color-scheme: dark")
	list, err := os.ReadDir(filepath.Dir(p.file))
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// What a node lacks is said with when it lacks it: as things are, or with everybody gone.
func TestHTMLTellsWhenANodeLacks(t *testing.T) {
	const nodes = `{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", pods: "9"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "4", pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high1}, spec: {nodeName: n1, priority: 9, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: low1}, spec: {nodeName: n1, priority: 1, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: high2}, spec: {nodeName: n2, priority: 9, containers: [{name: m, resources: {requests: {cpu: "4"}}}]}}
`
	for cpu, want := range map[string][]string{
		"1": {`"it does not fit as things are: cpu is short by 1"`},
		"3": {`"it does not fit even with every potential victim gone: cpu is short by 1"`, `"nobody below priority 9 to evict"`},
	} {
		p := asPage(t, nodes, "-cpu", cpu, "-priority", "9")
		text, err := os.ReadFile(p.file)
		require.NoError(t, err)
		for _, why := range want {
			require.Contains(t, string(text), `"why":`+why)
		}
	}
}

// What cannot be written leaves what was there.
func TestHTMLIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	_, stderr, status := output("", "-html", filepath.Join(dir, "none", "x.html"))
	require.Equal(t, statusUnreadable, status)
	require.Contains(t, stderr, "whatif: -html: open ")

	name := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(name, []byte("before"), 0o600))
	broken := fmt.Errorf("broken")
	require.ErrorIs(t, replaceFile(name, func(w io.Writer) error { return broken }), broken)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "before", string(text))
	require.NoError(t, replaceFile(name, func(w io.Writer) error {
		_, err := w.Write([]byte("after"))
		return err
	}))
	text, err = os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "after", string(text))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 1)

	stdout, _, status := output("", "-html", os.DevNull)
	require.Equal(t, statusAnswered, status)
	require.Contains(t, stdout, "fits on node-b")
	info, err = os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular())

	for _, more := range [][]string{{"-batch", "x"}, {"-drain", "n"}, {"-apply", "x"}, {"-diff", "v1.36"}} {
		_, stderr, status = output("", append(more, "-html", name)...)
		require.Equal(t, statusUsage, status)
		require.Contains(t, stderr, "-html: a page has one answer")
	}
}

// tab is a tab of a browser.
type tab struct {
	*testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// browser opens a tab of Chromium.
func browser(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("SKIPPED: no chromium, chromium-browser or google-chrome on the PATH; the page was not looked at in a browser (apt-get install chromium)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx,
		chromedp.WithAllocatorOptions(chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1200, 1000)),
		chromedp.WithErrorf(func(string, ...any) {})) // of messages newer than the client
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			b.complaints = append(b.complaints, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			b.complaints = append(b.complaints, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.complaints = append(b.complaints, string(e.Type))
		}
	}))
	return b
}

// do acts.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, actions...))
}

// open shows a page.
func (b *tab) open(p *paged) {
	b.Helper()
	b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: p.file}).String()))
}

// quiet requires that nothing was complained of.
func (b *tab) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.complaints)
}

// run runs a statement.
func (b *tab) run(statement string) {
	b.Helper()
	of[any](b, statement+"; null")
}

// of evaluates an expression.
func of[T any](b *tab, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b, err)
	return value
}

const (
	marked  = `[...document.querySelectorAll('.bar > .victim')].map(e => e.dataset.pod).sort()`
	coming  = `Object.fromEntries([...document.querySelectorAll('.bar > .comes')].map(e => [e.dataset.pod, e.closest('.node').dataset.node]))`
	drawn   = `[...document.querySelectorAll('.node')].map(e => e.dataset.node)`
	reasons = `Object.fromEntries([...document.querySelectorAll('.node')].map(e => [e.dataset.node, e.querySelector('.why').textContent]))`
	focused = `document.activeElement.closest('.node')?.dataset.node ?? document.activeElement.id`
)

// TestHTMLInABrowser: the marked victims, and the pods that come, are those of the answer; every
// other node has its reason; and nothing is complained of.
func TestHTMLInABrowser(t *testing.T) {
	b := browser(t)
	nasty := `{apiVersion: v1, kind: Node, metadata: {name: "</script><img src=x onerror=alert(1)>"}, status: {allocatable: {cpu: "2", pods: "9"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: "<b>&amp;'{{.}}"}, spec: {nodeName: "</script><img src=x onerror=alert(1)>", containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
`
	for _, test := range []struct {
		name, stdin string
		args        []string
		nodes       int
	}{
		{"pod", "", nil, 5},
		{"gang", "", []string{"-cpu", "3", "-count", "3", "-priority", "600"}, 5},
		{"fits", "", []string{"-memory", "1Mi", "-priority", "5"}, 5},
		{"infeasible", "", []string{"-cpu", "900", "-priority", "2000"}, 5},
		{"queues", "", []string{"-f", "../../convert/testdata/others/kai.yaml"}, 1},
		{"nasty", nasty, []string{"-cpu", "2", "-priority", "5"}, 1},
		{"nasty gang", nasty, []string{"-cpu", "2", "-priority", "5", "-count", "2", "-explain"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &tab{T: t, ctx: b.ctx} // the complaints are those of the test around it
			p := asPage(t, test.stdin, test.args...)
			b.open(p)
			require.Equal(t, p.Victims, of[[]string](b, marked))
			require.Equal(t, p.Nominations, of[map[string]string](b, coming))
			nodes := of[map[string]string](b, reasons)
			require.Len(t, nodes, test.nodes)
			for name, why := range nodes {
				changes := slices.Contains(of[[]string](b, `[...document.querySelectorAll('.s0')].map(e => e.dataset.node)`), name)
				require.Equal(t, changes, why == "", "%s: %q", name, why)
			}
			for _, c := range p.Candidates {
				if c.Node != p.Chosen {
					would := fmt.Sprintf(`[...document.querySelectorAll('[data-node=%q] .other')].map(e => e.dataset.pod).sort()`, c.Node)
					marked := of[[]string](b, would)
					require.NotEmpty(t, marked)
					require.Subset(t, c.Victims, marked) // which may be elsewhere
				}
			}
			require.Contains(t, of[string](b, `document.getElementById('told').textContent`), p.Message)
			require.Zero(t, of[int](b, `document.images.length`))
		})
	}
	b.quiet()
	b.run(`console.error("heard")`)
	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.complaints) == 1
	}, time.Minute, time.Millisecond, "complaints are heard")
}

// TestHTMLByKeyboard: the filter, the buttons and each node can be had without a mouse.
func TestHTMLByKeyboard(t *testing.T) {
	b := browser(t)
	b.open(asPage(t, ""))
	all := []string{"node-b", "node-d", "node-e", "node-a", "node-c"}
	require.Equal(t, all, of[[]string](b, drawn))
	press := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if key != "/" {
				b.do(chromedp.KeyEvent(key))
				continue
			}
			// As a keyboard does: there is no letter if the page takes the key.
			_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key})
			require.NoError(t, err)
		}
	}
	filter := func(text string, want ...string) {
		t.Helper()
		press("/")
		require.Equal(t, "filter", of[string](b, focused))
		press(text)
		require.Equal(t, want, append([]string(nil), of[[]string](b, drawn)...), text)
		require.Equal(t, fmt.Sprintf("%d of 5 nodes", len(want)), of[string](b, `document.getElementById('count').textContent`))
		press(kb.Escape)
		require.Equal(t, all, of[[]string](b, drawn))
		b.run(`document.activeElement.blur()`)
	}
	filter("node-d", "node-d")
	filter("report-ADHOC", "node-b")
	filter("ml/train", "node-d", "node-e")
	filter("changes", "node-b")
	filter("taint dedicated", "node-c")
	filter("violations node-a", "node-a")
	filter("nobody")

	press("/", kb.ArrowDown)
	require.Equal(t, "node-b", of[string](b, focused))
	press(kb.End)
	require.Equal(t, "node-c", of[string](b, focused))
	press(kb.ArrowUp, kb.ArrowUp, kb.Home, kb.ArrowUp, kb.ArrowDown)
	require.Equal(t, "node-d", of[string](b, focused))
	press(kb.Enter)
	listed := chromedp.WaitReady(chromedp.CSS(".node[open] tbody tr"))
	b.do(listed)
	require.Equal(t, []string{"ml/train-0"}, of[[]string](b, `[...document.querySelectorAll('[open] tbody th')].map(e => e.textContent)`))
	require.Equal(t, "would be evicted", of[string](b, `document.querySelector('[open] tbody td:last-child').textContent`))
	press("/", "node-d") // what is open stays so
	b.do(listed)
	require.Equal(t, 1, of[int](b, `document.querySelectorAll('.node[open] tbody tr').length`))
	press(kb.Escape)

	b.do(chromedp.Focus(chromedp.CSS(`#states button[data-state="1"]`)))
	press(" ")
	require.Equal(t, []string{"node-b", "node-c"}, of[[]string](b, drawn))
	press(" ")
	require.Equal(t, all, of[[]string](b, drawn))
	cpu := of[string](b, `document.querySelector('.victim[data-pod]').title`)
	require.Equal(t, "reports/report-adhoc: is evicted, priority 10, cpu 1500m", cpu)
	b.do(chromedp.Focus(chromedp.CSS(`#resource`)))
	press("m")
	require.Equal(t, "reports/report-adhoc: is evicted, priority 10, memory 4Gi", of[string](b, `document.querySelector('.victim[data-pod]').title`))
	b.quiet()
}

// TestHTMLOfManyNodes: they are drawn a few at a time, the ones that change first, and the filter
// knows all of them.
func TestHTMLOfManyNodes(t *testing.T) {
	var dump strings.Builder
	for i := range 700 {
		fmt.Fprintf(&dump, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%03d"},"status":{"allocatable":{"cpu":"2","pods":"9"}}}`+"\n", i)
		fmt.Fprintf(&dump, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%03d"},"spec":{"nodeName":"n%03d","priority":%d,"containers":[{"name":"m","resources":{"requests":{"cpu":"2"}}}]}}`+"\n",
			i, i, 700-i)
	}
	b := browser(t)
	p := asPage(t, dump.String(), "-cpu", "2", "-priority", "350")
	require.Equal(t, []string{"default/p699"}, p.Victims)
	b.open(p)
	nodes := of[[]string](b, drawn)
	require.Len(t, nodes, 100)
	require.Equal(t, []string{"n699", "n698", "n697"}, nodes[:3])
	for _, want := range []int{600, 700} {
		b.do(chromedp.Click(chromedp.CSS("#more")))
		require.Len(t, of[[]string](b, drawn), want)
	}
	require.True(t, of[bool](b, `document.getElementById('more').hidden`))
	require.Equal(t, p.Victims, of[[]string](b, marked))
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "p000"))
	require.Equal(t, []string{"n000"}, of[[]string](b, drawn))
	b.quiet()
}

// TestHTMLLightAndDark: victims, pods that come and the ground have their colours in both.
func TestHTMLLightAndDark(t *testing.T) {
	b := browser(t)
	b.open(asPage(t, ""))
	for scheme, want := range map[string]map[string][3]uint8{
		"light": {"ground": {0xff, 0xff, 0xff}, "victims": {0xc4, 0x29, 0x1c}, "coming": {0x1a, 0x7f, 0x37}},
		"dark":  {"ground": {0x10, 0x15, 0x1c}, "victims": {0xff, 0x7b, 0x6e}, "coming": {0x63, 0xd1, 0x83}},
	} {
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		require.NoError(t, err)
		shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		picture, err := png.Decode(bytes.NewReader(shot))
		require.NoError(t, err)
		seen := map[[3]uint8]int{}
		area := picture.Bounds()
		for y := area.Min.Y; y < area.Max.Y; y++ {
			for x := area.Min.X; x < area.Max.X; x++ {
				r, g, b, _ := picture.At(x, y).RGBA()
				seen[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}]++
			}
		}
		require.Greater(t, seen[want["ground"]], area.Dx()*area.Dy()/2, scheme)
		for _, what := range []string{"victims", "coming"} {
			require.Greater(t, seen[want[what]], 300, "%s: %s", scheme, what)
		}
	}
	b.quiet()
}
