package suits

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/noderules"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestToleratedIsTolerates: what is looked up is what is found one by one.
func TestToleratedIsTolerates(t *testing.T) {
	keys, values := []string{"", "a", "b"}, []string{"", "x", "-1", "0", "1", "2", "9223372036854775808"}
	effects := []cluster.Effect{"", cluster.NoSchedule, cluster.NoExecute}
	operators := []cluster.TolerationOperator{"", cluster.TolerationEqual, cluster.TolerationExists, cluster.TolerationLt, cluster.TolerationGt}
	draw := rand.New(rand.NewPCG(1, 1))
	count := map[bool]int{}
	for range 20_000 {
		p := &cluster.Pod{}
		for range draw.IntN(4) {
			p.Tolerations = append(p.Tolerations, cluster.Toleration{
				Key: keys[draw.IntN(3)], Value: values[draw.IntN(7)], Effect: effects[draw.IntN(3)], Operator: operators[draw.IntN(5)],
			})
		}
		taint := cluster.Taint{Key: keys[draw.IntN(3)], Value: values[draw.IntN(7)], Effect: effects[draw.IntN(3)]}
		want := Tolerates(p, taint)
		require.Equal(t, want, newTolerated(p.Tolerations).tolerates(taint), "%+v, %+v", taint, p.Tolerations)
		count[want]++
	}
	require.Greater(t, min(count[true], count[false]), 2_000)
}

// TestLongListsAreRead: what is remembered of values is what is found one by one.
func TestLongListsAreRead(t *testing.T) {
	lists, draw := &Lists{}, rand.New(rand.NewPCG(1, 1))
	same := func(s *disruption.Selector, labels map[string]string) {
		m, err := s.Compile()
		require.NoError(t, err)
		for _, of := range []*Lists{nil, lists} {
			require.Equal(t, m.Matches(labels), of.Selector(s, labels), "%v %v", labels, s)
		}
	}
	same(&disruption.Selector{}, nil)
	for range 100 {
		values := make([]string, manyValues-1+draw.IntN(3))
		for i := range values {
			values[i] = strconv.Itoa(draw.IntN(100))
		}
		for v := range 101 {
			for _, op := range []disruption.Operator{disruption.In, disruption.NotIn} {
				s := &disruption.Selector{MatchExpressions: []disruption.Requirement{{Key: "a", Operator: op, Values: values}}}
				same(s, map[string]string{"a": strconv.Itoa(v)})
			}
		}
		requirements := slices.Repeat([]disruption.Requirement{{Key: "none", Operator: disruption.DoesNotExist}}, len(values))
		for _, key := range []string{"a", "b"} {
			i := draw.IntN(4)
			op := []disruption.Operator{disruption.In, disruption.NotIn, disruption.Exists, disruption.DoesNotExist}[i]
			requirements = append(requirements, disruption.Requirement{Key: key, Operator: op, Values: []string{"0", "1"}[i/2*2:]})
		}
		for v := range 16 {
			s, labels := &disruption.Selector{MatchExpressions: requirements}, map[string]string{}
			for i, key := range []string{"a", "b"} {
				if v>>(2*i)&3 < 3 {
					labels[key] = strconv.Itoa(v >> (2 * i) & 3)
				}
			}
			same(s, labels)
		}
	}
	require.NotEmpty(t, lists.values)
}

// TestTermsHoldWhereTheyAreLookedUp: of nodes with common, rare and no labels, of which some are integers. Terms that are asked about again are looked up once.
func TestTermsHoldWhereTheyAreLookedUp(t *testing.T) {
	draw, values, words := rand.New(rand.NewPCG(1, 1)), []string{"-1", "0", "1", "2", "7", "9223372036854775808", "x"}, 4
	one := func() string { return append(values, strconv.Itoa(draw.IntN(300)))[draw.IntN(8)] }
	nodes := make([]cluster.Node, 64*words-10)
	for i := range nodes {
		nodes[i] = cluster.Node{Name: strconv.Itoa(i % 200), Labels: map[string]string{"host": strconv.Itoa(i), "common": values[i%2], "any": one()}}
		if i%3 > 0 {
			nodes[i].Labels["some"] = one()
		}
	}
	keys, count := []string{"host", "common", "any", "some", "none"}, map[bool]int{}
	operators := []cluster.NodeOperator{cluster.NodeIn, cluster.NodeNotIn, cluster.NodeExists, cluster.NodeDoesNotExist, cluster.NodeGt, cluster.NodeLt}
	list := func(most int) (list []cluster.NodeRequirement) {
		for range draw.IntN(3) {
			list = append(list, cluster.NodeRequirement{Key: keys[draw.IntN(5)], Operator: operators[draw.IntN(most)], Values: []string{one(), one()}})
		}
		return list
	}
	lists := &Lists{Nodes: nodes}
	for range 500 {
		p := &cluster.Pod{NodeAffinity: &cluster.NodeAffinity{}}
		for range draw.IntN(4) {
			p.NodeAffinity.Terms = append(p.NodeAffinity.Terms, cluster.NodeTerm{Labels: list(6), Fields: list(2)})
		}
		if draw.IntN(4) == 0 {
			p.NodeSelector = map[string]string{"common": "0"}
		}
		plain := noderules.NewRule(p)
		for i := range nodes {
			want := plain.Matches(&nodes[i])
			require.Equal(t, want, lists.Node(p, &nodes[i]), "%+v, %+v", nodes[i], p.NodeAffinity)
			count[want]++
		}
	}
	require.Greater(t, min(count[true], count[false]), 20_000)
	require.Greater(t, len(lists.allowed), 300)
}

