package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/preempt-go/preempt/preemption"
)

// QuotaAnswer is the part of an answer about a Workload of Kueue.
type QuotaAnswer struct {
	Flavors   map[string]string `json:"flavors"`   // "podset/resource" → flavor
	Borrowing int               `json:"borrowing"` // height of the subtree that the quota comes from; 0: within nominal
	Reasons   map[string]string `json:"reasons"`   // namespace/name of a victim → why it may be evicted
}

// fairSharing is whether and how shares decide among Workloads; off at first.
type fairSharing struct{ *preemption.FairSharing }

// UnmarshalJSON reads false, true or an object with strategies.
func (f *fairSharing) UnmarshalJSON(text []byte) error {
	f.FairSharing = nil
	switch string(text) {
	case "false":
		return nil
	case "true":
		f.FairSharing = &preemption.FairSharing{}
		return nil
	}
	return json.Unmarshal(text, &f.FairSharing)
}

// Set reads the flag: strategies with commas between them, or "default".
func (f *fairSharing) Set(text string) error {
	f.FairSharing = &preemption.FairSharing{}
	if text == "default" {
		return nil
	}
	for _, s := range strings.Split(text, ",") {
		f.Strategies = append(f.Strategies, preemption.FairStrategy(s))
	}
	return nil
}

// String writes what Set reads.
func (f *fairSharing) String() string {
	if f == nil || f.FairSharing == nil {
		return ""
	}
	var names []string
	for _, s := range f.Strategies {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

// quota is how Workloads preempt each other: as Kueue would, floats included.
// own, if not nil, is what a case says itself.
func (c *config) quota(own *fairSharing) preemption.QuotaOptions {
	if own == nil {
		own = &fairSharing{cmp.Or(c.fair.FairSharing, c.options.Quota.FairSharing)}
	}
	return preemption.QuotaOptions{FairSharing: own.FairSharing, KueueFloat: true}
}

// answeredQuota puts a result about a Workload into the batch's form.
func answeredQuota(name string, r *preemption.Result) *Answer {
	a := blank(name)
	a.Message = r.Message
	switch r.Verdict {
	case preemption.Fits:
		a.Status = "fits"
	case preemption.Feasible:
		a.Status = "preempt"
	default:
		a.Status = "unschedulable"
	}
	a.QuotaAnswer = &QuotaAnswer{Flavors: map[string]string{}, Reasons: map[string]string{}}
	if r.Quota != nil {
		a.Borrowing = r.Quota.Borrowing
		for _, f := range r.Quota.Flavors {
			a.Flavors[f.PodSet+"/"+f.Resource] = f.Flavor
		}
	}
	for _, v := range r.Victims {
		name := v.Namespace + "/" + v.Name
		a.Victims = append(a.Victims, name)
		a.Reasons[name] = string(v.Quota.Reason)
	}
	slices.Sort(a.Victims)
	return a
}

// quota lists the flavors that a Workload takes and the Workloads that have to go.
func (r *report) quota() {
	var rows []string
	for _, f := range r.result.Quota.Flavors {
		note := ""
		if f.Contested {
			note = "after preemption"
		}
		rows = append(rows, strings.Join([]string{f.PodSet, amounts(map[string]int64{f.Resource: f.Amount}), f.Flavor, note}, "\t"))
	}
	if len(rows) > 0 {
		r.Printf("\n")
		r.Table("POD SET\tTAKES\tFLAVOR\t", rows)
	}
	if b := r.result.Quota.Borrowing; b > 0 {
		r.Printf("It borrows from %d level(s) up.\n", b)
	}
	rows = nil
	for _, v := range r.result.Victims {
		of := preemption.QuotaVictim{ClusterQueue: "-", Priority: int64(v.Priority), Reason: "in the way"} // without a queue
		if v.Quota != nil {
			of = *v.Quota
		}
		rows = append(rows, strings.Join([]string{
			v.Namespace + "/" + v.Name, of.ClusterQueue, fmt.Sprint(of.Priority), string(of.Reason), r.reason(v.Reason),
		}, "\t"))
	}
	if len(rows) > 0 {
		r.Printf("\n")
		r.Table("VICTIM\tCLUSTER QUEUE\tPRIORITY\tGROUND\tWHY IT CANNOT STAY", rows)
		r.bound()
	}
}
