package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/preemption"
)

// rulesByName maps the names of the batch contract to the generations of rules.
var rulesByName = map[string]preemption.Rules{
	"v1.37":          preemption.Kubernetes137,
	"v1.36":          preemption.Kubernetes136,
	"kep-5710-alpha": preemption.KEP5710Alpha,
}

const formats = "table, json, yaml or markdown"

const rulesWanted = "v1.36, v1.37 or kep-5710-alpha"

// asked is what the library is asked under.
func (c *config) asked(rules preemption.Rules, of *fairSharing) preemption.Options {
	o := c.options
	o.Rules, o.Candidates, o.Explain = rules, true, c.explain || o.Explain
	o.Strict = o.Strict || c.strict
	if c.search != "" {
		o.Search = c.search
	}
	o.Quota = c.quota(of)
	return o
}

// config is the command line.
type config struct {
	files     list
	batch     string // cases, one a line
	questions string // likewise, about one cluster, with all that the planner can do
	replay    string // a journal of preemption/record
	cordon    list   // nodes
	drain     list   // nodes
	apply     list   // manifests
	diff      string // another way of asking: one of the next three

	diffRules   preemption.Rules
	diffSearch  preemption.Search
	diffOptions preemption.Options

	preemptor *named // nil: none is named
	node      string
	placement map[string]string // of a group; nil: searched
	made      *madeUp           // a pod made up on the command line; nil: none
	count     int               // of pods like the preemptor: more than one are a gang; 0: one

	rules   preemption.Rules
	fair    fairSharing       // for Workloads
	search  preemption.Search // empty: as the options say
	output  string
	save    string // a file that the cluster is written to, in the compact form
	html    string // a file that the answer is written to as a page
	width   int    // of tables; 0: any; below 0: that of the terminal
	explain bool
	limit   int  // of lines that explain; 0: none
	whyNot  list // nodes, or units as namespace/name
	lenient bool
	strict  bool
	verify  bool // each answer is read by the independent reader of answers
	willRun bool // when it would run if it waited is asked, too
	check   bool // the exit status tells whether the preemptor gets a place
	now     time.Time
	version bool // only the version is asked for

	unpacked int64 // so many bytes a gzipped input may unpack to

	sample bool // nothing was given: the embedded cluster is asked about

	options preemption.Options // from -options; the flags above count before it
}

// madeUp is a pod that the command line describes.
type madeUp struct {
	namespace, name string
	labels          map[string]string
	requests        corev1.ResourceList
	priority        *int32
	class           string
}

