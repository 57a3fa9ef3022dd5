package simulator

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"time"
)

//go:embed page.css
var style string

// WritePage writes a page of its own: the table, and plots. It needs no script and nothing
// from elsewhere, and is light or dark as its reader likes it.
func WritePage(w io.Writer, farm *Farm, title string, outcomes []*Outcome) error {
	p := &page{}
	p.line(`<!DOCTYPE html>`)
	p.line(`<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta charset="utf-8"/>`)
	p.line(`<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/>`)
	p.line(`<title>%s</title><style>%s</style></head><body><main>`, title, style)
	p.line(`<h1>%s</h1>`, title)
	p.line(`<p>%d nodes, %d jobs, %d policies. Work is in %s.</p>`, len(farm.Nodes), len(farm.Jobs), len(outcomes), farm.Unit)
	p.legend(outcomes)
	for _, c := range charts(farm, outcomes) {
		p.line(`<section><h2>%s</h2>`, c.title)
		p.WriteString(c.svg())
		p.line(`</section>`)
	}
	p.table(outcomes)
	p.line(`</main></body></html>`)
	_, err := io.WriteString(w, p.String())
	return err
}

type page struct{ strings.Builder }

// line writes a line; what is not markup is escaped.
func (p *page) line(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = html.EscapeString(text)
		}
	}
	fmt.Fprintf(p, format+"\n", args...)
}

func (p *page) legend(outcomes []*Outcome) {
	p.line(`<ul class="legend">`)
	for i, o := range outcomes {
		p.line(`<li><svg width="28" height="10" aria-hidden="true"><line x1="0" y1="5" x2="28" y2="5" class="%s"/></svg> %s</li>`, class(i), o.Policy.Name)
	}
	p.line(`</ul>`)
}

func (p *page) table(outcomes []*Outcome) {
	p.line(`<section><h2>Numbers</h2><div class="wide"><table><thead><tr>`)
	for _, c := range columns {
		p.line(`<th scope="col">%s</th>`, c.name)
	}
	p.line(`</tr></thead><tbody>`)
	for _, o := range outcomes {
		for i := range o.Rows {
			first := ""
			if i == 0 {
				first = "all"
			}
			p.line(`<tr class="%s">`, first)
			for k, cell := range o.Rows[i].cells() {
				if k < 2 {
					p.line(`<th scope="row">%s</th>`, cell)
				} else {
					p.line(`<td>%s</td>`, cell)
				}
			}
			p.line(`</tr>`)
		}
	}
	p.line(`</tbody></table></div><dl>`)
	for _, c := range columns {
		if c.means != "" {
			p.line(`<dt>%s</dt><dd>%s</dd>`, c.name, c.means)
		}
	}
	p.line(`</dl></section>`)
}

// class is the look of the i-th policy.
func class(i int) string { return fmt.Sprintf("p%d", i%8) }

// charts are the plots of a page.
func charts(farm *Farm, outcomes []*Outcome) []chart {
	end := time.Duration(0)
	for _, o := range outcomes {
		end = max(end, o.Series.Width*time.Duration(len(o.Series.Spans)))
	}
	over := func(title, unit string, of func(s Span, seconds float64) float64) chart {
		c := chart{title: title, unit: unit, across: end}
		for _, o := range outcomes {
			c.lines = append(c.lines, curve{o.Policy.Name, thin(&o.Series, of)})
		}
		return c
	}
	list := []chart{
		over("Utilisation over time", "% of "+farm.Measured, func(s Span, _ float64) float64 {
			if s.Capacity == 0 {
				return 0
			}
			return 100 * s.Used / s.Capacity
		}),
		over("Queue over time", "jobs that wait", func(s Span, seconds float64) float64 { return s.Queue / seconds }),
	}
	waits := chart{title: "Waits: 95 of 100 jobs waited no longer", unit: "hours"}
	wasted := chart{title: "Wasted work", unit: "% of all work"}
	for _, o := range outcomes {
		var bars []bar
		for i := range o.Rows {
			name := "priority " + o.Rows[i].Priority
			if i == 0 {
				name = "all"
			}
			bars = append(bars, bar{name, o.Rows[i].WaitP95.Hours()})
		}
		waits.bars = append(waits.bars, group{o.Policy.Name, bars})
		wasted.bars = append(wasted.bars, group{o.Policy.Name, []bar{{"", 100 * o.Rows[0].WastedShare()}}})
	}
	return append(list, waits, wasted)
}

// mostPoints is how many points a curve has at most.
const mostPoints = 80

// thin is a curve of fewer points than there are spans: each is of several of them.
func thin(s *Series, of func(s Span, seconds float64) float64) (points []point) {
	step := max((len(s.Spans)+mostPoints-1)/mostPoints, 1)
	for i := 0; i < len(s.Spans); i += step {
		sum, n := Span{}, min(step, len(s.Spans)-i)
		for _, span := range s.Spans[i : i+n] {
			sum = sum.plus(span)
		}
		width := time.Duration(n) * s.Width
		points = append(points, point{time.Duration(i)*s.Width + width/2, of(sum, width.Seconds())})
	}
	return points
}
