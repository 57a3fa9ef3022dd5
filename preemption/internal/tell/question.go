package tell

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/internal/problems"
	"github.com/preempt-go/preempt/internal/ranges"
	"github.com/preempt-go/preempt/internal/seating"
	"github.com/preempt-go/preempt/internal/words"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/preemption/internal/ask"
	"github.com/preempt-go/preempt/preemption/internal/gang"
	"github.com/preempt-go/preempt/preemption/internal/live"
	"github.com/preempt-go/preempt/preemption/internal/onepod"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Inquiry is a question of the searches, with what it takes to read and to tell it.
type Inquiry struct {
	*ask.Question
	Cluster *live.Cluster
	caller  Caller
	sides   *live.Sides
	asked   answer.Asked
	needs   int // further pods that have to run beside a lone pod for its gang to

	one struct { // room for what is a list, where a lone pod asks
		question ask.Question
		compared ask.Compared
		members  [1]*domain.Member
		pods     [1]*cluster.Pod
	}
	budgetNames []string                           // by budget, once it was needed
	large       map[victims.UnitID]answer.Victim   // pods and budgets of units of many pods, once they were told
	listed      int                                // see mostListed
	kept        map[victims.UnitID]answer.KeptUnit // units of several pods, once they were told
}

// untold are the traits that ask for more than a plan.
const untold = ask.TraitCandidates | ask.TraitTrace

// blank is a question that nobody asks yet.
func blank(c *live.Cluster, a Caller) *Inquiry {
	q := &Inquiry{Cluster: c, caller: a}
	q.one.question = ask.Question{Settings: &c.Ask, Index: c.Index, Hard: c.Hard, Limits: c.Limits, Traits: c.Traits, Poll: a.Poll, Constraints: c.Settings.OfPod, Compared: &q.one.compared}
	q.Question = &q.one.question
	if a.Plan {
		settings := c.Ask
		settings.Candidates, settings.Trace, settings.Proof = false, false, false
		q.Settings, q.Traits = &settings, q.Traits&^untold
	}
	return q
}

// of lets the preemptor meet the units of s.
func (q *Inquiry) of(s *live.Sides) {
	q.sides, q.Units, q.Budgets, q.Columns, q.Protections = s, s.Units, s.Budgets, s.Columns, s.Protections
}

// SearchPod returns the search for a lone pod, which is to be closed.
func (q *Inquiry) SearchPod() *podAnswer {
	return &podAnswer{Inquiry: q, Search: onepod.New(q.Question, q.Cluster.Tools, &q.sides.Shapes)}
}

// SearchGang returns the search for a gang by trials.
func (q *Inquiry) SearchGang() *gangAnswer {
	return &gangAnswer{Inquiry: q, Search: gang.New(q.Question)}
}

// CountGang returns the search that counts members where it can, which is to be closed.
func (q *Inquiry) CountGang() *gangAnswer {
	return &gangAnswer{Inquiry: q, Search: gang.NewCounting(q.Question, q.Cluster.CountTools)}
}

// Read finds the preemptor, settles its priority and prepares the
// constraints.
func Read(c *live.Cluster, p cluster.Preemptor, a Caller) (*Inquiry, error) {
	q, err := ReadBriefly(c, p, a)
	if err == nil {
		q.asked = withInline(q.asked, p)
	}
	return q, err
}

// ReadBriefly is Read for an answer that does not tell who asked: what was given
// inline is not copied.
func ReadBriefly(c *live.Cluster, p cluster.Preemptor, a Caller) (*Inquiry, error) {
	return newBriefAs(c, p, a, nil)
}

// newBriefAs is ReadBriefly of a preemptor that is as change makes it; nil: as it is.
func newBriefAs(c *live.Cluster, p cluster.Preemptor, a Caller, change func(q *Inquiry)) (*Inquiry, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	q := blank(c, a)
	q.asked = AskedBy(&p)
	if err := q.checkInline(&p); err != nil {
		return nil, err
	}
	var err error
	switch {
	case p.Group != nil:
		err = q.inlineGroup(p)
	case p.Name == "":
		err = q.lonePod(&p.Pods[0], cluster.NoPod)
	case p.Kind == cluster.KindPod:
		err = q.namedPod(p)
	default:
		err = q.namedGroup(p)
	}
	if err != nil {
		return nil, err
	}
	if err := q.give(p.Placement); err != nil {
		return nil, err
	}
	if q.Tree == nil && len(q.Given) > 0 { // one pod: it may go nowhere else
		pod := *q.Members[0].Pod
		pod.RequiredNode = q.Index.Node(q.Given[0].Node).Name
		q.Members[0] = q.NewMember(&pod, q.Members[0].ID)
	}
	if q.Tree == nil {
		q.needs = q.neededBeside(q.Members[0].Pod)
	}
	if q.Cluster.Settings.Strict {
		if err := live.AsErrors(q.odd(&p)); err != nil {
			return nil, err
		}
	}
	if change != nil {
		change(q)
	}
	err = q.prepare()
	told(q.caller.Prepared)
	return q, err
}

