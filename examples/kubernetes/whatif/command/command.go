package command

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// sample is the cluster that is asked about when nothing else is named.
//
//go:embed sample.yaml
var sample []byte

// Main is the process: it reads the command line and exits with a status.
func Main() {
	signal.Ignore(syscall.SIGPIPE) // see quiet
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit statuses; usage has them in words.
const (
	statusAnswered   = 0
	statusUnreadable = 1
	statusUsage      = 2
	statusNoPlace    = 3
)

// run is Main without the process: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusAnswered
	case errors.As(err, new(*unreadable)):
		fmt.Fprintln(stderr, "whatif:", brief(err))
		return statusUnreadable
	case err != nil:
		fmt.Fprintln(stderr, "whatif:", brief(err))
		fmt.Fprintln(stderr, "Run with -h for usage.")
		return statusUsage
	}
	if c.version {
		fmt.Fprintln(stdout, version(debug.ReadBuildInfo()))
		return statusAnswered
	}
	if c.width < 0 {
		c.width = columns(stdout)
	}
	answer := c.single
	switch {
	case c.batch != "" || c.questions != "":
		answer = c.answerBatch
	case c.save != "":
		answer = c.saveCluster
	case c.replay != "":
		answer = c.replayJournal
	case len(c.drain)+len(c.apply) > 0:
		answer = c.whole
	case c.diff != "":
		answer = c.compare
	}
	switch err := answer(stdin, quiet{stdout}, stderr); {
	case errors.Is(err, errNoPlace):
		return statusNoPlace
	case err != nil:
		fmt.Fprintln(stderr, "whatif:", brief(err))
		if errors.Is(err, convert.ErrUnpacked) {
			fmt.Fprintln(stderr, "whatif: -unpacked MIB lets it unpack to more")
		}
		return statusUnreadable
	}
	return statusAnswered
}

// longWord is longer than what names an object.
var longWord = regexp.MustCompile(`\S{600,}`)

// brief is what err says, of long words the beginning.
func brief(err error) string {
	return longWord.ReplaceAllStringFunc(err.Error(), func(word string) string {
		return strings.ToValidUTF8(word[:100], "") + fmt.Sprintf("... (%d bytes)", len(word))
	})
}

// quiet takes what nobody reads any more, as after head has seen enough, for written.
type quiet struct{ io.Writer }

// Write writes p.
func (q quiet) Write(p []byte) (int, error) {
	n, err := q.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}

// errNoPlace is, with -check, the answer that the preemptor gets no place.
var errNoPlace = errors.New("no place")

// checked is errNoPlace where -check asks for it.
func (c *config) checked(r *preemption.Result) error {
	if c.check && (r.Verdict == preemption.Infeasible || r.Verdict == preemption.NotEligible) {
		return errNoPlace
	}
	return nil
}

// cluster is what is asked about: the input, with the nodes of -cordon and -drain cordoned.
func (c *config) cluster(stdin io.Reader, stderr io.Writer, p *progress) (*convert.Dump, error) {
	dump, err := c.load(stdin, p)
	if err != nil {
		return nil, err
	}
	for _, problem := range dump.Problems {
		fmt.Fprintln(stderr, "whatif: left out:", problem)
	}
	nodes := dump.Snapshot.Nodes
	for _, flag := range []struct {
		name  string
		nodes list
	}{{"-cordon", c.cordon}, {"-drain", c.drain}} {
		for _, name := range flag.nodes {
			i := slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("%s: there is no node %s in the input", flag.name, name)
			}
			nodes[i].Unschedulable = true
		}
	}
	return dump, nil
}

// single answers one question about one cluster.
func (c *config) single(stdin io.Reader, stdout, stderr io.Writer) error {
	p := startProgress(stderr)
	defer p.stop()
	dump, err := c.cluster(stdin, stderr, p)
	if err != nil {
		return err
	}
	q, err := c.question(dump)
	if err != nil {
		return err
	}
	p.doing(func() string {
		return fmt.Sprintf("searching %d nodes with %d pods", len(dump.Snapshot.Nodes), len(dump.Snapshot.Pods))
	})
	o := c.asked(c.rules, nil)
	result, err := ask(o, q.preemptor, &dump.Snapshot)
	if err != nil {
		return dump.Locate(err)
	}
	whyNot, err := asking(c.whyNot, o, q.preemptor, &dump.Snapshot)
	if err != nil {
		return fmt.Errorf("-why-not: %w", dump.Locate(err))
	}
	var waits *WillRun
	if c.willRun {
		p.doing(func() string { return "looking for when it would run" })
		if waits, err = willRun(o, q, dump, result); err != nil {
			return fmt.Errorf("-will-run: %w", dump.Locate(err))
		}
	}
	problems := c.problems(o, q.preemptor, &dump.Snapshot, result)
	r := &report{question: q, dump: dump, result: result, explain: c.explain, limit: c.limit, whyNot: whyNot, problems: problems, willRun: waits}
	if c.html != "" {
		p.doing(func() string { return "asking about each node, for the page" })
		if err := c.writePage(o, r); err != nil {
			return fmt.Errorf("-html: %w", dump.Locate(err))
		}
	}
	err = c.tell(stdout, wholeAnswer(q, result, whyNot, waits, c.notes(dump), problems), r, r.answer)
	if err := errors.Join(err, untrue(problems)); err != nil {
		return err
	}
	return c.checked(result)
}

