package live

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/parked"
	"github.com/preempt-go/preempt/preemption/internal/workload"
	"github.com/preempt-go/preempt/victims"
)

// Cluster is a cluster ready for questions under some settings. It is safe for
// concurrent use; changes, if it follows them, need exclusive use of it.
type Cluster struct {
	Settings *Settings
	Ask      ask.Settings // which questions may have changed
	Traits   ask.Traits   // of the settings, and of what the units do not tell
	Index    *cluster.Index

	Follows bool               // it can follow changes: a planner holds it
	Use     sync.RWMutex       // of one that does: held for reading by questions, for writing by the change that is made
	Hard    []bool             // by budget; nil: none is hard
	unknown []string           // hard budgets that are not there
	Limits  []ask.Bound        // with the room that is left
	Spent   cluster.Disruption // of what limits bound for one preemption, by the earlier steps of this one

	pods   Sides // what a lone pod meets
	groups Sides // what a group meets; the same where the rules are the same
	Quota  *workload.Model
	Queued workload.Queued // the pods that hold of it

	Probe bool // the answer does not tell what would help

	moved []cluster.NodeID // buffer of changes
	Notes *parked.Changes  // of what changes, for questions that are parked; nil: there are none

	Tools      *sync.Pool // of *onepod.Tools, for the units, columns and budgets as they are
	CountTools *sync.Pool // of the buffers for counting, likewise
}

// New checks objects and compiles them for questions under o. quota may be nil
// if it could not be compiled.
func New(o *Settings, objects cluster.Objects, quota *workload.Model) (*Cluster, error) {
	ix, err := objects.Index()
	if err != nil {
		return nil, err
	}
	var wrong error
	if o.MaxLead > 0 {
		wrong = ix.CheckLead(o.MaxLead)
	}
	if o.NoBasicAll {
		wrong = errors.Join(wrong, refuseBasicAlls(ix))
	}
	if wrong != nil {
		return nil, wrong
	}
	c := &Cluster{Settings: o, Ask: o.Ask, Index: ix, Quota: quota, Tools: &sync.Pool{}, CountTools: &sync.Pool{}}
	c.SetSpent(cluster.Disruption{})
	c.Traits = c.Ask.Traits()
	c.Hard, c.unknown = o.Hard.in(ix)
	if o.Strict && quota != nil {
		quota.Mu.RLock()
		ws := slices.Concat(c.Index.Warnings(), c.odd(), quota.Warnings())
		quota.Mu.RUnlock()
		if err := AsErrors(ws); err != nil {
			return nil, err
		}
	}
	if quota != nil {
		c.Queued.Find(ix)
	}
	return c, nil
}

// Prepare makes c ready for many questions, and for changes as far as it can follow
// them. Without it units are formed for the kind of preemptor that is asked about. The user's
// order and prices may panic.
func (c *Cluster) Prepare() {
	c.Follows = true
	c.PodUnits()
	c.look()
}

// look notes what questions read of the cluster as a whole.
func (c *Cluster) look() {
	c.Queued.Find(c.Index)
	c.Traits &^= ask.TraitQueued | ask.TraitWaits
	c.Traits.Set(ask.TraitQueued, c.Index.AnyQueued())
	c.Traits.Set(ask.TraitWaits, c.Ask.WaitSeconds > 0 || c.Index.Classes().AnyWaits())
}

// mostWarnings is how many warnings about a cluster an answer lists.
const mostWarnings = 1_000

// Few copies lists of warnings, one after the other: the first 1,000, and how many others there are.
func Few(lists ...[]cluster.Warning) (ws []cluster.Warning) {
	more := 0
	for _, list := range lists {
		n := min(len(list), mostWarnings-len(ws))
		ws = append(ws, list[:n]...)
		more += len(list) - n
	}
	if more > 0 {
		ws = append(ws, cluster.Warning{
			Kind: cluster.KindSnapshot, Field: "Warnings", Value: strconv.Itoa(mostWarnings + more), Text: strconv.Itoa(more) + " more are not listed",
		})
	}
	return ws
}

// Warnings lists what is odd in the cluster, and in the settings beside it, as Few does.
func (c *Cluster) Warnings() []cluster.Warning { return Few(c.Index.Warnings(), c.odd()) }

// odd lists what is odd beside what the index warns of.
func (c *Cluster) odd() []cluster.Warning {
	ws := c.Index.OddDisruptions()
	for _, name := range c.unknown {
		namespace, rest, _ := strings.Cut(name, "/")
		ws = append(ws, cluster.Warning{
			Kind: cluster.KindBudget, Namespace: namespace, Name: rest, Field: "HardBudgets",
			Value: name, Text: "no such budget: nothing is bounded by it",
		})
	}
	return ws
}

// Pod returns the pod of that name, nil if there is none.
func (c *Cluster) Pod(namespace, name string) *cluster.Pod {
	if p := c.Index.PodByName(namespace, name); p != cluster.NoPod {
		return c.Index.Pod(p)
	}
	return nil
}

// refuseBasicAlls complains about groups of mode All that are no gangs.
func refuseBasicAlls(ix *cluster.Index) error {
	var errs []error
	for i := range ix.NumGroups() {
		if err := RefuseBasicAll(ix.Group(cluster.GroupID(i))); err != nil {
			errs = append(errs, err)
		}
	}
	return problems.Join(errs)
}

// RefuseBasicAll complains if g is of mode All and no gang: KEP-5710's validation forbids it.
func RefuseBasicAll(g *cluster.Group) error {
	if !basicAll(g) {
		return nil
	}
	return &cluster.FieldError{
		Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
		Field: "Mode", Value: string(g.Mode), Want: "Single: the group is basic",
	}
}

// AsErrors turns warnings into errors, as Settings.Strict asks.
func AsErrors(ws []cluster.Warning) error {
	var errs []error
	for _, w := range ws {
		errs = append(errs, &cluster.FieldError{
			Kind: string(w.Kind), Namespace: w.Namespace, Name: w.Name,
			Field: w.Field, Value: w.Value, Want: "accepted under Strict (" + w.Text + ")",
		})
	}
	return problems.Join(errs)
}

// Settings are what options say of a cluster and of questions about it. They never change.
type Settings struct {
	Pods, Groups Rule         // what a lone pod, and what a group meets
	Ask          ask.Settings // what is said to the searches

	// OfPod and OfGang are the constraints of every question of a lone pod or of a gang: the
	// built-in ones, then the user's.
	OfPod, OfGang []domain.Constraint

	Worth    victims.Worth    // beyond what the rules look at
	Guards   victims.Guards   // who may not go
	Eligible victims.Eligible // of preemptors without a queue
	Hard     HardBudgets
	Limits   Limits

	NoBasicAll bool  // mode All on a basic group is an error
	MaxLead    int32 // how far a preemption priority may lie above the priority; 0: no bound
	Strict     bool  // warnings are errors

	// Unranked is what Ask.Ranking is where nobody looks for the least disruption.
	Unranked victims.Ranking

	// Uncounted names the criteria that are asked for, and are 0 of what a workload evicts.
	Uncounted []string

	// Unheeded names the options that are set and do not bound what a workload evicts.
	Unheeded []string
}

// Rule is how units are formed and budgets charged for one kind of preemptor.
type Rule struct {
	Units   victims.UnitRule
	Budgets disruption.Rule
}