// neededBeside is how many further pods have to run, beside pod and those that do, before its
// group has its minCount, and the groups above it have theirs.
func (q *Inquiry) neededBeside(pod *cluster.Pod) int {
	g := cluster.NoGroup
	if pod.Group != "" && !q.OneByOne {
		g = q.Index.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group)
	}
	if g == cluster.NoGroup {
		return 0
	}
	needs := max(q.missingOf(g)-1, 0)
	if !q.Composites {
		return needs
	}
	for own, at := g, q.Index.Group(g).Parent; at != cluster.NoGroup; own, at = at, q.Index.Group(at).Parent {
		needs += q.missingBeside(at, own)
	}
	return needs
}

// missingOf is how many further pods have to run before group g does.
func (q *Inquiry) missingOf(g cluster.GroupID) int {
	group := q.Index.Group(g)
	if group.PodGroup == nil {
		return q.missingBeside(g, cluster.NoGroup)
	}
	missing := 1
	if m := group.PodGroup.MinCount; m != nil {
		missing = int(*m)
	}
	for i := 0; missing > 0 && i < len(group.Pods); i++ {
		if q.Index.Runs(group.Pods[i]) {
			missing--
		}
	}
	return max(missing, 0)
}

// missingBeside is how many further pods have to run beside group own, which is one beneath
// composite group g, before g runs: those of the groups that need the fewest.
func (q *Inquiry) missingBeside(g, own cluster.GroupID) (sum int) {
	group := q.Index.Group(g)
	least := len(group.Children)
	if m := group.Composite.MinGroupCount; m != nil {
		least = min(least, int(*m))
	}
	var others []int
	for _, child := range group.Children {
		if child == own {
			least--
		} else {
			others = append(others, q.missingOf(child))
		}
	}
	slices.Sort(others)
	for _, missing := range others[:max(least, 0)] {
		sum += missing
	}
	return sum
}

// odd warns of preemptor p: what it holds inline, and a lone pod that is of no use without others.
func (q *Inquiry) odd(p *cluster.Preemptor) []cluster.Warning {
	ws := q.Index.OddInline(p)
	if q.needs == 0 {
		return ws
	}
	pod := q.Members[0].Pod
	whom := "the group"
	if g := q.Index.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group); q.Composites && q.Index.Group(g).Parent != cluster.NoGroup {
		root := q.Index.Group(q.Index.Root(g))
		whom = "composite group " + words.Key(root.Namespace, root.Name)
	}
	return append(ws, cluster.Warning{
		Kind: cluster.KindPod, Namespace: pod.Namespace, Name: pod.Name, Field: "Group", Value: pod.Group,
		Text: "the group needs " + words.Count(q.needs, "more pod") + " to run beside it: ask for " + whom,
	})
}

// oddAsked is odd of who has asked.
func (q *Inquiry) oddAsked() []cluster.Warning {
	if q.asked.Inline == nil {
		return q.odd(&cluster.Preemptor{})
	}
	return q.odd(q.asked.Inline)
}

func (q *Inquiry) namedPod(p cluster.Preemptor) error {
	id := q.Index.PodByName(p.Namespace, p.Name)
	if id == cluster.NoPod {
		return Unknown(p, "a pod of the snapshot")
	}
	pod := q.Index.Pod(id)
	if pod.Node != "" {
		return problems.Pod(pod, "Node", words.Quoted(pod.Node), "empty: the preemptor runs already", nil)
	}
	return q.lonePod(pod, id)
}

func (q *Inquiry) lonePod(pod *cluster.Pod, id cluster.PodID) error {
	q.of(q.Cluster.PodUnits())
	e, err := q.resolve(pod)
	q.Members = append(q.one.members[:0], q.NewMember(pod, id))
	q.Priority, q.Policy = e.Priority, e.Policy
	if q.MembersWait && pod.Group != "" &&
		q.Index.GroupByName(cluster.KindPodGroup, pod.Namespace, pod.Group) == cluster.NoGroup {
		err = errors.Join(err, problems.Pod(pod, "Group", words.Quoted(pod.Group), "a pod group of the snapshot", nil))
	}
	return err
}

// resolve settles what is in force for a pod of the preemptor.
func (q *Inquiry) resolve(pod *cluster.Pod) (priority.Effective, error) {
	e, err := q.Index.Classes().Resolve(priority.Spec{Class: pod.Class, Priority: pod.Priority, Policy: pod.Policy})
	if err != nil {
		return e, problems.Pod(pod, "Class", words.Quoted(pod.Class), "a priority class of the snapshot", err)
	}
	return e, nil
}