// parse reads the command line. The error is for the user; flag.ErrHelp means that
// usage was asked for and written.
func parse(args []string, stderr io.Writer) (*config, error) {
	c := &config{made: &madeUp{requests: corev1.ResourceList{}}}
	f := flag.NewFlagSet("whatif", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {} // for a wrong flag a line is enough

	f.Var(&c.files, "f", "read objects from `FILE`, - for standard input; may be repeated;\notherwise from what is piped in, or else from a sample")
	f.StringVar(&c.batch, "batch", "", "answer each line of `FILE`, - for standard input, in its order; with -f about that cluster,\nwhich lines may change")
	f.StringVar(&c.questions, "questions", "", "answer each question of `FILE`, - for standard input: as -batch, about the one cluster that is asked about, and in\nmore ways (\"ask\": decide, gather, stillValid, park, wake); a field that is unknown is an error of its line")
	f.StringVar(&c.replay, "replay", "", "make the calls of the journal `FILE` of preemption/record again, - for standard input,\nand tell the first answer that is another one")
	f.Var(&c.cordon, "cordon", "... on the cluster with `NODE` cordoned; may be repeated")
	f.Var(&c.drain, "drain", "tell what becomes of the pods of `NODE` once it is drained, and of whom they evict; may be repeated")
	f.Var(&c.apply, "apply", "tell what would happen to all of the manifest `FILE`, in its order: pods, pod groups, Deployments,\nJobs, JobSets, LeaderWorkerSets, ...; may be repeated")
	f.Func("preemptor", "who wants to run: `KIND/NAMESPACE/NAME`; KIND is pod, podgroup, compositepodgroup,\nworkload (of Kueue), or a workload of the input whose next pod is meant: daemonset, deployment, job, ...", func(s string) (err error) {
		c.preemptor, err = parseNamed(s)
		return err
	})
	f.StringVar(&c.node, "node", "", "`NODE` that the pod of a workload, or made up, is pinned to")
	var places list
	f.Var(&places, "place", "give the preemptor, or a member of the group that it is, its place, `POD=NODE`, instead of searching;\nmay be repeated; POD is namespace/name or name")
	rules := f.String("rules", "v1.37", "follow the `RULES` "+rulesWanted)
	f.Func("search", "look for the least disruption: `HOW` is greedy (as Kubernetes does), improved or exact", func(s string) (err error) {
		var ok bool
		if c.search, ok = searchOf(s); !ok {
			err = errors.New("not greedy, improved or exact")
		}
		return err
	})
	f.StringVar(&c.diff, "diff", "", "ask in another way, too, and tell who differs, and why: `WAY` is rules, a search or a file of options;\nwithout -preemptor all that are pending are asked about")
	f.Var(&c.fair, "fair-sharing", "among Workloads of Kueue, shares decide, by these `STRATEGIES`:\nLessThanOrEqualToFinalShare, LessThanInitialShare, both with a comma, or default")
	f.StringVar(&c.output, "o", "table", "`FORMAT` of the answer: "+formats)
	f.StringVar(&c.save, "save", "", "write the cluster to `FILE` in a compact form that -f reads far faster, and ask nothing")
	f.StringVar(&c.html, "html", "", "write the answer as a page for a browser to `FILE`, too: each node as a bar of its pods")
	f.IntVar(&c.width, "width", -1, "fold tables to so many `COLUMNS`, 0 for none (default that of the terminal, none if there is none)")
	f.BoolVar(&c.explain, "explain", false, "tell every step of the decision, of the chosen node first")
	f.IntVar(&c.limit, "explain-limit", 200, "... in so many `LINES` of the table at most, 0 for all")
	f.Var(&c.whyNot, "why-not", "tell why not `TARGET`: a node, or a running pod or group as namespace/name; may be repeated")
	f.BoolVar(&c.lenient, "lenient", false, "leave out objects that cannot be read, and say so")
	f.BoolVar(&c.strict, "strict", false, "refuse what is odd but occurs in live clusters")
	f.BoolVar(&c.verify, "verify", false, "read the answer once more, independently, and tell what is not true of it")
	f.BoolVar(&c.willRun, "will-run", false, "tell, too, when the preemptor would run if it waited for running pods to end, as far as they say when")
	f.BoolVar(&c.check, "check", false, "exit with 3 if the preemptor gets no place, even by preemption; or some pod of -apply or -drain")
	options := f.String("options", "", "... and the options in `FILE`: preemption.Options as JSON; flags that are given count before them")
	f.Func("unpacked", fmt.Sprintf("gzipped input may unpack to so many `MIB` (default %d, and beyond 64 at most 128 times what it is packed in)", convert.MostUnpacked>>20), func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return errors.New("not a number of MiB from 1 on")
		}
		c.unpacked = n << 20
		return nil
	})
	f.BoolVar(&c.version, "version", false, "print the versions of the command and of the library, and exit")
	now := f.String("now", "", "the moment of the dump, `RFC3339`; otherwise the newest that the objects tell")

	m := c.made
	var amounts list
	cpu := f.String("cpu", "", "a made-up pod asks for this `AMOUNT` of cpu")
	memory := f.String("memory", "", "... of memory")
	gpu := f.String("gpu", "", "... of nvidia.com/gpu")
	f.Var(&amounts, "request", "... of any resource, `NAME=AMOUNT`; may be repeated")
	f.Func("priority", "... and has this `PRIORITY`", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return errors.New("not an integer of 32 bits")
		}
		value := int32(n)
		m.priority = &value
		return nil
	})
	f.StringVar(&m.class, "priority-class", "", "... or this priority `CLASS` of the input")
	f.StringVar(&m.name, "name", "", "... and this `NAME` (default preemptor)")
	f.StringVar(&m.namespace, "namespace", "", "... in this `NAMESPACE` (default default)")
	f.IntVar(&c.count, "count", 1, "... and there are this many of it, a gang: `NUMBER`; also of a pod or of the next pod of a workload")
	labels := f.String("labels", "", "... with these labels, `KEY=VALUE,...`")

	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, stderr)
		}
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is no flag; files go after -f", f.Arg(0))
	}
	if name := emptyFile(f); name != "" {
		return nil, fmt.Errorf("-%s: \"\" is no name of a file", name)
	}
	var ok bool
	if c.rules, ok = rulesByName[*rules]; !ok {
		return nil, fmt.Errorf("-rules: %q is not %s", *rules, rulesWanted)
	}
	if !slices.Contains([]string{"table", "json", "yaml", "markdown"}, c.output) {
		return nil, fmt.Errorf("-o: %q is not %s", c.output, formats)
	}
	if c.width < 0 && given(f, "width") {
		return nil, fmt.Errorf("-width: %d is not at least 0", c.width)
	}
	if c.limit < 0 {
		return nil, fmt.Errorf("-explain-limit: %d is not at least 0", c.limit)
	}
	var err error
	if c.now, err = parseTime(*now); err != nil {
		return nil, fmt.Errorf("-now: %w", err)
	}
	if m.labels, err = parseLabels(*labels); err != nil {
		return nil, fmt.Errorf("-labels: %w", err)
	}
	for _, a := range []struct{ flag, name, amount string }{{"cpu", "cpu", *cpu}, {"memory", "memory", *memory}, {"gpu", "nvidia.com/gpu", *gpu}} {
		if err := m.ask("-"+a.flag, a.name, a.amount); err != nil {
			return nil, err
		}
	}
	if c.placement, err = parsePlaces(places); err != nil {
		return nil, fmt.Errorf("-place: %w", err)
	}
	for _, a := range amounts {
		name, amount, ok := strings.Cut(a, "=")
		if !ok || name == "" || amount == "" {
			return nil, fmt.Errorf("-request: %q is not NAME=AMOUNT", a)
		}
		if err := m.ask("-request", name, amount); err != nil {
			return nil, err
		}
	}
	if err := c.contradictions(f); err != nil {
		return nil, err
	}
	return c, c.readWays(*options, given(f, "rules"))
}

