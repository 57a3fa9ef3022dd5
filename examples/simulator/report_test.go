package simulator

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
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

// put writes a gzipped table into a folder.
func put(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(text))
	require.NoError(t, errors.Join(err, z.Close(), f.Close()))
}

// TestReadRecorded reads tables that are made up, in the form of the recorded ones.
func TestReadRecorded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "borg2011/machines.csv.gz", "machine,platform,cpu_ppm,mem_ppm,t0_cpu_requested_ppm,t0_mem_requested_ppm,t0_tasks\n7,0,500,100,300,200,2\n")
	put(t, dir, "borg2011/tasks_t0.csv.gz", "job,task,machine,user,sched_class,priority,cpu_ppm,mem_ppm,disk_ppm,diff_machine\n"+
		"1,0,7,0,0,9,100,50,0,0\n1,1,7,0,0,9,200,150,0,0\n2,0,,0,0,0,1,1,0,0\n3,0,8,0,0,0,1,1,0,0\n")
	put(t, dir, "borg2011/events.csv.gz", "t_us,event,job,task,machine,user,sched_class,priority,cpu_ppm,mem_ppm,disk_ppm,diff_machine\n"+
		"5000000,FINISH,1,1,7,,,,,,,\n9000000,SUBMIT,4,0,,0,0,2,60,70,0,0\n10000000,SCHEDULE,4,0,7,,,,,,,\n"+
		"12000000,EVICT,4,0,7,,,,,,,\n13000000,SUBMIT,4,0,,0,0,2,60,70,0,0\n14000000,SCHEDULE,4,0,7,,,,,,,\n21000000,FINISH,4,0,7,,,,,,,\n")
	f, until, err := ReadRecorded(dir, "borg2011")
	require.NoError(t, err)
	require.Equal(t, 5611*time.Second, until)
	require.Equal(t, map[string]int64{"cpu": 500, "memory": 200}, map[string]int64(f.Nodes[0].Allocatable))
	require.Len(t, f.Jobs, 3) // 2-0 waits for what is not recorded, the machine of 3-0 is not known
	require.Equal(t, []time.Duration{0, 5 * time.Second, 7 * time.Second}, []time.Duration{f.Jobs[0].Takes, f.Jobs[1].Takes, f.Jobs[2].Takes})
	require.Equal(t, 9*time.Second, f.Jobs[2].Arrives)
	f, _, err = ReadRecorded(dir, "borg2011-full")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"cpu": 300, "memory": 200}, map[string]int64(f.Nodes[0].Allocatable))

	put(t, dir, "itp2021/jobs.csv.gz", "job,cluster,submit_s,duration_s,gpus,pods,gpus_per_pod\n1,01,0,3600,16,2,8\n2,01,60,3600,16,2,8\n3,02,0,7200,8,1,8\n")
	f, _, err = ReadRecorded(dir, "itp2021")
	require.NoError(t, err)
	require.Equal(t, 2, f.Jobs[0].Pods)
	require.Equal(t, int32(1000), f.Jobs[0].Priority)
	require.Len(t, f.Nodes, 160)

	put(t, dir, "openb/nodes.csv.gz", "name,cpu_milli,memory_bytes,gpu_count,gpu_model\nn1,1000,5,2,T4\n")
	put(t, dir, "openb/pods.csv.gz", "name,cpu_milli,memory_bytes,gpu_count,gpu_milli,gpu_spec,qos,phase,creation_s,scheduled_s,deletion_s\np1,10,1,1,500,,BE,Running,3,,\n")
	f, _, err = ReadRecorded(dir, "openb")
	require.NoError(t, err)
	require.Equal(t, int64(2000), f.Nodes[0].Allocatable[GPU])
	require.Equal(t, int64(500), f.Jobs[0].Requests[GPU])

	put(t, dir, "philly2017/jobs.csv.gz", "job,vc\n1,a\n")
	_, _, err = ReadRecorded(dir, "philly2017")
	require.ErrorContains(t, err, "philly2017/jobs.csv.gz has no column")
	_, _, err = ReadRecorded(dir, "itp2021-full")
	require.ErrorContains(t, err, `trace "itp2021-full": want borg2011, borg2011-full`)
}

