package quotasearch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/internal/genopts"
	"github.com/preempt-go/preempt/internal/naivequota"
	"github.com/preempt-go/preempt/internal/quota"
	"github.com/preempt-go/preempt/internal/quotasearch"
	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// TestQuotaVictimsAreTheTwins: who goes, on what ground and in which order are the plain twin's
// in random trees, where some are gone already. It is the same, after as many trials, whether
// somebody watches or not, and where a place is needed that is free anyway.
func TestQuotaVictimsAreTheTwins(t *testing.T) {
	preempted, several, none := 0, 0, 0
	for seed := range uint64(2000) {
		q, o := genopts.RandomQuota(seed)
		if seed%8 == 0 {
			crowd(&q.Snapshot, rand.New(rand.NewPCG(seed, 3)))
		}
		ix, err := quota.NewIndex(&q.Snapshot)
		require.NoError(t, err)
		usage := quota.NewTree(ix).NewUsage()
		r := rand.New(rand.NewPCG(seed, 2))
		world := naivequota.NewWorld(&q.Snapshot)
		gone := map[*quota.Reservation]bool{}
		for _, v := range ix.Reservations() {
			if r.IntN(20) > 0 {
				usage.Add(v.Queue, v.Usage)
				continue
			}
			gone[v] = true
			for a := range world.In {
				if a.W.Name == v.Workload.Name {
					delete(world.In, a)
				}
			}
		}
		searches := map[string]*quotasearch.Search{} // by order, each for several questions
		for id := range quota.HolderID(ix.NumQueues()) {
			w := cluster.Workload{Name: "asks", Priority: int32(r.IntN(4)), Created: time.Unix(int64(r.IntN(6)), 0).UTC()}
			ask := quotasearch.Question{Queue: id, Priority: int64(w.Priority), Ordered: quota.Ordered(&w)}
			twin := naivequota.Question{W: &w, Queue: world.Queues[ix.Name(id)], Request: naivequota.Amounts{}, Contested: map[naivequota.FR]bool{}}
			for _, g := range ix.Queue(id).Groups {
				f := g.Flavors[r.IntN(len(g.Flavors))]
				for _, rq := range f.Resources {
					c := quota.ColumnAmount{Column: ix.Column(f.Flavor, rq.Resource), Amount: int64(r.IntN(6))}
					if c.Amount == 0 {
						continue
					}
					ask.Request = append(ask.Request, c)
					twin.Request[naivequota.FR{Flavor: f.Flavor, Resource: rq.Resource}] = c.Amount
					if r.IntN(3) == 0 || !usage.Fits(id, []quota.ColumnAmount{c}, true) {
						ask.Contested = append(ask.Contested, c.Column)
						twin.Contested[naivequota.FR{Flavor: f.Flavor, Resource: rq.Resource}] = true
					}
				}
			}
			if len(ask.Contested) == 0 || usage.Fits(id, ask.Request, true) {
				continue
			}
			slices.SortFunc(ask.Request, func(a, b quota.ColumnAmount) int { return int(a.Column) - int(b.Column) })
			slices.Sort(ask.Contested)
			by := ix.Queue(id).Preemption.Order
			search := searches[fmt.Sprint(by)]
			if search == nil {
				search = quotasearch.New(ix, usage, quotasearch.NewReservations(ix, quotasearch.NewOrder(by)))
				searches[fmt.Sprint(by)] = search
			}
			options, before := naivequota.Options{}, usage.Clone()
			if fair := o.Quota.FairSharing; fair != nil {
				options.Fair = true
				for _, s := range fair.Strategies {
					options.Strategies = append(options.Strategies, map[preemption.FairStrategy]string{
						preemption.LessThanOrEqualToFinalShare: "a", preemption.LessThanInitialShare: "b",
					}[s])
				}
			}
			find := func() (list []string) {
				search.Gone = gone
				var found []quotasearch.Victim
				if fair := o.Quota.FairSharing; fair != nil {
					found = search.Fair(&ask, quotasearch.Strategies(fair.Strategies), quota.Exact)
				} else {
					found = search.Classical(&ask)
				}
				for _, v := range found {
					list = append(list, fmt.Sprint(v.Workload.Name, " ", v.Reason))
				}
				return list
			}
			got := find()
			require.Equal(t, before, usage, "the usage is as it was")
			trials := search.Trials
			search.Reset()
			steps := 0
			search.Observe = func(*quota.Reservation, quotasearch.Step) { steps++ }
			require.Equal(t, got, find(), "seed %d: watched", seed)
			require.Equal(t, trials, search.Trials, "seed %d: watched", seed)
			require.Equal(t, trials, steps, "one after every step")
			search.Reset()
			search.Place = &rack{blocked: map[string]bool{}}
			require.Equal(t, got, find(), "seed %d: with a place", seed)
			require.Equal(t, trials, search.Trials, "seed %d: with a place", seed)
			search.Reset()
			holders := &rack{blocked: map[string]bool{}}
			for _, v := range ix.Reservations() {
				if !gone[v] && r.IntN(6) == 0 {
					holders.jobs, holders.blocked[v.Workload.Name] = append(holders.jobs, v), true
				}
			}
			search.Place = holders
			placed := find()
			search.Reset()
			holders.known = true
			search.Place = holders
			require.Equal(t, placed, find(), "seed %d: where those are known who hold the place", seed)
			require.Equal(t, len(holders.jobs) == 0, holders.Fits(), "everybody is back")
			for _, v := range holders.jobs {
				require.True(t, holders.blocked[v.Workload.Name], "everybody is back")
			}
			require.Equal(t, before, usage, "the usage is as it was")
			search.Reset()
			var want []string
			for _, v := range world.Search(&twin, options) {
				want = append(want, fmt.Sprint(v.W.Name, " ", v.Reason))
			}
			require.Equal(t, want, got, "seed %d, queue %s", seed, ix.Name(id))
			require.Equal(t, before, usage, "the usage is as it was")
			switch {
			case len(got) > 1:
				several++
			case len(got) == 1:
				preempted++
			default:
				none++
			}
		}
	}
	for _, n := range []int{preempted, several, none} {
		require.Greater(t, n, 200)
	}
}

// crowd adds queues beside those that there are, and jobs that run there.
func crowd(s *cluster.Snapshot, r *rand.Rand) {
	queues, jobs := slices.Clone(s.ClusterQueues), slices.Clone(s.Workloads)
	for i := range 2 + r.IntN(7) {
		like := r.IntN(len(queues))
		q := queues[like]
		q.Name = fmt.Sprint("r", i)
		s.ClusterQueues = append(s.ClusterQueues, q)
		for k, w := range jobs {
			if w.Admission != nil && w.Admission.ClusterQueue == queues[like].Name && r.IntN(4) > 0 {
				w.Name = fmt.Sprint(q.Name, "w", k)
				w.Admission = &cluster.Admission{ClusterQueue: q.Name, Reserved: w.Admission.Reserved}
				s.Workloads = append(s.Workloads, w)
			}
		}
	}
}
