package quota_test

import (
	"testing"

	"github.com/preempt-go/preempt/internal/quota"
	"pgregory.net/rapid"
)

// TestSumIsOneAfterTheOther: what is added and removed at once leaves every number as
// if it were added and removed one by one.
func TestSumIsOneAfterTheOther(t *testing.T) { rapid.Check(t, sumIsOneAfterTheOther) }

func sumIsOneAfterTheOther(t *rapid.T) {
	ix, err := quota.NewIndex(drawTree(t))
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		queue quota.HolderID
		usage []quota.ColumnAmount
	}
	var jobs []job
	for range rapid.IntRange(0, 12).Draw(t, "jobs") {
		j := job{queue: quota.HolderID(rapid.IntRange(0, ix.NumQueues()-1).Draw(t, "queue"))}
		for c := range quota.ColumnID(ix.NumColumns()) {
			if rapid.Bool().Draw(t, "uses") {
				j.usage = append(j.usage, quota.ColumnAmount{Column: c, Amount: rapid.Int64Range(0, 9).Draw(t, "amount")})
			}
		}
		jobs = append(jobs, j)
	}
	tree := quota.NewTree(ix)
	sum, at, once := tree.NewSum(), tree.NewUsage(), tree.NewUsage()
	same := func(step string) {
		for h := range quota.HolderID(tree.NumHolders()) {
			for c := range quota.ColumnID(ix.NumColumns()) {
				if got, want := at.Used(h, c), once.Used(h, c); got != want {
					t.Fatalf("%s: %s uses %d, want %d", step, ix.Name(h), got, want)
				}
			}
		}
	}
	half := len(jobs) / 2
	for i, j := range jobs {
		once.Add(j.queue, j.usage)
		if i < half {
			at.Add(j.queue, j.usage)
		} else {
			sum.Take(j.queue, j.usage)
		}
	}
	at.AddSum(sum)
	same("added")
	sum.Clear()
	for _, j := range jobs[:half] {
		once.Remove(j.queue, j.usage)
		sum.Take(j.queue, j.usage)
	}
	at.RemoveSum(sum)
	same("removed")
	sum.Clear()
	at.AddSum(sum)
	same("nothing added")
}