// emptyFile is a flag that names a file with an empty name, as an unset variable of a shell does.
func emptyFile(f *flag.FlagSet) (name string) {
	f.Visit(func(fl *flag.Flag) {
		switch fl.Name {
		case "f", "batch", "questions", "replay", "apply", "options", "diff", "save", "html":
			if fl.Value.String() == "" && name == "" {
				name = fl.Name
			}
		}
	})
	return name
}

// given reports whether a flag is on the command line.
func given(f *flag.FlagSet, name string) (is bool) {
	f.Visit(func(fl *flag.Flag) { is = is || fl.Name == name })
	return is
}

// readWays reads the file of -options, the rules of which count unless -rules is given, and what
// -diff names.
func (c *config) readWays(options string, ruled bool) error {
	if options != "" {
		if err := readOptions(options, &c.options); err != nil {
			return &unreadable{"-options", err}
		}
		if !ruled {
			c.rules = cmp.Or(c.options.Rules, c.rules)
		}
	}
	if c.diff != "" {
		return c.anotherWay()
	}
	return nil
}

// unreadable is a file on the command line that cannot be read.
type unreadable struct {
	flag string
	err  error
}

// Error names the flag.
func (u *unreadable) Error() string { return u.flag + ": " + u.err.Error() }

// Unwrap is what is wrong with the file.
func (u *unreadable) Unwrap() error { return u.err }

// searchOf reads a search, in small letters or as it is.
func searchOf(name string) (preemption.Search, bool) {
	for _, search := range []preemption.Search{preemption.Greedy, preemption.Improved, preemption.Exact} {
		if strings.EqualFold(name, string(search)) {
			return search, true
		}
	}
	return "", false
}