// problems reads an answer independently, with -verify, and returns what is not true
// of it.
func (c *config) problems(o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot, r *preemption.Result) []string {
	if !c.verify {
		return nil
	}
	list := []string{}
	for _, problem := range check.Verify(s, o, p, r) {
		list = append(list, problem.String())
	}
	return list
}

// untrue is the error that answers have problems; nil if it has none.
func untrue(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("-verify: %d of what is told is not true", len(problems))
}

// ask is the one place that calls the library.
func ask(o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) (*preemption.Result, error) {
	return o.Preempt(p, s)
}

// whyNot is the answer about one node or unit that the user has in mind.
type whyNot struct {
	Target string          `json:"target"`
	Why    *preemption.Why `json:"why"`
}

// asking asks why not each target in a cluster.
func asking(targets []string, o preemption.Options, p preemption.Preemptor, s *preemption.Snapshot) ([]whyNot, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	planner, err := preemption.NewPlanner(s, o)
	if err != nil {
		return nil, err
	}
	return askWhyNot(targets, planner, p)
}

// askWhyNot asks a planner about each target.
func askWhyNot(targets []string, planner *preemption.Planner, p preemption.Preemptor) ([]whyNot, error) {
	var answers []whyNot
	for _, name := range targets {
		target := preemption.NodeTarget(name)
		if strings.Contains(name, "/") {
			target = preemption.UnitTarget(name)
		}
		why, err := planner.WhyNot(p, target)
		if err != nil {
			return nil, err
		}
		answers = append(answers, whyNot{name, why})
	}
	return answers, nil
}

// load reads the files, or what is piped in, or the sample if there is no input at
// all, and converts it.
func (c *config) load(stdin io.Reader, p *progress) (*convert.Dump, error) {
	files := c.files
	if len(files) == 0 {
		p.doing(func() string { return "waiting for standard input; -f names a file" })
		piped := bufio.NewReader(stdin)
		if c.sample = terminal(stdin) || empty(piped); c.sample {
			piped = bufio.NewReader(bytes.NewReader(sample))
		}
		stdin, files = piped, list{"-"}
	}
	loader := c.reading(c.now).Loader()
	var unreadable []error
	for _, name := range files {
		unreadable = append(unreadable, readFile(loader, name, stdin, p))
	}
	if err := errors.Join(unreadable...); err != nil && !c.lenient {
		return nil, err
	}
	dump, err := loader.Dump()
	if err == nil {
		err = recognized(dump)
	}
	if err == nil && c.lenient {
		for _, err := range unreadable {
			if err != nil {
				dump.Problems = append(dump.Problems, err)
			}
		}
	}
	return dump, err
}

// reading is how objects are converted.
func (c *config) reading(now time.Time) convert.Options {
	return convert.Options{Now: now, Lenient: c.lenient, Strict: c.strict || c.options.Strict, Unpacked: c.unpacked}
}

// recognized complains about an input without anything that plays a part: it is
// hardly the dump that was meant.
func recognized(dump *convert.Dump) error {
	left := 0
	for _, n := range dump.Ignored {
		left += n
	}
	switch {
	case dump.Objects == 0:
		return errors.New("the input has no Kubernetes object")
	case left == dump.Objects:
		return errors.New("the input has no object of a kind that plays a part: " + ignored(dump))
	}
	return nil
}

// terminal reports whether nobody pipes anything in: r is a terminal or a device
// such as /dev/null, or is closed.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeCharDevice != 0
}

// empty reports whether r ends before anything came.
func empty(r *bufio.Reader) bool {
	_, err := r.Peek(1)
	return errors.Is(err, io.EOF)
}

// readFile reads one file; "-" is standard input.
func readFile(loader *convert.Loader, name string, stdin io.Reader, p *progress) error {
	in, err := open(name, stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	counted := &counter{r: in}
	p.doing(func() string { return fmt.Sprintf("reading %s: %d MB", name, counted.megabytes()) })
	return loader.Read(name, counted)
}

func open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}
