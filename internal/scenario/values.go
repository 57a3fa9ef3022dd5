package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
	guards "github.com/preempt-go/preempt/victims"
)

// morning is t0, and noon the time of a snapshot that doesn't say.
var (
	morning = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	noon    = morning.Add(2 * time.Hour)
)

// moment reads 10:05, 10:05:30, t5 (minutes after 10:00) or a whole date.
func moment(value string) (time.Time, error) {
	if minutes, ok := strings.CutPrefix(value, "t"); ok {
		n, err := strconv.Atoi(minutes)
		return morning.Add(time.Duration(n) * time.Minute), err
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, value); err == nil {
			y, m, d := morning.Date()
			return t.AddDate(y, int(m)-1, d-1), nil
		}
	}
	return time.Parse(time.RFC3339, value)
}

func text[T ~string](value string) (T, error) { return T(value), nil }

func yes(value string) (bool, error) {
	if value != "yes" {
		return false, fmt.Errorf("it is yes or left out")
	}
	return true, nil
}

func int32s(value string) (int32, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	return int32(n), err
}

func int64s(value string) (int64, error) { return strconv.ParseInt(value, 10, 64) }

// seconds reads 600 or 10m.
func seconds(value string) (int64, error) {
	if n, err := int64s(value); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(value)
	return int64(d / time.Second), err
}

func integer(value string) (int, error) { return strconv.Atoi(value) }

// window reads 1h:victims:5,pods:10,cost:7.
func window(value string) (w preemption.Window, err error) {
	length, rest, _ := strings.Cut(value, ":")
	if w.Seconds, err = seconds(length); err != nil {
		return w, err
	}
	for _, word := range strings.Split(rest, ",") {
		what, amount, _ := strings.Cut(word, ":")
		dst, ok := map[string]*int64{"victims": &w.Victims, "pods": &w.Pods, "cost": &w.Cost}[what]
		if !ok {
			return w, fmt.Errorf("%s is not victims, pods or cost", what)
		}
		if *dst, err = int64s(amount); err != nil {
			return w, err
		}
	}
	return w, nil
}

// milestone reads 10m:100.
func milestone(word string) (m cluster.Milestone, err error) {
	at, value, _ := strings.Cut(word, ":")
	if m.Seconds, err = seconds(at); err != nil {
		return m, err
	}
	m.Value, err = int64s(value)
	return m, err
}

// cooldown reads 2/1h: two evictions in an hour.
func cooldown(value string) (c guards.Cooldown, err error) {
	n, window, _ := strings.Cut(value, "/")
	if c.Evictions, err = int32s(n); err != nil {
		return c, err
	}
	c.Seconds, err = seconds(window)
	return c, err
}