// readOptions reads a file of options.
func readOptions(name string, into *preemption.Options) error {
	text, err := os.ReadFile(name)
	if err == nil {
		if err = decodeOptions(text, into); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	return err
}

// decodeOptions reads options, which nothing follows.
func decodeOptions(text []byte, into *preemption.Options) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the options")
	}
	return nil
}

// ask adds to what the pod asks for; an empty amount adds nothing.
func (m *madeUp) ask(flag, name, amount string) error {
	if amount == "" {
		return nil
	}
	q, err := convert.ParseAmount(corev1.ResourceName(name), amount)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	m.requests[corev1.ResourceName(name)] = q
	return nil
}

// mostCount is how many pods a made-up gang may have.
const mostCount = 100_000

// asks reports whether flags say who wants to run.
func (c *config) asks(made string) bool { return c.preemptor != nil || made != "" || c.node != "" }

// contradictions refuses flags that contradict each other, and drops made if nothing
// was made up.
func (c *config) contradictions(f *flag.FlagSet) error {
	made, question := "", ""
	f.Visit(func(fl *flag.Flag) {
		switch fl.Name {
		case "f", "save", "now", "lenient", "strict", "unpacked":
		default:
			question = fl.Name
		}
		switch fl.Name {
		case "cpu", "memory", "gpu", "request", "priority", "priority-class", "name", "namespace", "labels":
			made = fl.Name
		}
	})
	if made == "" {
		c.made = nil
	}
	lines, name := c.batch, "-batch"
	if c.questions != "" {
		lines, name = c.questions, "-questions"
	}
	switch {
	case c.batch != "" && c.questions != "":
		return errors.New("-questions, -batch: one of them is answered")
	case c.replay != "" && f.NFlag() > 1:
		return errors.New("-replay: the journal has the cluster, the options and the questions; no other flag goes with it")
	case c.save != "" && question != "":
		return fmt.Errorf("-save: it asks nothing; -%s does not go with it", question)
	case c.willRun && (lines != "" || len(c.drain)+len(c.apply) > 0 || c.diff != ""):
		return errors.New("-will-run: of one preemptor; " + name + ", -drain, -apply and -diff do not go with it")
	case c.willRun && c.preemptor != nil && c.preemptor.kind == "workload":
		return errors.New("-will-run: of pods and pod groups; when Workloads give their quota back is not known")
	case c.html != "" && (lines != "" || len(c.drain)+len(c.apply) > 0 || c.diff != ""):
		return errors.New("-html: a page has one answer; " + name + ", -drain, -apply and -diff do not go with it")
	case c.diff != "" && (lines != "" || len(c.drain)+len(c.apply) > 0 || c.explain || len(c.whyNot) > 0 || c.check || c.verify):
		return errors.New("-diff: it compares two answers; " + name + ", -drain, -apply, -explain, -why-not, -check and -verify do not go with it")
	case lines == "-" && slices.Contains(c.files, "-"):
		return errors.New(name + ", -f: standard input is one of them")
	case c.questions == "-" && len(c.files) == 0:
		return errors.New("-questions: standard input has them; -f says which cluster they are about")
	case lines != "" && (len(c.drain)+len(c.apply) > 0 || c.asks(made)):
		return errors.New(name + ": each line is a question of its own; -drain, -apply, -preemptor, -node and a made-up pod do not go with it")
	case c.batch != "" && len(c.cordon) > 0 && len(c.files) == 0:
		return errors.New("-cordon: each line of the batch has a cluster of its own; -f names one for all")
	case lines != "" && (c.explain || c.output != "table" || len(c.whyNot) > 0 || c.check):
		return errors.New(name + ": the answers have a form of their own; -explain, -why-not, -check and -o do not go with it")
	case len(c.drain) > 0 && (len(c.apply) > 0 || c.asks(made)):
		return errors.New("-drain: it is a question by itself; -apply, -preemptor and a made-up pod do not go with it")
	case len(c.apply) > 0 && c.asks(made):
		return errors.New("-apply: the manifest says who wants to run; -preemptor and a made-up pod do not go with it")
	case len(c.drain)+len(c.apply) > 0 && (c.explain || len(c.whyNot) > 0 || c.placement != nil):
		return errors.New("-drain, -apply: many questions in a row; -explain, -why-not and -place do not go with them")
	case c.count < 1 || c.count > mostCount:
		return fmt.Errorf("-count: %d is not a number from 1 to %d", c.count, mostCount)
	case c.count > 1 && c.made == nil && (c.preemptor == nil || groupKinds[c.preemptor.kind] != ""):
		return errors.New("-count: of a made-up pod, a pod or the next pod of a workload; say which")
	case c.placement != nil && c.diff != "" && c.preemptor == nil && made == "":
		return errors.New("-place: gives the pods of one preemptor their places; -diff asks about all that are pending without -preemptor")
	case c.placement != nil && lines != "":
		return errors.New("-place: a line of a batch has its own placement")
	case c.node != "" && c.preemptor == nil && made == "":
		return errors.New("-node: pins the pod of a workload or a made-up one; say which")
	case c.node != "" && c.preemptor != nil && !c.preemptor.workload():
		return fmt.Errorf("-node: pins the pod of a workload or a made-up one, not a %s of the input", c.preemptor.kind)
	case c.preemptor != nil && c.preemptor.kind == "daemonset" && c.node == "":
		return errors.New("-preemptor: a DaemonSet has a pod for each node; say which with -node")
	case c.preemptor != nil && made != "":
		return fmt.Errorf("-%s describes a made-up pod and does not go with -preemptor", made)
	case c.made != nil && c.made.priority != nil && c.made.class != "":
		return errors.New("-priority and -priority-class: one of them says how important the pod is")
	}
	return nil
}

