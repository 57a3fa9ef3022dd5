package cluster

import (
	"cmp"
	"slices"
)

// Warning is about input that is odd but occurs in live clusters: it was answered
// by the rule that upstream follows.
type Warning struct {
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Field     string `json:"field"`
	Value     string `json:"value"`
	Text      string `json:"text"` // what is odd, and what was done
}

func (ix *Index) warnPod(p *Pod, field, value, text string) {
	ix.warnings = append(ix.warnings, Warning{KindPod, p.Namespace, p.Name, field, value, text})
}

func (ix *Index) warnGroup(g *Group, field, value, text string) {
	ix.warnings = append(ix.warnings, Warning{g.Kind, g.Namespace, g.Name, field, value, text})
}

func sortWarnings(ws []Warning) {
	slices.SortFunc(ws, func(a, b Warning) int {
		return cmp.Or(
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Text, b.Text))
	})
}
