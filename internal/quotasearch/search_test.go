package quotasearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/internal/quotatext"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/victims"
)

// queues are a few queues with quota, and a workload that asks one of them.
type queues struct {
	ix     *quota.Index
	usage  *quota.Usage
	search *quotasearch.Search
	ask    quotasearch.Question
	fair   bool
	by     []quotasearch.Strategy
	steps  []string // what was decided, in turn
}

// readQueues reads them in the notation of package quotatext.
func readQueues(t *testing.T, text string) *queues {
	t.Helper()
	list, err := quotatext.Parse("== small\n" + text)
	require.NoError(t, err)
	s := list[0]
	qs := &queues{}
	qs.ix, err = quota.NewIndex(&s.Snapshot)
	require.NoError(t, err)
	qs.usage = quota.NewTree(qs.ix).NewUsage()
	for _, r := range qs.ix.Reservations() {
		qs.usage.Add(r.Queue, r.Usage)
	}
	w := *s.Evict
	w.Admission = &cluster.Admission{ClusterQueue: w.Queue}
	asks, _, err := qs.ix.Reserve(&w, qs.ix.Now())
	require.NoError(t, err)
	qs.ask = quotasearch.Question{Queue: asks.Queue, Priority: asks.Priority, Ordered: asks.Ordered}
	for _, u := range asks.Usage {
		qs.ask.Request = append(qs.ask.Request, u)
		if !slices.Contains(s.Free, qs.ix.ResourceName(u.Column)) {
			qs.ask.Contested = append(qs.ask.Contested, u.Column)
		}
	}
	if s.Options.Quota.FairSharing != nil {
		qs.fair, qs.by = true, quotasearch.Strategies(s.Options.Quota.FairSharing.Strategies)
	}
	order := quotasearch.NewOrder(qs.ix.Queue(qs.ask.Queue).Preemption.Order)
	qs.search = quotasearch.New(qs.ix, qs.usage, quotasearch.NewReservations(qs.ix, order))
	qs.search.Observe = func(r *quota.Reservation, step quotasearch.Step) {
		qs.steps = append(qs.steps, []string{"-", "+", "?"}[step]+r.Workload.Name)
	}
	qs.search.Attempt = func(borrow bool) {
		qs.steps = append(qs.steps, map[bool]string{false: "nominal:", true: "borrowing:"}[borrow])
	}
	return qs
}