func (q *Inquiry) namedGroup(p cluster.Preemptor) error {
	q.of(q.Cluster.GroupUnits())
	g := q.Index.GroupByName(p.Kind, p.Namespace, p.Name)
	if g == cluster.NoGroup {
		return Unknown(p, "a "+string(p.Kind)+" of the snapshot")
	}
	q.Group = q.Index.Group(g)
	q.Priority, q.Policy = q.Group.Priority, q.Group.Policy
	class := q.checkClass(q.Group)
	members := domain.NewMembers(q.Index, len(q.Group.Pods), q.Filter)
	q.Tree = seating.NewGroup(q.Index, g, func(p cluster.PodID) domain.MemberID {
		q.Members = append(q.Members, members.Add(q.Index.Pod(p), p))
		return domain.MemberID(len(q.Members) - 1)
	})
	if len(q.Members) == 0 {
		return errors.Join(class, Unknown(p, "a group with a pending pod"))
	}
	q.Tree.AskForMore()
	return errors.Join(class, q.checkMembers())
}

// checkMembers complains about every member whose class is not in the snapshot.
func (q *Inquiry) checkMembers() error {
	var errs []error
	for _, m := range q.Members {
		if _, err := q.resolve(m.Pod); err != nil {
			errs = append(errs, err)
		}
	}
	return problems.Join(errs)
}

// checkClass complains if the group's class is not in the snapshot.
func (q *Inquiry) checkClass(g *cluster.Group) error {
	class := ""
	if g.PodGroup != nil {
		class = g.PodGroup.Class
	} else {
		class = g.Composite.Class
	}
	if _, err := q.Index.Classes().Resolve(priority.Spec{Class: class}); err != nil {
		return &cluster.FieldError{
			Kind: string(g.Kind), Namespace: g.Namespace, Name: g.Name,
			Field: "Class", Value: words.Quoted(class), Want: "a priority class of the snapshot", Err: err,
		}
	}
	return nil
}

// give reads a placement that the caller gives.
func (q *Inquiry) give(placement map[string]string) error {
	if placement == nil {
		return nil
	}
	q.Given = []domain.Assignment{}
	var errs []error
	left := maps.Clone(placement)
	for i, m := range q.Members {
		name := words.Key(m.Pod.Namespace, m.Pod.Name)
		node, ok := placement[name]
		if !ok {
			continue
		}
		delete(left, name)
		n := q.Index.NodeByName(node)
		if n == cluster.NoNode {
			errs = append(errs, problems.Pod(m.Pod, "Placement", words.Quoted(node), "a node of the snapshot", nil))
			continue
		}
		q.Given = append(q.Given, domain.Assignment{Member: domain.MemberID(i), Node: n})
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		errs = append(errs, &cluster.FieldError{
			Kind: "Preemptor", Namespace: q.asked.Namespace, Name: q.asked.Name, Field: "Placement", Value: words.Quoted(name),
			Want: "a pending pod of the preemptor, as namespace/name",
		})
	}
	return problems.Join(errs)
}

// Unknown is the error of a preemptor that is not what is wanted.
func Unknown(p cluster.Preemptor, want string) error {
	return &cluster.FieldError{
		Kind: "Preemptor", Namespace: p.Namespace, Name: p.Name,
		Field: "Name", Value: words.Quoted(p.Name), Want: want,
	}
}

// checkInline refuses what a cluster under these options could not have: an answer about it
// could not be applied.
func (q *Inquiry) checkInline(p *cluster.Preemptor) error {
	if err := q.inlineRuns(p.Pods); err != nil {
		return err
	}
	if g := p.Group; g != nil && q.Cluster.Settings.NoBasicAll {
		if err := live.RefuseBasicAll(&cluster.Group{Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name, Mode: g.Mode, PodGroup: g}); err != nil {
			return err
		}
	}
	return q.Index.CheckInline(p)
}

// inlineRuns refuses pods given inline whose name a running pod has: an answer
// could not tell the two apart. A pending pod of the name is what Apply adds.
func (q *Inquiry) inlineRuns(pods []cluster.Pod) error {
	for i := range pods {
		pod := &pods[i]
		if p := q.Index.PodByName(pod.Namespace, pod.Name); p != cluster.NoPod && q.Index.Pod(p).Node != "" {
			return &cluster.FieldError{
				Kind: string(cluster.KindPod), Namespace: pod.Namespace, Name: pod.Name,
				Field: "Name", Value: words.Quoted(pod.Name), Want: "a name that no running pod has",
			}
		}
	}
	return nil
}