// TestFractionsSitTightest: each, the largest first, where the least room is left that is enough, as one sees who looks at every device,
// whoever was there before.
func TestFractionsSitTightest(t *testing.T) {
	told, full := map[bool]int{}, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		pool, sizes := cluster.DevicePool{Count: 1 + r.Int32N(5), Capacity: 9 + r.Int64N(2)}, []int64{}
		var run, guests []*cluster.Pod
		free, whole := slices.Repeat([]int64{pool.Capacity}, int(pool.Count)), int64(0)
		for range r.IntN(9) {
			d := cluster.DeviceRequest{Resource: "gpu", Fraction: 1 + r.Int64N(12)}
			switch at := r.Int32N(5); {
			case r.IntN(5) == 0:
				d.Count, d.Fraction = 1, 0
				whole++
			case r.IntN(3) == 0:
				if d.Assigned = []int32{at}; at < pool.Count {
					free[at] -= min(d.Fraction, pool.Capacity)
				}
			default:
				sizes = append(sizes, d.Fraction)
			}
			other := cluster.DeviceRequest{Resource: "nic", Fraction: 9, Assigned: []int32{0}}
			if p := (&cluster.Pod{Devices: []cluster.DeviceRequest{d, other}}); len(d.Assigned) > 0 || r.IntN(2) == 0 {
				run = append(run, p)
			} else {
				guests = append(guests, p)
			}
		}
		slices.Sort(sizes)
		seats, held := true, int64(0)
		for _, size := range slices.Backward(sizes) {
			best := -1
			for i, v := range free {
				if v >= size && (best < 0 || v < free[best]) {
					best = i
				}
			}
			if best < 0 {
				seats = false
			} else {
				free[best] -= size
			}
		}
		for _, v := range free {
			if v < pool.Capacity {
				held++
			}
		}
		all := append(slices.Clone(run), &cluster.Pod{Devices: []cluster.DeviceRequest{
			{Resource: "gpu", Fraction: 1 + r.Int64N(12)}, {Resource: "gpu", Fraction: 4, Assigned: []int32{0}}, {Resource: "gpu", Count: 1},
		}})
		got := NewSeating(&cluster.Node{Devices: map[string]cluster.DevicePool{"gpu": pool}}, all, guests)
		got.Seats("gpu")
		got.Take(all[len(run)], true, -1)
		if len(run) > 0 {
			got.Take(run[0], true, -1)
			got.Seats("gpu")
			got.Take(run[0], true, +1)
		}
		got.Take(&cluster.Pod{Devices: []cluster.DeviceRequest{{Resource: "gpu"}}}, false, +1)
		other, large := got.Clone(), int64(0)
		other.Take(all[len(run)], true, +1)
		got.Take(all[len(run)], true, +1)
		got.Take(all[len(run)], true, -1)
		for _, size := range append(sizes, all[len(run)].Devices[0].Fraction) {
			if 2*size > pool.Capacity {
				large++
			}
		}
		require.Equal(t, large > int64(pool.Count), got.Full(all[len(run)]), "seed %d", seed)
		if got.Full(all[len(run)]) {
			full++
			require.False(t, other.Seats("gpu"), "seed %d", seed)
		}
		require.Equal(t, seats && whole <= int64(pool.Count)-held, got.Seats("gpu"), "seed %d", seed)
		require.Equal(t, held+min(whole, int64(pool.Count)-held), got.Held(), "seed %d", seed)
		other.Take(all[len(run)], true, -1)
		require.Equal(t, got.Seats("gpu"), other.Seats("gpu"))
		require.Equal(t, got.Held(), other.Held())
		told[got.Seats("gpu")]++
	}
	require.Greater(t, min(told[true], told[false], full), 500)
}

// TestWhatAFilterIsShown: these fields, and nothing of who a pod is, how important, or what became of it.
func TestWhatAFilterIsShown(t *testing.T) {
	var p cluster.Pod
	of, shown := reflect.TypeOf(p), []string{}
	for i := range of.NumField() {
		p = cluster.Pod{}
		switch f := reflect.ValueOf(&p).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int32, reflect.Int64:
			f.SetInt(1)
		case reflect.Map:
			f.Set(reflect.MakeMap(f.Type()))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			f.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
		if !reflect.ValueOf(*Shown(&p)).Field(i).IsZero() {
			shown = append(shown, of.Field(i).Name)
		}
	}
	require.Equal(t, strings.Fields("Namespace Labels Annotations RequiredNode Requests Tolerations NodeSelector NodeAffinity Class Group Queue Devices"), shown)
}