// list reads values with commas between them.
func list[T any](read func(string) (T, error)) func(string) ([]T, error) {
	return func(value string) (out []T, err error) {
		for _, word := range strings.Split(value, ",") {
			v, err := read(word)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
}

// isResource tells the names of resources from the names of fields.
func isResource(key string) bool {
	return key == cluster.CPU || key == cluster.Memory || key == cluster.Pods || key == "ephemeral-storage" ||
		strings.Contains(key, "/")
}

var suffixes = []struct {
	suffix string
	factor int64
}{{"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}

// amount reads cores (or thousandths, with m), bytes (or Ki, Mi, ...) and counts.
func amount(resource, value string) (int64, error) {
	if resource == cluster.CPU {
		if milli, ok := strings.CutSuffix(value, "m"); ok {
			return strconv.ParseInt(milli, 10, 64)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		return n * 1000, err
	}
	for _, s := range suffixes {
		if number, ok := strings.CutSuffix(value, s.suffix); ok {
			n, err := strconv.ParseInt(number, 10, 64)
			return n * s.factor, err
		}
	}
	return strconv.ParseInt(value, 10, 64)
}

// labels reads app=web,tier=back.
func labels(value string) (map[string]string, error) {
	out := map[string]string{}
	for _, word := range strings.Split(value, ",") {
		k, v, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%s is not key=value", word)
		}
		out[k] = v
	}
	return out, nil
}

// selector reads app=web,tier:In:a|b,spare:Exists; * holds for everything.
func selector(value string) (disruption.Selector, error) {
	var s disruption.Selector
	if value == "*" {
		return s, nil
	}
	for _, word := range strings.Split(value, ",") {
		if k, v, ok := strings.Cut(word, "="); ok {
			if s.MatchLabels == nil {
				s.MatchLabels = map[string]string{}
			}
			s.MatchLabels[k] = v
			continue
		}
		key, op, values, err := requirement(word)
		if err != nil {
			return s, err
		}
		s.MatchExpressions = append(s.MatchExpressions, disruption.Requirement{Key: key, Operator: disruption.Operator(op), Values: values})
	}
	return s, nil
}

// requirement reads key:Operator:value|value.
func requirement(word string) (key, op string, values []string, err error) {
	key, rest, ok := strings.Cut(word, ":")
	if !ok {
		return "", "", nil, fmt.Errorf("%s is not key:Operator:values", word)
	}
	op, joined, ok := strings.Cut(rest, ":")
	if ok {
		values = strings.Split(joined, "|")
	}
	return key, op, values, nil
}

// nodeAffinity reads terms with semicolons between them; @ marks a field.
func nodeAffinity(value string) (cluster.NodeAffinity, error) {
	var a cluster.NodeAffinity
	for _, words := range strings.Split(value, ";") {
		var t cluster.NodeTerm
		for _, word := range strings.Split(words, ",") {
			key, op, values, err := requirement(word)
			if err != nil {
				return a, err
			}
			r := cluster.NodeRequirement{Key: key, Operator: cluster.NodeOperator(op), Values: values}
			if field, ok := strings.CutPrefix(key, "@"); ok {
				r.Key = field
				t.Fields = append(t.Fields, r)
			} else {
				t.Labels = append(t.Labels, r)
			}
		}
		a.Terms = append(a.Terms, t)
	}
	return a, nil
}

// taint reads key=value:Effect; without an effect it is NoSchedule.
func taint(word string) (t cluster.Taint, err error) {
	rest, effect, ok := strings.Cut(word, ":")
	t.Key, t.Value, _ = strings.Cut(rest, "=")
	t.Effect = cluster.NoSchedule
	if ok {
		t.Effect = cluster.Effect(effect)
	}
	return t, nil
}

// toleration reads key=value:Effect, key<5, key>5, key (any value) and * (anything).
func toleration(word string) (t cluster.Toleration, err error) {
	rest, effect, _ := strings.Cut(word, ":")
	t.Effect = cluster.Effect(effect)
	if rest == "*" {
		t.Operator = cluster.TolerationExists
		return t, nil
	}
	for sign, op := range map[string]cluster.TolerationOperator{
		"=": cluster.TolerationEqual, "<": cluster.TolerationLt, ">": cluster.TolerationGt,
	} {
		if key, value, ok := strings.Cut(rest, sign); ok {
			t.Key, t.Value, t.Operator = key, value, op
			return t, nil
		}
	}
	t.Key, t.Operator = rest, cluster.TolerationExists
	return t, nil
}

// port reads 80, 53/UDP and 10.0.0.1:443/TCP.
func port(word string) (p cluster.HostPort, err error) {
	address, protocol, _ := strings.Cut(word, "/")
	p.Protocol = protocol
	if ip, number, ok := strings.Cut(address, ":"); ok {
		p.IP, address = ip, number
	}
	p.Port, err = int32s(address)
	return p, err
}

// owner reads Job/train.
func owner(value string) (o cluster.Owner, err error) {
	o.Kind, o.Name, _ = strings.Cut(value, "/")
	return o, nil
}

// affinityTerm reads app=web@zone.
func affinityTerm(word string) (t cluster.AffinityTerm, err error) {
	sel, key, _ := strings.Cut(word, "@")
	s, err := selector(sel)
	t.Selector, t.TopologyKey = &s, key
	return t, err
}

// spread reads app=web@zone:1.
func spread(word string) (c cluster.Spread, err error) {
	word, skew, _ := strings.Cut(word, "@")
	s, err := selector(word)
	if err != nil {
		return c, err
	}
	c.Selector = &s
	c.TopologyKey, skew, _ = strings.Cut(skew, ":")
	c.MaxSkew, err = int32s(skew)
	return c, err
}

// topology reads zone, and rack? for a level that is only preferred.
func topology(word string) (cluster.TopologyConstraint, error) {
	key, preferred := strings.CutSuffix(word, "?")
	return cluster.TopologyConstraint{Key: key, Preferred: preferred}, nil
}
