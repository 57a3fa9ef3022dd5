package gang_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/columns"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/victims"
)

// crowd is what a cluster of a gang has beside nodes, and pods of their own.
type crowd struct {
	nodes   int
	budgets bool // of which some allow losses, and some overlap
	groups  bool // that go as a whole, with pods on several nodes
	odd     bool // nodes that are closed, that members don't select, or that somebody waits for
}

// snapshot is a cluster whose nodes are full or nearly, and a gang of equal members.
func (c crowd) snapshot(draw *rand.Rand) *cluster.Snapshot {
	start := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	amounts := func(cpu int64) cluster.Resources {
		return cluster.Resources{cluster.CPU: cpu, cluster.Memory: 1 + draw.Int64N(2)}
	}
	priority := int32(15)
	s := &cluster.Snapshot{}
	if c.budgets {
		for _, of := range []string{"a", "b", "c"} {
			s.Budgets = append(s.Budgets, disruption.Budget{
				Namespace: "default", Name: of, Allowed: int32(draw.IntN(4) * draw.IntN(2)), Selector: &disruption.Selector{MatchLabels: map[string]string{of: "yes"}},
			})
		}
	}
	levels := [][]int32{{0, 5, 10, 20}, {3}, {1, 14, 15}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}[draw.IntN(4)]
	covered := int32(draw.IntN(20))
	for g := range 4 {
		level, one := levels[draw.IntN(len(levels))], int32(1)
		if c.groups {
			s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: fmt.Sprint("group", g), Mode: disruption.All, MinCount: &one, Priority: &level})
		}
	}
	for i := range c.nodes {
		n := cluster.Node{
			Name: fmt.Sprintf("n%02d", i), Labels: map[string]string{"disk": "fast"},
			Allocatable: cluster.Resources{cluster.CPU: 3 + draw.Int64N(4), cluster.Memory: 6 + draw.Int64N(9), cluster.Pods: 110},
		}
		if c.odd && draw.IntN(4) == 0 {
			n.Unschedulable = draw.IntN(2) == 0
			n.Labels["disk"] = []string{"slow", "fast"}[draw.IntN(2)]
		}
		s.Nodes = append(s.Nodes, n)
		for k, left := 0, n.Allocatable[cluster.CPU]-draw.Int64N(3); k < 5 && left > 0; k++ {
			p := cluster.Pod{
				Namespace: "default", Name: fmt.Sprintf("p%d-%d", i, k), Node: n.Name, Priority: &levels[draw.IntN(len(levels))],
				Started: start.Add(time.Duration(draw.IntN(3)) * time.Hour), Requests: amounts(min(left, 1+draw.Int64N(3))),
			}
			left -= p.Requests[cluster.CPU]
			if c.budgets && *p.Priority <= covered {
				p.Labels = map[string]string{[]string{"a", "b", "c", "none"}[draw.IntN(4)]: "yes"}
				if draw.IntN(4) == 0 {
					p.Labels["c"] = "yes"
				}
			}
			if c.groups && draw.IntN(3) == 0 {
				g := &s.PodGroups[draw.IntN(4)]
				if p.Group = g.Name; draw.IntN(4) > 0 {
					p.Priority = g.Priority
				}
				if draw.IntN(20) > 0 { // who is covered is not counted
					p.Labels = nil
				}
			}
			s.Pods = append(s.Pods, p)
		}
		if c.odd && draw.IntN(4) == 0 {
			waits := []int32{15, 20, 3}[draw.IntN(3)]
			s.Pods = append(s.Pods, cluster.Pod{
				Namespace: "default", Name: "waits-" + n.Name, NominatedNode: n.Name, Priority: &waits, Requests: amounts(1 + draw.Int64N(3)),
			})
		}
	}
	members := 1 + draw.IntN(6)
	need, model := int32(1+draw.IntN(members)), cluster.Pod{Namespace: "default", Group: "job", Requests: amounts(1 + draw.Int64N(4))}
	if c.odd && draw.IntN(2) == 0 {
		model.NodeSelector = map[string]string{"disk": "fast"}
	}
	for i := range members {
		model.Name = fmt.Sprint("job-", i)
		if c.odd && draw.IntN(6) == 0 {
			model.NominatedNode = s.Nodes[draw.IntN(c.nodes)].Name
		}
		s.Pods = append(s.Pods, model)
	}
	s.PodGroups = append(s.PodGroups, cluster.PodGroup{Namespace: "default", Name: "job", MinCount: &need, Priority: &priority})
	return s
}

