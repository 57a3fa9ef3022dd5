package simulator

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// chart is a plot: curves over time, or bars in groups.
type chart struct {
	title, unit string
	across      time.Duration // of curves
	lines       []curve
	bars        []group
}

type curve struct {
	name   string
	points []point
}

type point struct {
	at    time.Duration
	value float64
}

type group struct {
	name string
	bars []bar
}

type bar struct {
	name  string
	value float64
}

// The size of a plot, and of what is around it.
const (
	width, height            = 760.0, 260.0
	left, right, top, bottom = 56.0, 24.0, 24.0, 34.0
)

// svg draws it. What it shows is also said in words, for those who do not see it.
func (c *chart) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%s</title><desc>%s</desc>`+"\n",
		width, height, html.EscapeString(c.title), html.EscapeString(c.title), html.EscapeString(c.words()))
	high, step := scale(c.most())
	y := func(v float64) float64 { return height - bottom - (height-top-bottom)*v/high }
	for v := 0.0; v <= high*1.0001; v += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%g" y1="%.1f" x2="%g" y2="%.1f"/>`, left, y(v), width-right, y(v))
		text(&b, left-6, y(v)+4, "end", number(v))
	}
	text(&b, 4, 12, "start", c.unit)
	if c.lines != nil {
		c.curves(&b, y)
	} else {
		c.groups(&b, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (c *chart) curves(b *strings.Builder, y func(float64) float64) {
	x := func(t time.Duration) float64 { return left + (width-left-right)*float64(t)/float64(max(c.across, 1)) }
	unit, name := time.Hour, "h"
	if c.across > 72*time.Hour {
		unit, name = 24*time.Hour, "d"
	}
	most := float64(c.across) / float64(unit)
	_, step := scale(most)
	for v := 0.0; v <= most; v += step {
		at := x(time.Duration(v * float64(unit)))
		text(b, at, height-bottom+18, "middle", number(v)+" "+name)
	}
	for i, line := range c.lines {
		fmt.Fprintf(b, `<polyline class="%s" points="`, class(i))
		for _, p := range line.points {
			fmt.Fprintf(b, "%.1f,%.1f ", x(p.at), y(p.value))
		}
		fmt.Fprintf(b, `"><title>%s</title></polyline>`+"\n", html.EscapeString(line.name))
	}
}

func (c *chart) groups(b *strings.Builder, y func(float64) float64) {
	n := len(c.bars[0].bars)
	wide := (width - left - right) / float64(n)
	each := min(wide*0.8/float64(len(c.bars)), 60)
	for k := range n {
		middle := left + wide*(float64(k)+0.5)
		text(b, middle, height-bottom+18, "middle", c.bars[0].bars[k].name)
		for i, g := range c.bars {
			v := g.bars[k].value
			at := middle + each*(float64(i)-float64(len(c.bars))/2)
			fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`+"\n",
				class(i), at, y(v), each*0.86, y(0)-y(v), html.EscapeString(strings.TrimSpace(fmt.Sprintf("%s %s: %s", g.name, g.bars[k].name, number(v)))))
			if n == 1 {
				text(b, at+each*0.43, y(v)-4, "middle", number(v))
			}
		}
	}
}

// words is what a plot shows.
func (c *chart) words() string {
	var list []string
	for _, l := range c.lines {
		sum, most := 0.0, 0.0
		for _, p := range l.points {
			sum, most = sum+p.value, max(most, p.value)
		}
		list = append(list, fmt.Sprintf("%s: %s on average, %s at most", l.name, number(sum/float64(max(len(l.points), 1))), number(most)))
	}
	for _, g := range c.bars {
		for _, b := range g.bars {
			list = append(list, strings.TrimSpace(g.name+" "+b.name)+": "+number(b.value))
		}
	}
	return "In " + c.unit + ". " + strings.Join(list, "; ") + "."
}

// most is the largest value.
func (c *chart) most() (v float64) {
	for _, l := range c.lines {
		for _, p := range l.points {
			v = max(v, p.value)
		}
	}
	for _, g := range c.bars {
		for _, b := range g.bars {
			v = max(v, b.value)
		}
	}
	return v
}

// scale is a round number from most up, and the step of the four to ten lines to it.
func scale(most float64) (high, step float64) {
	if most <= 0 {
		return 1, 0.5
	}
	step = math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{0.1, 0.2, 0.5} {
		if most/(step*part) <= 6 {
			step *= part
			break
		}
	}
	return math.Ceil(most/step) * step, step
}

// number is v with two digits behind the point at most, and none where it is large.
func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}
