package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// Page is what a page tells. All but Notes is needed.
type Page struct {
	Title    string // who wants to run: "pod web/checkout"
	Told     []byte // the answer in words, as HTML
	Snapshot *cluster.Snapshot
	Result   *preemption.Result
	Asking   []cluster.Pod // the pods that want to run, whether the snapshot has them or not

	Priority func(*cluster.Pod) int32              // of a pod
	Amount   func(resource string, n int64) string // in words
	WhyNot   func(node string) (why string)        // of a node that is not chosen
}

var (
	//go:embed page.html
	layout string
	//go:embed page.css
	style template.CSS
	//go:embed page.js
	script template.JS

	parsed = template.Must(template.New("page").Parse(layout))
)

// Write writes the page to w.
func (p *Page) Write(w io.Writer) error {
	var text bytes.Buffer // JSON that is safe within HTML
	if err := json.NewEncoder(&text).Encode(p.data()); err != nil {
		return err
	}
	return parsed.Execute(w, map[string]any{
		"Title": p.Title, "Told": template.HTML(p.Told), "Style": style, "Script": script, "Data": template.JS(text.String()),
	})
}

// data is what the script draws. Its fields are short, for a page may have 150,000 pods.
type data struct {
	Resources []string `json:"resources"`
	First     int      `json:"first"`  // the resource that is shown first
	Levels    []int32  `json:"levels"` // the priorities that occur, ascending
	Level     int32    `json:"level"`  // the priority that asks
	Groups    []string `json:"groups"` // the first is none
	Amounts   []amount `json:"amounts"`
	Others    string   `json:"others"` // what the nodes are that neither change nor would do
	Nodes     []node   `json:"nodes"`
}

// amount is how much there is of each resource.
type amount struct {
	N    []int64  `json:"n"`
	Text []string `json:"t"`
}

// node is a node and what is on it; pods and amounts are numbers of [data].
type node struct {
	Name  string `json:"name"`
	State state  `json:"state"`
	Why   string `json:"why,omitempty"`
	Room  int    `json:"room"`
	Pods  []pod  `json:"pods"`           // the most important first
	Come  []pod  `json:"come,omitempty"` // the pods that are placed there
}

// state is what becomes of a node.
type state int

const (
	changes state = iota // pods come or go there
	would                // evictions would help there
	none                 // neither
)

// pod is name, level, amount, mark and group of a pod.
type pod [5]any

// mark is what becomes of a pod.
type mark int

const (
	stays  mark = iota
	victim      // it has to go
	other       // it would have to, were its node chosen
)

// table gives numbers to what occurs.
type table struct {
	index map[string]int
	list  []string
}

func (t *table) number(name string) int {
	n, ok := t.index[name]
	if !ok {
		n = len(t.list)
		t.index[name] = n
		t.list = append(t.list, name)
	}
	return n
}

// builder makes data.
type builder struct {
	*Page
	data    *data
	levels  map[int32]int
	groups  table
	amounts map[string]int
	key     []byte
}

func (p *Page) data() *data {
	b := &builder{
		Page: p, data: &data{Nodes: []node{}, Others: "not chosen"},
		levels: map[int32]int{}, groups: table{index: map[string]int{}}, amounts: map[string]int{},
	}
	if v := p.Result.Verdict; v == preemption.Infeasible || v == preemption.Feasible && p.Result.Preemptor.Kind == cluster.KindPod {
		b.data.Others = "no help"
	}
	b.groups.number("")
	b.resources()
	b.priorities()
	b.nodes()
	b.data.Groups = b.groups.list
	return b.data
}

// resources lists what nodes offer, what the answer turns on first.
func (b *builder) resources() {
	offered := cluster.Resources{}
	for i := range b.Snapshot.Nodes {
		for name, n := range b.Snapshot.Nodes[i].Allocatable {
			offered[name] = max(offered[name], n)
		}
	}
	b.data.Resources = slices.Sorted(maps.Keys(offered))
	rank := func(name string) int {
		return max(slices.Index([]string{cluster.Pods, "ephemeral-storage", cluster.Memory, cluster.CPU}, name), -1)
	}
	slices.SortStableFunc(b.data.Resources, func(x, y string) int { return cmp.Compare(rank(y), rank(x)) })
	for _, v := range b.Result.Victims {
		if i := slices.Index(b.data.Resources, v.Reason.Resource); i >= 0 {
			b.data.First = i
			return
		}
	}
	share := 0.0 // of the largest node
	for i := range b.Asking {
		for k, name := range b.data.Resources {
			if n := float64(b.Asking[i].Requests[name]) / float64(max(offered[name], 1)); n > share {
				share, b.data.First = n, k
			}
		}
	}
}