// asks is the question about the gang of a snapshot.
func asks(t *testing.T, s *cluster.Snapshot, settings *ask.Settings) *ask.Question {
	ix, err := cluster.NewIndex(s)
	require.NoError(t, err)
	rule, charge := victims.Units137, disruption.Rule137
	if settings.Mobile {
		rule, charge = victims.Groups136, disruption.GroupRule136
	}
	units, budgets := victims.NewUnits(ix, rule, victims.Worth{}), victims.NewBudgets(ix, charge)
	g := ix.GroupByName(cluster.KindPodGroup, "default", "job")
	q := &ask.Question{
		Settings: settings, Index: ix, Units: units, Budgets: budgets, Columns: columns.NewNodeColumns(units, budgets),
		Traits: settings.Traits(), Group: ix.Group(g), Priority: ix.Group(g).Priority,
	}
	q.Tree = seating.NewGroup(ix, g, func(p cluster.PodID) domain.MemberID {
		q.Members = append(q.Members, q.NewMember(ix.Pod(p), p))
		return domain.MemberID(len(q.Members) - 1)
	})
	q.SettleClaim()
	return q
}

// parts are domains of all nodes: one, or two or three whose nodes lie in turn or one after the other.
func parts(draw *rand.Rand, ix *cluster.Index) (list []domain.Domain) {
	all, number, turns := seating.Split(ix, nil)[0].Nodes, 1+draw.IntN(3), draw.IntN(2) == 0
	for i := range number {
		d := domain.Domain{Name: fmt.Sprint("part", i)}
		for at, n := range all {
			if turns && at%number == i || !turns && at*number/len(all) == i {
				d.Nodes = append(d.Nodes, n)
			}
		}
		list = append(list, d)
	}
	return list
}

// told is what a search for a gang says.
type told struct {
	Answer   gang.Answer
	Found    []gang.Plan
	Rejected []gang.Rejected
	Room     int
	Checks   int
	Stats    ask.Stats
}

func tell(s *gang.Search, domains []domain.Domain) (all told) {
	defer s.Close()
	all.Answer = s.Run([][]domain.Domain{domains})
	all.Found, all.Rejected, all.Room, all.Checks, all.Stats = slices.Clone(s.Found), s.Rejected, s.Room, s.Checks(), s.Stats
	bare := func(p *gang.Plan) (bare gang.Plan) {
		bare = gang.Plan{Domain: p.Domain, Places: p.Places, Score: p.Score}
		bare.Victims, bare.Charged = append(bare.Victims, p.Victims...), append(bare.Charged, p.Charged...)
		bare.Score.Units = len(p.Victims)
		return bare
	}
	if all.Answer.Plan != nil {
		p := bare(all.Answer.Plan)
		all.Answer.Plan = &p
	}
	for i := range all.Found {
		all.Found[i] = bare(&all.Found[i])
	}
	return all
}

