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
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
)

// small is a synthetic farm that takes a moment, with failures of nodes.
func small(seed uint64) *Farm {
	y := Synthetic{Seed: seed, Nodes: 20, Jobs: 600, Load: 1.2}
	if testing.Short() {
		y.Jobs = 300
	}
	f := y.Farm()
	for i, n := range f.Nodes {
		if j := &f.Jobs[i+9]; j.Pods == 1 {
			j.Node = n.Name
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for range 30 {
		n, at := f.Nodes[r.IntN(20)], time.Duration(r.IntN(40))*time.Hour
		again := at + time.Duration(1+r.IntN(5))*time.Hour
		if !slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Node.Name == n.Name }) {
			moved := n
			moved.Labels = maps.Clone(n.Labels)
			moved.Labels[Rack] = f.Nodes[0].Labels[Rack]
			f.Changes = append(f.Changes, Change{At: at, Node: n, Gone: true}, Change{At: again, Node: n}, Change{At: again, Node: moved})
		}
	}
	return f
}

// several are policies that have a say in everything: when to ask, whom, and at what price.
func several(t testing.TB) []Policy {
	list := BuiltIn(GPU)
	for _, text := range []string{
		`cooldown={"noCascade": true, "guards": {"cooldown": {"evictions": 2, "seconds": 7200}}}`,
		`equals={"guards": {"equalAfterSeconds": 3600, "cooldown": {"evictions": 1, "seconds": 3600}}}`,
		`window={"limits": {"window": {"seconds": 3600, "pods": 10}}}`,
	} {
		p, err := ReadPolicy(text, GPU)
		require.NoError(t, err)
		list = append(list, p)
	}
	return list
}

var settings = Settings{Grace: 90 * time.Second, Checkpoint: time.Hour}

// TestConservation: after every moment each node holds what runs there and no more, in the
// planner and in the books alike; every run that begins ends once, done, evicted or with its
// node; and every job is done in the end.
func TestConservation(t *testing.T) {
	for _, p := range several(t) {
		t.Run(p.Name, func(t *testing.T) {
			s, err := New(small(1), settings, p)
			require.NoError(t, err)
			waited := make([]time.Duration, len(s.jobs))
			for i, more := 0, true; more; i++ {
				before, then := slices.Clone(s.jobs), s.now
				more, err = s.Step()
				require.NoError(t, err)
				look(t, s)
				for j, l := range before {
					switch l.State {
					case waiting:
						waited[j] += s.now - then
					case running:
						waited[j] += max(min(s.now, l.Since)-then, 0)
					}
					now, ran := &s.jobs[j], l.Ran
					if now.Evicted > l.Evicted && p.remembers() {
						ran = max(s.now-l.Since, 0)
					}
					if now.Ran != ran {
						t.Fatal(now, ran)
					}
				}
				if i%16 == 0 {
					require.Equal(t, slices.Max(waited), s.Outcome().Rows[0].WaitMax)
				}
			}
			var runs, ended int64
			for j := range s.jobs {
				require.Equal(t, done, s.jobs[j].State, s.list[j].Name)
				require.Equal(t, waited[j], s.jobs[j].Waited)
				runs += int64(s.jobs[j].Run)
			}
			all := s.Outcome().Rows[0]
			ended = all.Done + all.Evictions + all.Failures
			require.Equal(t, runs, ended)
			require.Positive(t, all.Failures)
			require.LessOrEqual(t, all.Preemptions, all.Evictions)
			require.Equal(t, !p.Never, all.Evictions > 0)
			useful := 0.0
			for _, j := range s.list {
				useful += float64(j.Requests[GPU]*int64(max(j.Pods, 1))) * j.Takes.Hours()
			}
			require.InDelta(t, useful, all.Useful, 1e-6)
		})
	}
}

// look compares the books with the planner.
func look(t *testing.T, s *Simulation) {
	t.Helper()
	require.NoError(t, s.Planner().View(func(v preemption.View) {
		capacity := s.capacity
		for i := range s.machines {
			m := &s.machines[i]
			if m.up != (v.Node(m.node.Name) != nil) { // not by require, which costs more than what it looks at
				t.Fatalf("%s is up: %t", m.node.Name, m.up)
			}
			if !m.up {
				require.Empty(t, m.jobs)
				continue
			}
			capacity -= m.measured
			free := v.Free(m.node.Name)[GPU]
			pods := slices.Collect(v.PodsOn(m.node.Name))
			if free < 0 || free != m.free[0] || len(pods) != len(m.jobs) {
				t.Fatalf("%s: %d free, %d pods; in the books %d and %d", m.node.Name, free, len(pods), m.free[0], len(m.jobs))
			}
			racks(t, s, m, pods)
		}
		require.Zero(t, capacity)
		require.Empty(t, slices.Collect(v.Pending()))
	}))
}