// find asks, and spells who goes on what ground, in order of name.
func (qs *queues) find() string {
	var list []string
	for _, v := range qs.victims() {
		list = append(list, v.Workload.Name+" "+short[v.Reason])
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (qs *queues) victims() []quotasearch.Victim {
	if qs.fair {
		return qs.search.Fair(&qs.ask, qs.by, quota.Exact)
	}
	return qs.search.Classical(&qs.ask)
}

var short = map[victims.QuotaReason]string{
	victims.InClusterQueue: "own", victims.InCohortReclamation: "reclaimed",
	victims.InCohortReclaimWhileBorrowing: "while borrowing", victims.InCohortFairSharing: "fair",
}

// The walk of KEP-83, "Preemption", as Kueue has it now: who is taken (-), who comes back
// (+) and who would but may not (?), attempt by attempt. The last to go is not tried.
func TestClassicalWalk(t *testing.T) {
	const alone = "queue q cpu=6 own=LowerPriority\n"
	const pair = "queue a@c cpu=6 own=LowerPriority reclaim=Any\nqueue b@c cpu=6\n"
	const sharing = "queue a@c cpu=1+12 own=LowerPriority reclaim=LowerPriority bwc=0\nqueue b@c cpu=1+12\nqueue pool@c cpu=10\n"
	const tree = "cohort side@root cpu=2\nqueue a@side cpu=0 own=LowerPriority reclaim=LowerPriority\nqueue sibling@side cpu=0\nqueue far@root cpu=0\n"
	for _, c := range []struct{ name, text, walk, want string }{
		{"the lowest priority goes first", alone + "jobs low@q prio=-1 cpu=2 mid@q cpu=2 high@q prio=1 cpu=2\nevict in@q prio=1 cpu=2", "borrowing: -low", "low own"},
		{"of equals the youngest", alone + "jobs old@q cpu=3 at=1 young@q cpu=3 at=2\nevict in@q prio=1 cpu=3", "borrowing: -young", "young own"},
		{"who was not needed comes back", alone + "jobs low@q prio=-1 cpu=1 mid@q cpu=2 high@q prio=1 cpu=3\nevict in@q prio=1 cpu=2", "borrowing: -low -mid +low", "mid own"},
		{"the more important first", alone + "jobs l1@q prio=-3 cpu=1 l2@q prio=-2 cpu=1 big@q cpu=4\nevict in@q prio=1 cpu=5", "borrowing: -l1 -l2 -big +l2 ?l1", "big own, l1 own"},
		{"not one of its own priority", alone + "jobs a@q cpu=3 b@q cpu=3\nevict in@q cpu=3", "borrowing:", ""},
		{"all who may are not enough", alone + "jobs low@q prio=-1 cpu=1 high@q prio=1 cpu=5\nevict in@q cpu=2", "borrowing: -low", ""},
		{"who is told to stop already goes first", alone + "jobs low@q prio=-9 cpu=3 leaving@q prio=-1 cpu=3 evicted=yes\nevict in@q cpu=3", "borrowing: -leaving", "leaving own"},
		{"what others borrow is reclaimed, whatever the priority", pair + "jobs b1@b prio=9 cpu=6 b2@b prio=8 cpu=3\nevict in@a cpu=4", "borrowing: -b2", "b2 reclaimed"},
		{"no further than their nominal quota", pair + "jobs b1@b cpu=6 b2@b prio=-1 cpu=1 a1@a prio=-1 cpu=5\nevict in@a cpu=6", "nominal: -b2 -a1 ?b2", "a1 own, b2 reclaimed"},
		{"nothing is borrowed, nothing reclaimed", pair + "jobs b1@b cpu=6 a1@a cpu=6\nevict in@a cpu=1", "borrowing:", ""},
		{"others before its own", pair + "jobs b1@b cpu=7 a1@a prio=-9 cpu=5\nevict in@a prio=1 cpu=1", "borrowing: -b1", "b1 reclaimed"},
		{"while borrowing, those below its priority and the bound", sharing + "jobs b1@b prio=-1 cpu=10 b2@b prio=1 cpu=1\nevict in@a prio=2 cpu=10", "borrowing: -b1", "b1 while borrowing"},
		{"above the bound, what it is entitled to", sharing + "jobs b1@b prio=1 cpu=12\nevict in@a prio=2 cpu=1", "borrowing: -b1", "b1 reclaimed"},
		{"and no more than that", sharing + "jobs b1@b prio=1 cpu=10\nevict in@a prio=2 cpu=10", "borrowing: nominal: -b1", ""},
		{"what its cohort owns is reclaimed from those further out", tree + "jobs f@far prio=-1 cpu=2\nevict in@a cpu=2", "borrowing: -f", "f reclaimed"},
		{"before its own, though more important", tree + "jobs f@far prio=-1 cpu=1 a1@a prio=-2 cpu=1\nevict in@a cpu=1", "borrowing: -f", "f reclaimed"},
		{"what its side does not own is not", tree + "jobs f@far prio=-1 cpu=1 s@sibling cpu=1\nevict in@a cpu=2", "borrowing:", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			qs := readQueues(t, c.text)
			before := qs.usage.Clone()
			require.Equal(t, c.want, qs.find())
			require.Equal(t, c.walk, strings.Join(qs.steps, " "))
			require.Equal(t, before, qs.usage, "the usage is as it was")
		})
	}
}

// Under fair sharing the queue with the greatest share gives, again and again.
func TestFairWalk(t *testing.T) {
	const three = "queue a@all cpu=3 own=LowerPriority reclaim=Any\nqueue b@all cpu=3 own=LowerPriority reclaim=Any\nqueue c@all cpu=3 own=LowerPriority reclaim=Any\n"
	for _, c := range []struct{ name, text, walk, want string }{
		{"within its nominal quota it reclaims", three + "fair\njobs a@a cpu=1 n=3 b@b cpu=1 n=5 c1@c cpu=1\nevict in@c cpu=1", "-b1", "b1 reclaimed"},
		{"beyond it, a fair share is transferred", three + "fair\njobs a@a cpu=1 n=3 b@b cpu=1 n=5 c1@c cpu=1\nevict in@a cpu=1", "-b1", "b1 fair"},
		{"an exactly equal split is fair", three + "fair LessThanOrEqualToFinalShare\njobs a@a cpu=1 n=3 b@b cpu=1 n=5 c1@c cpu=1\nevict in@a cpu=1", "-b1", "b1 fair"},
		{"not the imbalance", three + "fair\njobs a@a cpu=1 n=3 b@b cpu=1 n=5\nevict in@a cpu=2", "", ""},
		{"nobody under nominal quota", three + "fair\njobs a@a cpu=1 n=3 b@b cpu=1 n=3 c@c cpu=1 n=3\nevict in@c cpu=1", "", ""},
		{"its own without further ado", three + "fair\njobs a1@a prio=-1 cpu=1 a2@a prio=-1 cpu=1 a3@a cpu=1 a4@a cpu=1 b@b cpu=1 n=5\nevict in@a cpu=2", "-a1 -a2 ?a1", "a1 own, a2 own"},
		{"a huge one if there is no other, by the second strategy", three + "fair\njobs b1@b cpu=9\nevict in@a cpu=4", "-b1", "b1 fair"},
		{"not by the first alone", three + "fair LessThanOrEqualToFinalShare\njobs b1@b cpu=9\nevict in@a cpu=4", "", ""},
		{"the first spares who would leave too little", three + "fair LessThanOrEqualToFinalShare\njobs low@b prio=-1 cpu=5 high@b prio=1 cpu=1 a1@a cpu=3\nevict in@a cpu=1", "-high", "high fair"},
		{"the second does not look at what is left", three + "fair LessThanInitialShare\njobs low@b prio=-1 cpu=5 high@b prio=1 cpu=1 a1@a cpu=3\nevict in@a cpu=1", "-low", "low fair"},
		{"twice the weight, half the share", "queue a@all weight=2 cpu=3 reclaim=Any\nqueue b@all cpu=3\nqueue c@all cpu=3\nfair\njobs a@a cpu=1 n=3 b@b cpu=1 n=6\nevict in@a cpu=2", "-b1 -b2 ?b1", "b1 fair, b2 fair"},
		{"a workload's going may leave room for one that went before", three + "fair\njobs b1@b prio=-1 cpu=1 b2@b cpu=5 a1@a cpu=3\nevict in@c cpu=3", "-b1 -b2 +b1", "b2 reclaimed"},
		{"without a cohort, its own", "queue q cpu=2 own=LowerPriority\nfair\njobs a1@q prio=-1 cpu=2\nevict in@q cpu=2", "-a1", "a1 own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			qs := readQueues(t, c.text)
			before := qs.usage.Clone()
			require.Equal(t, c.want, qs.find())
			require.Equal(t, c.walk, strings.Join(qs.steps, " "))
			require.Equal(t, before, qs.usage, "the usage is as it was")
		})
	}
}