func noRoomIsSoldTwice(t *testing.T, s *Simulation) {
	t.Helper()
	require.NoError(t, s.Planner().View(func(v preemption.View) {
		for n := range v.Nodes() {
			for name, free := range v.Free(n.Name) {
				require.GreaterOrEqual(t, free, int64(0), "%s of %s", name, n.Name)
			}
		}
	}))
}

// TestRecordedFarms lives through what is recorded, where the data are there.
func TestRecordedFarms(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "shared", "data")
	for _, name := range []string{"borg2011/cell500-full", "itp2021"} {
		t.Run(name, func(t *testing.T) {
			f, until, err := ReadRecorded(folder, name)
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("SKIPPED: the recorded data are not there: ", err)
			}
			require.NoError(t, err)
			if until == 0 || testing.Short() {
				until = 20 * time.Minute
				if name == "itp2021" {
					until = 48 * time.Hour
				}
			}
			p, err := ReadPolicy("default", f.Measured)
			require.NoError(t, err)
			s, err := New(f, Settings{Grace: 10 * time.Second, Until: until}, p)
			require.NoError(t, err)
			for steps, more := 0, true; more; steps++ {
				more, err = s.Step()
				require.NoError(t, err)
				if steps%100 == 0 || !more {
					noRoomIsSoldTwice(t, s)
				}
			}
			all := s.Outcome().Rows[0]
			require.Positive(t, all.Jobs)
			require.Equal(t, all.Jobs, all.Done+all.Unfinished+all.Refused)
			if name != "itp2021" {
				require.Positive(t, all.Evictions)
			}
		})
	}
}

// BenchmarkSimulator lives through whole farms: an operation is all of it, the preparation
// apart. Recorded farms are skipped where they are not there.
func BenchmarkSimulator(b *testing.B) {
	for _, nodes := range []int{200, 12_477} {
		policies := []string{"none", "default", "guaranteed", "work"}
		if nodes > 200 {
			policies = policies[:2]
		}
		for _, policy := range policies {
			b.Run(fmt.Sprintf("farm=synthetic/nodes=%d/policy=%s", nodes, policy), func(b *testing.B) {
				if testing.Short() && (nodes > 200 || policy == "work") {
					b.Skip("takes its time")
				}
				farm := Synthetic{Seed: 1, Nodes: nodes, Jobs: min(100*nodes, 200_000), Load: 1}.Farm()
				simulate(b, farm, Settings{Grace: 30 * time.Second, Checkpoint: time.Hour}, policy)
			})
		}
	}
	for _, name := range []string{"borg2011", "borg2011-full", "borg2011/cell500-full"} {
		b.Run("farm="+name+"/policy=default", func(b *testing.B) {
			if testing.Short() {
				b.Skip("large")
			}
			farm, until, err := ReadRecorded(filepath.Join("..", "..", "..", "shared", "data"), name)
			if err != nil {
				b.Skip(err)
			}
			simulate(b, farm, Settings{Grace: 10 * time.Second, Until: until}, "default")
		})
	}
}

func simulate(b *testing.B, farm *Farm, settings Settings, policy string) {
	p, err := ReadPolicy(policy, farm.Measured)
	if err != nil {
		b.Fatal(err)
	}
	events, evictions := int64(0), int64(0)
	for b.Loop() {
		b.StopTimer()
		s, err := New(farm, settings, p)
		b.StartTimer()
		if err == nil {
			err = s.Run()
		}
		if err != nil {
			b.Fatal(err)
		}
		events += s.Events()
		evictions += s.Outcome().Rows[0].Evictions
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(events)/float64(b.N), "events/op")
	b.ReportMetric(float64(evictions)/float64(b.N), "evictions/op")
}