// racks checks that gangs run whole, within a rack.
func racks(t *testing.T, s *Simulation, m *machine, pods []*preemption.Pod) {
	for _, pod := range pods {
		j := s.numberOf(pod.Name)
		if places := len(s.jobs[j].Places); places != max(s.list[j].Pods, 1) {
			t.Fatalf("%s has %d places", pod.Name, places)
		}
		for _, place := range s.jobs[j].Places {
			if s.list[j].Within != "" && m.node.Labels[Rack] != s.machines[place].node.Labels[Rack] {
				t.Fatalf("%s is in several racks", pod.Name)
			}
		}
	}
}

// TestNobodyWaitsForNothing: whoever waits after a moment is told to wait by a planner of
// its own, too, if the policy does not heed the time.
func TestNobodyWaitsForNothing(t *testing.T) {
	b := newBooks(&Farm{})
	require.Equal(t, []int32{0, 2}, newQueues([]*Job{{Pods: 2}, {Pods: 2, Within: Rack}}, &b, Policy{}).of)
	for _, name := range []string{"default", "kubernetes136", "work", "tie"} {
		p, err := ReadPolicy(name, GPU)
		require.NoError(t, err)
		s, err := New(small(2), settings, p)
		require.NoError(t, err)
		asked := 0
		for step := 0; ; step++ {
			more, err := s.Step()
			require.NoError(t, err)
			if !more {
				break
			}
			if step%20 != 0 {
				continue
			}
			snapshot := s.planner.Snapshot()
			snapshot.Time = s.clock()
			for _, n := range s.filled {
				r, err := p.Options.Preempt(s.inline(s.queue[n].jobs[0]), snapshot)
				require.NoError(t, err)
				require.Contains(t, []preemption.Verdict{preemption.Infeasible, preemption.NotEligible}, r.Verdict)
				asked++
			}
		}
		require.Positive(t, asked)
	}
}

// report is everything that is written about a comparison.
func report(t *testing.T, c *Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteTable(&b, c.Outcomes()))
	require.NoError(t, WriteCSV(&b, c.Outcomes()))
	require.NoError(t, WritePage(&b, c.farm, "a report", c.Outcomes()))
	return b.Bytes()
}

// TestSameSeedSameBytes: however many processors there are.
func TestSameSeedSameBytes(t *testing.T) {
	var reports []string
	for _, processors := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(processors)
		c, err := Compare(small(3), settings, several(t))
		require.NoError(t, err)
		require.NoError(t, c.Run())
		reports = append(reports, string(report(t, c)))
		runtime.GOMAXPROCS(before)
	}
	require.Equal(t, reports[0], reports[1])
	require.Equal(t, reports[0], reports[2])
}

// TestResumeIsAsIfUninterrupted: a comparison that is saved and read anew every now and then
// reports what one reports that runs through.
func TestResumeIsAsIfUninterrupted(t *testing.T) {
	settings := settings
	settings.Grace, settings.Until = 20*time.Minute, 100*time.Hour // long enough for many a state to have somebody in it
	through, err := Compare(small(4), settings, several(t))
	require.NoError(t, err)
	require.NoError(t, through.Run())

	c, err := Compare(small(4), settings, several(t))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(4, 4))
	saves := 0
	for next := 10; ; next-- {
		more, err := c.Step()
		require.NoError(t, err)
		if !more {
			break
		}
		if next > 0 {
			continue
		}
		next = r.IntN(400)
		var b bytes.Buffer
		require.NoError(t, c.Save(&b))
		c, err = Compare(small(4), settings, several(t))
		require.NoError(t, err)
		require.NoError(t, c.Resume(&b))
		saves++
	}
	require.Greater(t, saves, 10)
	require.Equal(t, string(report(t, through)), string(report(t, c)))
}

func TestAnotherStateIsRefused(t *testing.T) {
	c, err := Compare(small(5), settings, BuiltIn(GPU)[1:])
	require.NoError(t, err)
	for range 50 {
		_, err := c.Step()
		require.NoError(t, err)
	}
	var b bytes.Buffer
	require.NoError(t, c.Save(&b))
	for _, other := range []struct {
		farm     *Farm
		settings Settings
		policies []Policy
	}{
		{small(6), settings, BuiltIn(GPU)[1:]},
		{small(5), Settings{}, BuiltIn(GPU)[1:]},
		{small(5), settings, BuiltIn(GPU)},
	} {
		c, err := Compare(other.farm, other.settings, other.policies)
		require.NoError(t, err)
		require.ErrorIs(t, c.Resume(bytes.NewReader(b.Bytes())), ErrOtherState)
	}
	require.ErrorContains(t, c.Resume(bytes.NewReader([]byte("{"))), "cannot be read")
}

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