// priorities numbers the priorities that occur.
func (b *builder) priorities() {
	for _, pods := range [][]cluster.Pod{b.Snapshot.Pods, b.Asking} {
		for i := range pods {
			b.levels[b.Priority(&pods[i])] = 0
		}
	}
	b.data.Levels = slices.Sorted(maps.Keys(b.levels))
	for i, level := range b.data.Levels {
		b.levels[level] = i
	}
	if len(b.Asking) > 0 {
		b.data.Level = b.Priority(&b.Asking[0])
	}
}

// nodes lists the nodes: those that change, then where evictions would help, the least
// disruption first, then the others.
func (b *builder) nodes() {
	running := map[string][]*cluster.Pod{}
	for i := range b.Snapshot.Pods {
		if p := &b.Snapshot.Pods[i]; p.Node != "" {
			running[p.Node] = append(running[p.Node], p)
		}
	}
	victims := names(b.Result.Victims)
	asking := map[string]*cluster.Pod{}
	for i := range b.Asking {
		asking[joined(b.Asking[i].Namespace, b.Asking[i].Name)] = &b.Asking[i]
	}
	come := map[string][]*cluster.Pod{}
	touched := map[string]bool{}
	for _, n := range b.Result.Nominations {
		touched[n.Node] = true
		if p := asking[joined(n.Pod.Namespace, n.Pod.Name)]; p != nil {
			come[n.Node] = append(come[n.Node], p)
		}
	}
	for _, v := range b.Result.Victims {
		for _, p := range v.Pods {
			touched[p.Node] = true
		}
	}
	candidates := map[string]*preemption.Candidate{}
	for i := range b.Result.Candidates {
		if b.Result.Verdict != preemption.Feasible {
			break // nobody has to go
		}
		candidates[b.Result.Candidates[i].Domain] = &b.Result.Candidates[i]
	}
	for i := range b.Snapshot.Nodes {
		of := &b.Snapshot.Nodes[i]
		n := node{Name: of.Name, State: none, Room: b.amount(of.Allocatable)}
		marks := func(name string) mark {
			if victims[name] {
				return victim
			}
			return stays
		}
		switch c := candidates[of.Name]; {
		case touched[of.Name]:
			n.State = changes
		case c != nil:
			n.State = would
			others := names(c.Victims)
			marks = func(name string) mark {
				if others[name] {
					return other
				}
				return stays
			}
		}
		if n.State != changes {
			n.Why = b.WhyNot(of.Name)
		}
		n.Pods, n.Come = b.pods(running[of.Name], marks), b.pods(come[of.Name], func(string) mark { return stays })
		b.data.Nodes = append(b.data.Nodes, n)
	}
	slices.SortFunc(b.data.Nodes, func(x, y node) int {
		scores := func(a, b preemption.Criterion) int { return cmp.Compare(a.Value, b.Value) }
		by := cmp.Compare(x.State, y.State)
		if by == 0 && x.State == would {
			by = slices.CompareFunc(candidates[x.Name].Score, candidates[y.Name].Score, scores)
		}
		return cmp.Or(by, strings.Compare(x.Name, y.Name))
	})
}

// pods lists pods, the most important first.
func (b *builder) pods(list []*cluster.Pod, marks func(name string) mark) []pod {
	slices.SortFunc(list, func(x, y *cluster.Pod) int {
		return cmp.Or(cmp.Compare(b.Priority(y), b.Priority(x)), strings.Compare(x.Group, y.Group),
			strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	pods := make([]pod, 0, len(list))
	for _, p := range list {
		name, group := joined(p.Namespace, p.Name), p.Group
		if group != "" {
			group = joined(p.Namespace, group)
		}
		takes := maps.Clone(p.Requests)
		if takes == nil {
			takes = cluster.Resources{}
		}
		takes[cluster.Pods] = 1
		pods = append(pods, pod{name, b.levels[b.Priority(p)], b.amount(takes), marks(name), b.groups.number(group)})
	}
	return pods
}

// amount is the number of an amount.
func (b *builder) amount(of cluster.Resources) int {
	a := amount{N: make([]int64, len(b.data.Resources)), Text: make([]string, len(b.data.Resources))}
	b.key = b.key[:0]
	for i, name := range b.data.Resources {
		a.N[i] = of[name]
		for n := uint64(of[name]); ; n >>= 7 {
			if n < 0x80 {
				b.key = append(b.key, byte(n))
				break
			}
			b.key = append(b.key, byte(n)|0x80)
		}
	}
	if i, ok := b.amounts[string(b.key)]; ok {
		return i
	}
	for i, name := range b.data.Resources {
		a.Text[i] = b.Amount(name, a.N[i])
	}
	b.amounts[string(b.key)] = len(b.data.Amounts)
	b.data.Amounts = append(b.data.Amounts, a)
	return len(b.data.Amounts) - 1
}

// names is the set of the pods of victims.
func names(victims []preemption.Victim) map[string]bool {
	set := map[string]bool{}
	for _, v := range victims {
		for _, p := range v.Pods {
			set[joined(p.Namespace, p.Name)] = true
		}
	}
	return set
}

func joined(namespace, name string) string { return namespace + "/" + name }