// What keeps a workload, before anybody has gone.
func TestWhatKeepsAWorkload(t *testing.T) {
	const text = "queue a@c cpu=6 mem=6 own=LowerPriority reclaim=LowerPriority\nqueue b@c cpu=2 mem=2\nqueue within@c cpu=6 mem=6\nqueue apart cpu=6 mem=6\nqueue still@c cpu=0 mem=0 stopped=yes\n" +
		"jobs ownlow@a prio=-1 cpu=1 ownhigh@a prio=5 cpu=1 mem@b prio=-1 mem=1 far@apart prio=-1 cpu=1 low@b prio=-1 cpu=2 high@b prio=5 cpu=1 kept@within prio=-1 cpu=1 gone@b prio=-1 cpu=1 idle@still prio=-1 cpu=1\n" +
		"evict in@a cpu=6"
	qs := readQueues(t, text)
	want := map[string]quotasearch.Kept{
		"ownlow": quotasearch.NotKept, "ownhigh": quotasearch.OwnPolicy, "mem": quotasearch.Unused, "far": quotasearch.Apart,
		"low": quotasearch.NotKept, "high": quotasearch.OtherPolicy, "kept": quotasearch.Nominal, "gone": quotasearch.Gone, "idle": quotasearch.Inactive,
	}
	qs.search.Gone = map[*quota.Reservation]bool{}
	got := map[string]quotasearch.Kept{}
	for _, r := range qs.ix.Reservations() {
		qs.search.Gone[r] = r.Workload.Name == "gone"
		got[r.Workload.Name] = qs.search.Keeps(&qs.ask, r)
	}
	require.Equal(t, want, got)
	may := map[string]bool{}
	for _, v := range qs.victims() {
		may[v.Workload.Name] = true
		require.Equal(t, quotasearch.NotKept, want[v.Workload.Name])
	}
	require.NotEmpty(t, may)
}