// lacks holds of each victim of a counted plan that what is said to be missing if it came back is: so much of the
// first resource of which nodes then have less than those ask for who are there, or nothing where no member is.
func lacks(t *testing.T, q *ask.Question, p *gang.Plan) {
	for i, at := range p.Counted.ByNode() {
		pod := q.Units.Unit(p.Victims[at]).Pods[0]
		n := q.Index.NodeOf(pod)
		want, row := columns.Shortage{Alone: true, Resource: 0}, slices.Clone(q.Index.Free(n))
		add := func(request []int64, sign int64) {
			for r, v := range request {
				row[r] += sign * v
			}
		}
		for _, x := range p.Places {
			if x.Node == n {
				want.Alone = false
				add(q.Members[0].Request(), -1)
			}
		}
		for _, u := range p.Victims {
			if other := q.Units.Unit(u).Pods[0]; q.Index.NodeOf(other) == n && other != pod {
				add(q.Index.Request(other), 1)
			}
		}
		for _, other := range q.Index.Nominees(n) {
			if q.Index.Priority(other) >= q.Priority && !slices.ContainsFunc(q.Members, func(m *domain.Member) bool { return m.ID == other }) {
				add(q.Index.Request(other), -1)
			}
		}
		if !want.Alone {
			want.Resource = domain.NoResource
			if r := slices.IndexFunc(row, func(v int64) bool { return v < 0 }); r >= 0 {
				want = columns.Shortage{Resource: cluster.ResourceID(r), Missing: -row[r]}
			}
		}
		require.Equal(t, want, p.Counted.Short(i))
	}
}

// TestCountingIsTrials: members that are counted go where those go who are placed one by one, the same
// pods leave for them, at the same price, and whoever has no place lacks as much.
func TestCountingIsTrials(t *testing.T) {
	for name, c := range map[string]crowd{
		"plain": {nodes: 4}, "budgets": {nodes: 4, budgets: true}, "groups": {nodes: 4, groups: true}, "odd": {nodes: 5, odd: true},
		"all": {nodes: 6, budgets: true, groups: true, odd: true}, "two blocks": {nodes: 67, budgets: true, odd: true},
	} {
		t.Run(name, func(t *testing.T) {
			counted, verdicts := 0, map[ask.Verdict]int{}
			rounds := uint64(400)
			if c.nodes > 60 {
				rounds = 150
			}
			var tools sync.Pool
			for seed := range rounds {
				draw := rand.New(rand.NewPCG(seed, 6))
				s := c.snapshot(draw)
				settings := &ask.Settings{
					Placers: []domain.Placer{domain.LeastDisruption{}, domain.Pack{}, domain.Spread{}}, Improves: true,
					Checks: []int{0, 10, 60, 400, 100_000}[draw.IntN(5)], Candidates: true, Goroutines: 1 + draw.IntN(2),
				}
				if chosen := draw.IntN(8); chosen < 2 {
					settings.Placers, settings.Improves = settings.Placers[1+chosen:][:1], false
				}
				settings.Mobile, settings.Fewest = draw.IntN(3) == 0, draw.IntN(3) == 0
				q := asks(t, s, settings)
				domains := parts(draw, q.Index)
				var search *gang.Search
				var have told
				for _, q.Priority = range []int32{25, 15} { // buffers are reused
					if search = gang.NewCounting(q, &tools); search.Counting != nil {
						have = tell(search, domains)
					}
				}
				if search.Counting == nil {
					continue
				}
				counted++
				for i := range search.Found {
					if p := &search.Found[i]; p.Counted != nil {
						lacks(t, q, p)
					}
				}
				want := tell(gang.New(asks(t, s, settings)), domains)
				verdicts[have.Answer.Verdict]++
				require.Equal(t, want, have, "seed %d, %+v", seed, *settings)

				settings.Candidates = false
				brief := gang.NewCounting(asks(t, s, settings), &tools)
				brief.Brief = true
				short := tell(brief, domains)
				require.Equal(t, want.Answer.Verdict, short.Answer.Verdict)
				if want.Answer.Verdict == ask.Feasible {
					require.Equal(t, want.Answer.Plan.Domain, short.Answer.Plan.Domain)
					want, have := &want.Answer.Plan.Score, &short.Answer.Plan.Score
					if want.Units, have.Units = 0, 0; len(domains) == 1 {
						have.Started = want.Started // which tells nothing apart
					}
					require.Equal(t, want, have, "seed %d, %+v", seed, *settings)
				}
				tools = sync.Pool{}
			}
			t.Log(counted, verdicts)
			require.Greater(t, verdicts[ask.Feasible], int(rounds/3))
		})
	}
}