// inlineOrder is placingOrder for pods that the snapshot does not have.
func (q *Inquiry) inlineOrder(pods []cluster.Pod) []*cluster.Pod {
	list := make([]*cluster.Pod, len(pods))
	for i := range pods {
		list[i] = &pods[i]
	}
	priorityOf := func(p *cluster.Pod) int32 {
		e, _ := q.Effective(p)
		return e.Priority
	}
	slices.SortStableFunc(list, func(a, b *cluster.Pod) int {
		return cmp.Or(
			cmp.Compare(priorityOf(b), priorityOf(a)),
			cmp.Compare(cluster.Nanos(a.Created), cluster.Nanos(b.Created)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// inlineGroup takes a group and its pods from p. Pods of the snapshot that run and
// name the same group count as running.
func (q *Inquiry) inlineGroup(p cluster.Preemptor) error {
	q.of(q.Cluster.GroupUnits())
	g := p.Group
	group := &cluster.Group{
		Kind: cluster.KindPodGroup, Namespace: g.Namespace, Name: g.Name, UID: g.UID,
		Mode: g.Mode, PodGroup: g, Parent: cluster.NoGroup,
	}
	if err := q.checkClass(group); err != nil {
		return err
	}
	group.Parent = q.Index.GroupByName(cluster.KindCompositePodGroup, g.Namespace, g.Parent)
	spec := priority.Spec{Class: g.Class, Priority: g.Priority, Policy: g.Policy}
	if g.Class == "" && g.Priority == nil {
		spec.Priority = new(int32) // the global default is for pods
	}
	e, _ := q.Index.Classes().Resolve(spec)
	group.Priority, group.Policy = e.Priority, e.Policy
	q.Group, q.Priority, q.Policy = group, e.Priority, e.Policy
	q.Tree = &seating.Group{ID: cluster.NoGroup, Name: words.Key(g.Namespace, g.Name), Min: 1, Topology: g.Topology}
	if g.MinCount != nil {
		q.Tree.Min = int(*g.MinCount)
	}
	if id := q.Index.GroupByName(cluster.KindPodGroup, g.Namespace, g.Name); id != cluster.NoGroup {
		q.Tree.ID = id
		for _, pod := range q.Index.Group(id).Pods {
			if q.Index.Pod(pod).Node != "" {
				q.Tree.Running++
			}
		}
	}
	members := domain.NewMembers(q.Index, len(p.Pods), q.Filter)
	for _, pod := range q.inlineOrder(p.Pods) {
		q.Tree.Members = append(q.Tree.Members, domain.MemberID(len(q.Members)))
		q.Members = append(q.Members, members.Add(pod, cluster.NoPod))
	}
	if err := q.checkMembers(); err != nil {
		return err
	}
	if len(q.Members) == 0 {
		return Unknown(p, "a group with a pending pod")
	}
	q.Tree.AskForMore()
	return nil
}

// prepare settles what eligibility reads, and asks every constraint whether it has a say.
func (q *Inquiry) prepare() error {
	q.GoOn()
	q.SettleClaim()
	pods := q.one.pods[:0]
	for _, m := range q.Members {
		pods = append(pods, m.Pod)
	}
	list := q.Cluster.Settings.OfPod
	if q.Tree != nil {
		list = q.Cluster.Settings.OfGang
	}
	if onepod.Shares(q.Question) && !q.Hooks && runtime.GOMAXPROCS(0) > 1 && relates(pods) {
		return q.prepareAtOnce(list, pods)
	}
	var shown []*cluster.Pod
	for _, c := range list {
		if _, declares := c.(domain.Concerned); declares {
			if shown == nil {
				for _, p := range pods {
					shown = append(shown, domain.FilterView(p))
				}
			}
			if !domain.Concerns(c, shown) {
				continue
			}
		}
		s, err := c.Prepare(q.Index, pods)
		if err := q.prepared(c, s, err); err != nil {
			return err
		}
	}
	return nil
}

// relates reports whether a pod is likely to keep several constraints busy.
func relates(pods []*cluster.Pod) bool {
	for _, p := range pods {
		if len(p.Spread) > 0 && len(p.Affinity)+len(p.AntiAffinity) > 0 {
			return true
		}
	}
	return false
}

// prepareAtOnce asks each constraint in a goroutine. They are the library's own.
func (q *Inquiry) prepareAtOnce(list []domain.Constraint, pods []*cluster.Pod) error {
	states, errs := make([]domain.State, len(list)), make([]error, len(list))
	ranges.Each(len(list), len(list), func(i, _, _ int) { states[i], errs[i] = list[i].Prepare(q.Index, pods) })
	for i, c := range list {
		if err := q.prepared(c, states[i], errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// prepared takes what constraint c says.
func (q *Inquiry) prepared(c domain.Constraint, s domain.State, err error) error {
	if err != nil {
		return fmt.Errorf("preemption: constraint %q: %w", c.Name(), err)
	}
	if s != nil {
		q.States = append(q.States, s)
	}
	return nil
}