// rack is a place that is free once these are gone.
type rack struct {
	blocked map[string]bool
	jobs    []*quota.Reservation
	known   bool
}

func (p *rack) Remove(r *quota.Reservation)     { delete(p.blocked, r.Workload.Name) }
func (p *rack) Return(r *quota.Reservation)     { p.blocked[r.Workload.Name] = true }
func (p *rack) Helps(r *quota.Reservation) bool { return slices.Contains(p.jobs, r) }
func (p *rack) Fits() bool {
	return !slices.ContainsFunc(p.jobs, func(r *quota.Reservation) bool { return p.blocked[r.Workload.Name] })
}

func (p *rack) Jobs() []*quota.Reservation {
	if !p.known {
		return nil
	}
	return p.jobs
}

// Quota may be enough and a place missing: then only those go who leave the place.
func TestQuotaAndAPlace(t *testing.T) {
	for _, c := range []struct {
		name, text, holders, want string
	}{
		{"quota is enough: who helps goes, though another is less important", "queue q cpu=9 own=LowerPriority\njobs low@q prio=-2 cpu=1 mid@q prio=-1 cpu=1\nevict in@q cpu=1", "mid", "mid own"},
		{"nobody may who helps", "queue q cpu=9 own=LowerPriority\njobs low@q prio=-2 cpu=1 high@q prio=1 cpu=1\nevict in@q cpu=1", "high", ""},
		{"first quota, then the place", "queue q cpu=4 own=LowerPriority\njobs low@q prio=-2 cpu=2 mid@q prio=-1 cpu=1 top@q prio=-1 at=1 cpu=1\nevict in@q cpu=2", "top", "low own, top own"},
		{"who is on the way and frees both is enough", "queue q cpu=2 own=LowerPriority\njobs low@q prio=-2 cpu=1 mid@q prio=-1 cpu=1\nevict in@q cpu=1", "mid", "mid own"},
		{"under fair sharing, too", "queue q cpu=9 own=LowerPriority\nfair\njobs low@q prio=-2 cpu=1 mid@q prio=-1 cpu=1\nevict in@q cpu=1", "mid", "mid own"},
	} {
		for _, known := range []bool{false, true} {
			qs := readQueues(t, c.text)
			place := &rack{blocked: map[string]bool{}, known: known}
			for _, r := range qs.ix.Reservations() {
				place.blocked[r.Workload.Name] = true
				if slices.Contains(strings.Fields(c.holders), r.Workload.Name) {
					place.jobs = append(place.jobs, r)
				}
			}
			before := fmt.Sprint(place.blocked)
			qs.search.Place = place
			require.Equal(t, c.want, qs.find(), "%s; jobs known: %v", c.name, known)
			require.Equal(t, before, fmt.Sprint(place.blocked), "everybody is back")
		}
	}
}

// Nobody who goes could stay: with each one back, in turn, the preemptor does not fit.
func TestQuotaVictimsAreIrreducible(t *testing.T) {
	many := 0
	for seed := range 400 {
		var jobs []string
		for i := range 8 {
			jobs = append(jobs, fmt.Sprintf("j%d@%s prio=%d cpu=%d", i, []string{"a", "b"}[(seed>>i)&1], -1-(seed*7+i*3)%4, 1+(seed*5+i*11)%4))
		}
		qs := readQueues(t, "queue a@c cpu=8 own=LowerPriority reclaim=Any\nqueue b@c cpu=4\njobs "+strings.Join(jobs, " ")+fmt.Sprintf("\nevict in@a cpu=%d", 2+seed%6))
		list := slices.Clone(qs.victims())
		borrow := slices.Index(qs.steps, "borrowing:") > slices.Index(qs.steps, "nominal:") // the attempt that counts
		for _, v := range list {
			qs.usage.Remove(v.Queue, v.Usage)
		}
		if len(list) > 0 {
			require.True(t, qs.usage.Fits(qs.ask.Queue, qs.ask.Request, borrow), "seed %d", seed)
		}
		for _, v := range list {
			qs.usage.Add(v.Queue, v.Usage)
			require.False(t, qs.usage.Fits(qs.ask.Queue, qs.ask.Request, borrow), "seed %d: %s could stay", seed, v.Workload.Name)
			qs.usage.Remove(v.Queue, v.Usage)
		}
		if len(list) > 1 {
			many++
		}
	}
	require.Greater(t, many, 50)
}
