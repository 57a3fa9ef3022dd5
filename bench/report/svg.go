package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The plots are drawn on a light ground of their own, so that they can be read on
// dark pages too.
const (
	width, height            = 760, 420
	left, right, top, bottom = 70, 170, 40, 50
)

var colours = []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b"}

// scale maps a logarithmic range to a range of pixels.
type scale struct{ low, high, from, to float64 }

func (s scale) at(v float64) float64 {
	return s.from + (s.to-s.from)*(math.Log10(v)-s.low)/(s.high-s.low)
}

// decades is the scale from the power of ten below all values to the one above.
func decades(values []float64, from, to float64) scale {
	low, high := math.Floor(math.Log10(slices.Min(values))), math.Ceil(math.Log10(slices.Max(values)))
	if low == high {
		high++
	}
	return scale{low, high, from, to}
}

type canvas struct{ strings.Builder }

func newCanvas(height int, title string) *canvas {
	c := &canvas{}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(c, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	c.text(left, 22, "start", "#222", title)
	return c
}

func (c *canvas) text(x, y float64, anchor, colour, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", x1, y1, x2, y2)
}

func (c *canvas) close() string { return c.String() + "</svg>\n" }

// growth plots the time of a question over the size of the cluster, a line a case,
// on logarithmic axes. It is empty without measurements of it.
func growth(r *run) string {
	type point struct{ nodes, ns float64 }
	lines := map[string][]point{}
	var names []string
	var xs, ys []float64
	for _, m := range r.named("Growth") {
		nodes, err := strconv.ParseFloat(m.get("nodes"), 64)
		ns, timed := m.values["ns/op"]
		if err != nil || !timed || ns <= 0 {
			continue // the slope
		}
		name := m.get("case")
		if lines[name] == nil {
			names = append(names, name)
		}
		lines[name] = append(lines[name], point{nodes, ns})
		xs, ys = append(xs, nodes), append(ys, ns)
	}
	if len(xs) == 0 {
		return ""
	}
	c := newCanvas(height, "Time of one question, by nodes of the cluster (30 pods each)")
	x, y := decades(xs, left, width-right), decades(ys, height-bottom, top)
	for e := x.low; e <= x.high; e++ {
		v := math.Pow(10, e)
		c.line(x.at(v), y.from, x.at(v), y.to)
		c.text(x.at(v), height-bottom+18, "middle", "#555", fmt.Sprintf("%.0f", v))
	}
	for e := y.low; e <= y.high; e++ {
		v := math.Pow(10, e)
		c.line(x.from, y.at(v), x.to, y.at(v))
		c.text(left-8, y.at(v)+4, "end", "#555", duration(v))
	}
	c.text(float64(left+(width-left-right)/2), height-12, "middle", "#555", "nodes")
	for i, name := range names {
		colour := colours[i%len(colours)]
		var path strings.Builder
		for _, p := range lines[name] {
			fmt.Fprintf(&path, "%.1f,%.1f ", x.at(p.nodes), y.at(p.ns))
			fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(p.nodes), y.at(p.ns), colour)
		}
		fmt.Fprintf(c, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.TrimSpace(path.String()), colour)
		// The key stands beside the plot, as lines may end in one place.
		c.text(width-right+12, float64(top+14+18*i), "start", colour, name)
	}
	return c.close()
}

// quality plots how many answers are beaten by Exact over the time of one, for each kind of data a line from Greedy over Improved
// to Exact: by upstream's criteria, and dashed where the work that is lost is to be least. It is empty without measurements of it.
func quality(r *run) string {
	var xs []float64
	var names []string
	lines := map[string][]measurement{}
	for _, m := range r.named("Quality") {
		name := m.get("data") + " " + m.get("least")
		if least := m.get("least"); least != "upstream" && least != "work" || m.values["ns/op"] <= 0 {
			continue
		}
		if lines[name] == nil {
			names = append(names, name)
		}
		lines[name] = append(lines[name], m)
		xs = append(xs, m.values["ns/op"])
	}
	if len(xs) == 0 {
		return ""
	}
	c := newCanvas(height, "Answers that are beaten by Exact's, by the time of one: Greedy, Improved, Exact")
	x := decades(xs, left, width-right)
	y := func(part float64) float64 { return height - bottom - part*(height-bottom-top) }
	for e := x.low; e <= x.high; e++ {
		v := math.Pow(10, e)
		c.line(x.at(v), y(0), x.at(v), y(1))
		c.text(x.at(v), height-bottom+18, "middle", "#555", duration(v))
	}
	for part := 0.0; part <= 1; part += 0.25 {
		c.line(x.from, y(part), x.to, y(part))
		c.text(left-8, y(part)+4, "end", "#555", fmt.Sprintf("%.0f %%", 100*part))
	}
	var kinds []string
	for _, name := range names {
		data, least, _ := strings.Cut(name, " ")
		if !slices.Contains(kinds, data) {
			kinds = append(kinds, data)
			c.text(width-right+12, float64(top+14+18*len(kinds)-18), "start", colours[(len(kinds)-1)%len(colours)], data)
		}
		colour, dash := colours[slices.Index(kinds, data)%len(colours)], ""
		if least == "work" {
			dash = ` stroke-dasharray="4 3"`
		}
		var path strings.Builder
		for _, m := range lines[name] {
			at, part := x.at(m.values["ns/op"]), y(m.values["worse"])
			fmt.Fprintf(&path, "%.1f,%.1f ", at, part)
			fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", at, part, colour)
		}
		fmt.Fprintf(c, `<polyline points="%s" fill="none" stroke="%s"%s/>`+"\n", strings.TrimSpace(path.String()), colour, dash)
	}
	return c.close()
}

// comparison plots the CPU time of each side, a bar a side, grouped by case, on a
// logarithmic axis. It is empty without measurements of it.
func comparison(r *run) string {
	ms := r.named("SideBySide")
	var values []float64
	var cases []string
	for _, m := range ms {
		values = append(values, m.values["cpu-ns/op"])
		if !slices.Contains(cases, m.get("case")) {
			cases = append(cases, m.get("case"))
		}
	}
	if len(values) == 0 || slices.Min(values) <= 0 {
		return ""
	}
	const bar, gap = 16, 14
	tall := top + len(ms)*(bar+4) + len(cases)*gap + bottom
	c := newCanvas(tall, "CPU time of one answer, "+ms[0].get("nodes")+" nodes and "+ms[0].get("pods")+" pods")
	const labels = 260
	x := decades(values, labels, width-90)
	for e := x.low; e <= x.high; e++ {
		v := math.Pow(10, e)
		c.line(x.at(v), top, x.at(v), float64(tall-bottom))
		c.text(x.at(v), float64(tall-bottom+18), "middle", "#555", duration(v))
	}
	at := float64(top)
	for _, name := range cases {
		at += gap
		for _, m := range ms {
			if m.get("case") != name {
				continue
			}
			side, v := m.get("side"), m.values["cpu-ns/op"]
			colour := "#999"
			if strings.HasPrefix(side, "preempt") {
				colour = colours[0]
			}
			c.text(labels-8, at+bar-4, "end", "#222", name+": "+side)
			fmt.Fprintf(c, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", labels, at, math.Max(1, x.at(v)-labels), bar, colour)
			c.text(x.at(v)+6, at+bar-4, "start", "#222", duration(v))
			at += bar + 4
		}
	}
	return c.close()
}