// parseTime reads an RFC 3339 time; empty is the zero time.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("%q is not a time such as 2026-01-31T12:00:00Z", s)
	}
	return t.UTC(), nil
}

func parseLabels(s string) (map[string]string, error) {
	if s == "" {
		return nil, nil
	}
	labels := map[string]string{}
	for _, pair := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is not KEY=VALUE", pair)
		}
		labels[key] = value
	}
	return labels, nil
}

// parsePlaces reads where the members of a group go; none gives nil.
func parsePlaces(places []string) (map[string]string, error) {
	var placement map[string]string
	for _, place := range places {
		pod, node, ok := strings.Cut(place, "=")
		if !ok || pod == "" || node == "" {
			return nil, fmt.Errorf("%q is not POD=NODE", place)
		}
		if !strings.Contains(pod, "/") {
			pod = metav1.NamespaceDefault + "/" + pod
		}
		if _, twice := placement[pod]; twice {
			return nil, fmt.Errorf("pod %s has two places", pod)
		}
		if placement == nil {
			placement = map[string]string{}
		}
		placement[pod] = node
	}
	return placement, nil
}

// list is a flag that may be repeated.
type list []string

// String joins the values.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set appends a value.
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `whatif tells whom a pod would evict from a cluster, and why.

  whatif                                     answer for an embedded sample
  whatif -f FILE                             for the only pending pod of a dump
  kubectl get ... | whatif                   for that of a dump that is piped in
  whatif -f FILE -preemptor pod/ns/name      for this one
  whatif -f FILE -cpu 2 -priority 1000       for a made-up one
  whatif -f FILE -apply MANIFEST             for all that a manifest wants to run
  whatif -f FILE -drain NODE                 for the pods of a node that is drained
  whatif -f FILE -diff v1.36                 who is answered otherwise by other rules, and why
  whatif -f FILE -html PAGE                  the answer as a page for a browser, too
  whatif -batch FILE                         for each line of a file
  whatif -f FILE -questions FILE             for each line of a file, about one cluster, in more ways
  whatif -f FILE -save SAVED                 write the cluster in a form that -f reads far faster
  whatif -replay FILE                        for each call of a journal, once more

A dump is what "kubectl get nodes,pods,pdb,priorityclasses,namespaces,podgroups -A -o json" prints
(or -o yaml; gzipped or not).

The exit status is 0 if the question was answered, 1 if the input cannot be read, -verify found
something wrong with an answer or -replay one that differs, 2 for wrong usage, 3 if -check is given and the preemptor gets no place.

`)
	f.SetOutput(w)
	f.PrintDefaults()
	f.SetOutput(io.Discard)
}
