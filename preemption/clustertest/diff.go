package clustertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/preempt-go/preempt/preemption"
)

// Diff tells what got has that want has not, and the other way round: a line each, first
// the verdict, who is evicted and who goes where. It is empty if they are the same answer.
// What a search cost ([preemption.Stats]) and a preemptor that was given inline are not
// compared.
func Diff(want, got *preemption.Result) string {
	d := &difference{}
	switch {
	case want == nil && got == nil:
		return ""
	case want == nil || got == nil:
		return fmt.Sprintf("answer: got %s, want %s\n", verdict(got), verdict(want))
	}
	d.verdicts(want, got)
	a, b := fields(want), fields(got)
	d.value("victims", a["victims"], b["victims"])
	d.places(want, got)
	for _, told := range []string{"stats", "verdict", "message", "nominations", "victims"} {
		delete(a, told)
		delete(b, told)
	}
	d.value("", a, b)
	return d.text.String()
}

// difference collects lines.
type difference struct{ text strings.Builder }

func (d *difference) line(format string, args ...any) {
	fmt.Fprintf(&d.text, format+"\n", args...)
}

func verdict(r *preemption.Result) string {
	if r == nil {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", r.Verdict, r.Message)
}

func (d *difference) verdicts(want, got *preemption.Result) {
	if want.Verdict != got.Verdict || want.Message != got.Message {
		d.line("verdict: got %s, want %s", verdict(got), verdict(want))
	}
}

// places tells who goes elsewhere, and who gets a place in one answer only.
func (d *difference) places(want, got *preemption.Result) {
	places := func(r *preemption.Result) map[string]string {
		nodes := map[string]string{}
		for _, n := range r.Nominations {
			nodes[podName(n.Pod)] = n.Node
		}
		return nodes
	}
	a, b := places(want), places(got)
	for _, name := range eitherKey(a, b) {
		if a[name] != b[name] {
			d.line("%s: goes %s, want %s", name, place(b[name]), place(a[name]))
		}
	}
	order := func(r *preemption.Result) (pods []string) {
		for _, n := range r.Nominations {
			pods = append(pods, podName(n.Pod))
		}
		return pods
	}
	if len(a) == len(b) {
		d.order("nominations", order(want), order(got))
	}
}

func place(node string) string {
	if node == "" {
		return "nowhere"
	}
	return "to " + node
}

// order tells that a list has the same things in another order.
func (d *difference) order(path string, want, got []string) {
	if !slices.Equal(want, got) && slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))) {
		d.line("%s: got the order %s, want %s", path, strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// value tells what differs in two values that were JSON, by the path that leads there.
func (d *difference) value(path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range eitherKey(w, g) {
			d.value(strings.TrimPrefix(path+"."+key, "."), w[key], g[key])
		}
		return
	case []any:
		g, _ := got.([]any)
		if got == nil || g != nil {
			d.list(path, w, g)
			return
		}
	case nil:
		if g, ok := got.([]any); ok {
			d.list(path, nil, g)
			return
		}
	}
	if a, b := written(want), written(got); a != b {
		d.line("%s: got %s, want %s", path, b, a)
	}
}

// list tells what differs in two lists, the elements of which are told apart by their
// names, or else by their place.
func (d *difference) list(path string, want, got []any) {
	a, b := identified(want), identified(got)
	if a == nil || b == nil {
		for i := range max(len(want), len(got)) {
			d.value(fmt.Sprintf("%s[%d]", path, i), at(want, i), at(got, i))
		}
		return
	}
	byName := func(names []string, list []any) map[string]any {
		m := map[string]any{}
		for i, name := range names {
			m[name] = list[i]
		}
		return m
	}
	wanted, found := byName(a, want), byName(b, got)
	for _, name := range eitherKey(wanted, found) {
		switch w, g := wanted[name], found[name]; {
		case g == nil && path == "victims":
			d.line("%s: stays, want it evicted", name)
		case w == nil && path == "victims":
			d.line("%s: is evicted, want it to stay", name)
		case g == nil:
			d.line("%s: %s is missing", path, name)
		case w == nil:
			d.line("%s: %s is not wanted", path, name)
		default:
			d.value(path+"["+name+"]", w, g)
		}
	}
	d.order(path, a, b)
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// identified names the elements of a list, each differently; nil if it cannot.
func identified(list []any) []string {
	names := []string{}
	for _, e := range list {
		name := identity(e)
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// identity is what tells an element of a list apart from others, empty if it is not known.
func identity(e any) string {
	switch e := e.(type) {
	case string:
		return e
	case map[string]any:
		var parts []string
		for _, key := range []string{"kind", "namespace", "name", "domain", "node", "field", "podSet", "resource"} {
			if s, ok := e[key].(string); ok && (key != "node" || len(parts) == 0) {
				parts = append(parts, s)
			}
		}
		if reason, ok := e["reason"].(string); ok && len(parts) == 0 {
			return strconv.Quote(reason)
		}
		return strings.Join(parts, " ")
	}
	return ""
}

// written is a value as JSON, or none.
func written(v any) string {
	if v == nil {
		return "none"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// fields are those of an answer, as its JSON has them.
func fields(r *preemption.Result) map[string]any {
	text, err := json.Marshal(r)
	if err != nil {
		return map[string]any{"json": err.Error()}
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	m := map[string]any{}
	if err := d.Decode(&m); err != nil {
		return map[string]any{"json": err.Error()}
	}
	return m
}

func podName(p preemption.PodRef) string {
	if p.Namespace == "" {
		return p.Name
	}
	return p.Namespace + "/" + p.Name
}

// eitherKey are the keys of both maps, sorted.
func eitherKey[V any](a, b map[string]V) []string {
	var keys []string
	for _, m := range []map[string]V{a, b} {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
