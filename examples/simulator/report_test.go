package simulator

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// compared is a comparison of two policies that is done, and its page.
func compared(t *testing.T) (*Comparison, []byte) {
	t.Helper()
	c, err := Compare(small(7), settings, BuiltIn(GPU)[:2])
	require.NoError(t, err)
	require.NoError(t, c.Run())
	var page bytes.Buffer
	require.NoError(t, WritePage(&page, c.farm, "A <farm> & its policies", c.Outcomes()))
	return c, page.Bytes()
}

// element is an element of a page.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []*element `xml:",any"`
}

// all are the elements of a name, in order.
func (e *element) all(name string) (list []*element) {
	if e.XMLName.Local == name {
		list = append(list, e)
	}
	for _, child := range e.Children {
		list = append(list, child.all(name)...)
	}
	return list
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// TestThePageSaysWhatTheNumbersSay: it is well-formed, has each plot with a text of what it
// shows, each number of the CSV in its place, and asks nobody for anything.
func TestThePageSaysWhatTheNumbersSay(t *testing.T) {
	c, page := compared(t)
	var root element
	in := xml.NewDecoder(bytes.NewReader(page))
	require.NoError(t, in.Decode(&root))
	_, err := in.Token()
	for err == nil { // white space
		_, err = in.Token()
	}
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "A <farm> & its policies", root.all("h1")[0].Text)

	var table bytes.Buffer
	require.NoError(t, WriteCSV(&table, c.Outcomes()))
	want, err := csv.NewReader(&table).ReadAll()
	require.NoError(t, err)
	var got [][]string
	for _, row := range root.all("tr") {
		var cells []string
		for _, cell := range row.Children {
			cells = append(cells, strings.TrimSpace(cell.Text))
		}
		got = append(got, cells)
	}
	require.Equal(t, want, got)
	require.Greater(t, len(want), 6)

	var plots []*element
	for _, svg := range root.all("svg") {
		if svg.attr("role") == "img" {
			plots = append(plots, svg)
		}
	}
	require.Len(t, plots, 4)
	for i, plot := range plots {
		require.NotEmpty(t, plot.attr("aria-label"))
		for _, policy := range []string{"none", "default"} {
			require.Contains(t, plot.all("desc")[0].Text, policy)
		}
		require.Len(t, plot.all("polyline"), []int{2, 2, 0, 0}[i])
		require.Len(t, plot.all("rect"), []int{0, 0, len(want) - 1, 2}[i])
	}
	require.Empty(t, root.all("script"))
	require.NotContains(t, strings.ReplaceAll(string(page), "http://www.w3.org/1999/xhtml", ""), "://")
	require.Contains(t, string(page), "prefers-color-scheme: dark")
}

// browser is a Chromium on the PATH; empty: there is none.
func browser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// TestThePageInABrowser: it shows its plots in the colours of the policies on a light ground
// or a dark one, as the reader likes it, and nothing is complained of.
func TestThePageInABrowser(t *testing.T) {
	path := browser()
	if path == "" {
		t.Skip("SKIPPED: no chromium, chromium-browser or google-chrome on the PATH; the page was not looked at in a browser (apt-get install chromium)")
	}
	_, page := compared(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(file, page, 0o600))
	for _, look := range []struct {
		name   string
		flags  []string
		ground [3]uint8
		colour [][3]uint8 // of the policies
	}{
		{"light", nil, [3]uint8{0xff, 0xff, 0xff}, [][3]uint8{{0x57, 0x60, 0x6a}, {0x0b, 0x62, 0xc4}}},
		{"dark", []string{"--force-dark-mode"}, [3]uint8{0x10, 0x15, 0x1c}, [][3]uint8{{0xa8, 0xb3, 0xbf}, {0x6c, 0xb2, 0xff}}},
	} {
		shot := filepath.Join(dir, look.name+".png")
		log := open(t, path, append(look.flags, "--screenshot="+shot, "file://"+file))
		require.NotContains(t, log, "CONSOLE")
		f, err := os.Open(shot)
		require.NoError(t, err, log)
		picture, err := png.Decode(f)
		require.NoError(t, errors.Join(err, f.Close()))
		seen := colours(picture)
		require.Greater(t, seen[look.ground], picture.Bounds().Dx()*picture.Bounds().Dy()/2, look.name)
		for _, c := range look.colour {
			require.Greater(t, seen[c], 500, "%s: the colour %x", look.name, c)
		}
	}
}

// open runs a browser and returns what it logs.
func open(t *testing.T, path string, flags []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	flags = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,2400", "--enable-logging=stderr",
		"--user-data-dir=" + t.TempDir(),
	}, flags...)
	log, err := exec.CommandContext(ctx, path, flags...).CombinedOutput()
	require.NoError(t, err, string(log))
	return string(log)
}

// colours counts the pixels of each colour.
func colours(picture image.Image) map[[3]uint8]int {
	seen := map[[3]uint8]int{}
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			seen[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}]++
		}
	}
	return seen
}
