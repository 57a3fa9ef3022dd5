package simulator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/preempt-go/preempt/preemption"
)

// The names of a synthetic farm.
const (
	GPU  = "example.com/gpu"
	Rack = "example.com/rack"
)

// Synthetic says what a farm of GPUs is like that is drawn by chance: nodes of 8 GPUs in
// racks of 10, single jobs of 1 to 8 GPUs and gangs of 2 and 4 nodes within a rack, batch of
// priority 0, research of 100, production of 1000.
type Synthetic struct {
	Seed  uint64
	Nodes int
	Jobs  int
	Load  float64 // how much of the GPUs the jobs ask for on average; by day more, by night less
}

// kinds are the jobs of a synthetic farm: how many of a thousand, and how long, on average.
// Gangs are as frequent as in a recorded farm, itp2021: 1.2 % of the jobs.
var kinds = []struct {
	share, pods int
	gpus        int64
	takes       time.Duration
}{
	{500, 1, 1, time.Hour}, {150, 1, 2, time.Hour}, {150, 1, 4, 2 * time.Hour}, {188, 1, 8, 3 * time.Hour},
	{8, 2, 8, 6 * time.Hour}, {4, 4, 8, 6 * time.Hour},
}

// Farm draws it: equal seeds, equal farms.
func (y Synthetic) Farm() *Farm {
	r := rand.New(rand.NewPCG(y.Seed, 1))
	f := &Farm{Measured: GPU, Unit: "GPU-hours"}
	for i := range y.Nodes {
		f.Nodes = append(f.Nodes, preemption.Node{
			Name: fmt.Sprintf("n%05d", i), Labels: map[string]string{Rack: fmt.Sprintf("r%04d", i/10)},
			Allocatable: preemption.Resources{GPU: 8},
		})
	}
	mean := 0.0 // GPU-seconds of a job
	for _, k := range kinds {
		mean += float64(k.share) / 1000 * float64(k.pods) * float64(k.gpus) * k.takes.Seconds()
	}
	between := mean / (y.Load * 8 * float64(y.Nodes)) // seconds between two arrivals
	at := 0.0
	for i := range y.Jobs {
		at += between * r.ExpFloat64() / (1 + 0.5*math.Sin(2*math.Pi*at/86400))
		f.Jobs = append(f.Jobs, y.job(r, i, time.Duration(at)*time.Second))
	}
	y.failures(r, f, time.Duration(at)*time.Second)
	return f
}

func (y Synthetic) job(r *rand.Rand, i int, at time.Duration) Job {
	k := 0
	for left := r.IntN(1000) - kinds[0].share; left >= 0; left -= kinds[k].share {
		k++
	}
	kind := kinds[k]
	j := Job{
		Name: fmt.Sprintf("job%07d", i), Priority: []int32{0, 0, 0, 0, 0, 100, 100, 100, 1000, 1000}[r.IntN(10)],
		Pods: kind.pods, Requests: preemption.Resources{GPU: kind.gpus}, Arrives: at,
	}
	if kind.pods > 1 {
		j.Within = Rack
	}
	// Many are short, few are long: log-normal, with the mean of its kind.
	j.Takes = time.Duration(max(kind.takes.Seconds()*math.Exp(r.NormFloat64()-0.5), 60)) * time.Second
	return j
}

// failures lets each node fail about once in a hundred days, for an hour.
func (y Synthetic) failures(r *rand.Rand, f *Farm, end time.Duration) {
	for i := range f.Nodes {
		for at := time.Duration(0); ; {
			at += time.Duration(r.ExpFloat64()*100*86400) * time.Second
			if at >= end {
				break
			}
			f.Changes = append(f.Changes, Change{At: at, Node: f.Nodes[i], Gone: true})
			at += time.Hour
			f.Changes = append(f.Changes, Change{At: at, Node: f.Nodes[i]})
		}
	}
}
