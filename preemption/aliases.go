package preemption

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
	"github.com/preempt-go/preempt/preemption/answer"
	"github.com/preempt-go/preempt/preemption/cluster"
	"github.com/preempt-go/preempt/priority"
	"github.com/preempt-go/preempt/victims"
)

// Snapshot is one moment of a cluster; see [cluster.Snapshot].
type Snapshot = cluster.Snapshot

// Preemptor names or holds the pod or group that wants to run; see [cluster.Preemptor].
type Preemptor = cluster.Preemptor

// Node is a machine that pods run on; see [cluster.Node].
type Node = cluster.Node

// Pod is a running or pending pod; see [cluster.Pod].
type Pod = cluster.Pod

// PodGroup is a set of pods scheduled together; see [cluster.PodGroup].
type PodGroup = cluster.PodGroup

// CompositePodGroup is a group of groups; see [cluster.CompositePodGroup].
type CompositePodGroup = cluster.CompositePodGroup

// TopologyConstraint keeps a group within one value of a node label; see
// [cluster.TopologyConstraint].
type TopologyConstraint = cluster.TopologyConstraint

// Kind says what an object is; see [cluster.Kind].
type Kind = cluster.Kind

// The kinds of preemptors.
const (
	KindPod               = cluster.KindPod
	KindPodGroup          = cluster.KindPodGroup
	KindCompositePodGroup = cluster.KindCompositePodGroup
	KindWorkload          = cluster.KindWorkload
)

// Resources maps resource names to amounts; see [cluster.Resources].
type Resources = cluster.Resources

// Budget is a pod disruption budget; see [disruption.Budget].
type Budget = disruption.Budget

// Guards keep units from being evicted; see [victims.Guards].
type Guards = victims.Guards

// Selector is a label selector; see [disruption.Selector].
type Selector = disruption.Selector

// PriorityClass is a named priority level; see [priority.Class].
type PriorityClass = priority.Class

// Workload is a job that holds or asks for quota; see [cluster.Workload].
type Workload = cluster.Workload

// ClusterQueue is a queue with quota; see [cluster.ClusterQueue].
type ClusterQueue = cluster.ClusterQueue

// Cohort is a group of queues that lend each other quota; see [cluster.Cohort].
type Cohort = cluster.Cohort

// LocalQueue is a namespace's way into a ClusterQueue; see [cluster.LocalQueue].
type LocalQueue = cluster.LocalQueue

// ResourceFlavor is a named kind of capacity; see [cluster.ResourceFlavor].
type ResourceFlavor = cluster.ResourceFlavor

// Admission is where a workload holds quota; see [cluster.Admission].
type Admission = cluster.Admission

// PodSet is pods of a workload that ask for the same; see [cluster.PodSet].
type PodSet = cluster.PodSet

// ResourceGroup is the quota of a queue for resources that go together; see
// [cluster.ResourceGroup].
type ResourceGroup = cluster.ResourceGroup

// FlavorQuotas is the quota of one flavor; see [cluster.FlavorQuotas].
type FlavorQuotas = cluster.FlavorQuotas

// ResourceQuota is the quota of one resource of a flavor; see [cluster.ResourceQuota].
type ResourceQuota = cluster.ResourceQuota

// QueuePreemption says whom a queue's workloads may evict; see
// [cluster.QueuePreemption].
type QueuePreemption = cluster.QueuePreemption

// QueuePolicy says which workloads those are, by priority; see [cluster.QueuePolicy].
type QueuePolicy = cluster.QueuePolicy

// The policies that differ from the default, which is to evict nobody.
const (
	LowerPriority             = cluster.LowerPriority
	LowerOrNewerEqualPriority = cluster.LowerOrNewerEqualPriority
	AnyPriority               = cluster.AnyPriority
)

// Preference says which of several nodes that are as good a pod goes to; see
// [domain.Preference].
type Preference = domain.Preference

// The preferences that differ from the default, which is the first node by name.
const (
	LeastAllocated = domain.LeastAllocated
	MostAllocated  = domain.MostAllocated
)

// DisruptionMode says how the pods of a group may go; see [disruption.Mode].
type DisruptionMode = disruption.Mode

// The disruption modes.
const (
	Single       = disruption.Single
	All          = disruption.All
	SurplusFirst = disruption.SurplusFirst
)

// CriterionName names a criterion by which disruptions are compared; see [victims.Criterion].
type CriterionName = victims.Criterion

// The criteria that Options.Objective may name.
const (
	CriterionViolations = victims.CriterionViolations // upstream's count of budget violations
	CriterionOverruns   = victims.CriterionOverruns   // how far the victims take budgets below zero, summed
	CriterionHighest    = victims.CriterionHighest    // the highest priority of a victim
	CriterionSum        = victims.CriterionSum        // of the priorities of the victims' pods, each raised by 2^31
	CriterionPods       = victims.CriterionPods       // how many pods go
	CriterionUnits      = victims.CriterionUnits      // how many units go: a group that goes as a whole is one
	CriterionCost       = victims.CriterionCost       // what they cost by Options.Cost
	CriterionStarted    = victims.CriterionStarted    // the earliest start among the victims of the highest priority: later is better
	CriterionStranded   = victims.CriterionStranded   // how many pods go that fit on no other node, each by itself as things stand
	CriterionCascade    = victims.CriterionCascade    // how many of these evict others in turn to fit on one, each by itself as things stand
	CriterionLevels     = victims.CriterionLevels     // how many pods go of the highest priority, then of the next, and so on
	CriterionGroups     = victims.CriterionGroups     // how many pod groups lose a pod
	CriterionNodes      = victims.CriterionNodes      // how many nodes are in use in the end: the fewer, the more are whole
	CriterionDevices    = victims.CriterionDevices    // how many devices are held in the end, wholly or in part
	CriterionDomains    = victims.CriterionDomains    // + "rack": how many values of that node label are in use in the end
)

// Verdict is the kind of an answer; see [answer.Verdict].
type Verdict = answer.Verdict

// The verdicts.
const (
	Feasible    = answer.Feasible    // evict Victims, then the preemptor fits at Nominations
	Fits        = answer.Fits        // at Nominations; nobody has to go
	NotEligible = answer.NotEligible // the preemptor may not preempt
	Waiting     = answer.Waiting     // victims of an earlier answer are still terminating
	Infeasible  = answer.Infeasible  // no evictions help
)

// Result is the answer to one question; see [answer.Result].
type Result = answer.Result

// Decision is the short form of a [Result]; see [answer.Decision].
type Decision = answer.Decision

// Asked names the preemptor of an answer; see [answer.Asked].
type Asked = answer.Asked

// PodRef names a pod; see [answer.PodRef].
type PodRef = answer.PodRef

// BudgetRoom is what a budget allowed when it was counted on; see [answer.BudgetRoom].
type BudgetRoom = answer.BudgetRoom

// Nomination says where a pod of the preemptor goes; see [answer.Nomination].
type Nomination = answer.Nomination

// Criterion is one number of a score; see [answer.Criterion].
type Criterion = answer.Criterion

// Rejection counts the domains that were rejected for one reason; see [answer.Rejection].
type Rejection = answer.Rejection

// Unplaced are members of a gang that find no node in Domain for the same reasons; see [answer.Unplaced].
type Unplaced = answer.Unplaced

// Candidate is a domain on which preemption helps; see [answer.Candidate].
type Candidate = answer.Candidate

// Stats tells what a search cost, and whether a no is proved; see [answer.Stats].
type Stats = answer.Stats

// KeptUnit is a unit that a guard keeps, although it is less important than the preemptor; see [answer.KeptUnit].
type KeptUnit = answer.KeptUnit

// Victim is a unit that has to go; see [answer.Victim].
type Victim = answer.Victim

// VictimPod is one pod of a victim; see [answer.VictimPod].
type VictimPod = answer.VictimPod

// Reason is why a pod does not fit, in words and numbers; see [answer.Reason].
type Reason = answer.Reason

// Nearest is a domain and what would have to change for the preemptor to get in; see [answer.Nearest].
type Nearest = answer.Nearest

// RelaxationKind says what would have to change; see [answer.RelaxationKind].
type RelaxationKind = answer.RelaxationKind

// The kinds of relaxations.
const (
	RelaxResource = answer.RelaxResource // Amount more of Name allocatable on Node
	RelaxTaint    = answer.RelaxTaint    // the taint Name (key=value:effect) gone from Node
	RelaxCordon   = answer.RelaxCordon   // Node uncordoned, which takes its taint away
	RelaxSelector = answer.RelaxSelector // nodeSelector and required node affinity dropped
	RelaxNodeName = answer.RelaxNodeName // the required node dropped
	RelaxPort     = answer.RelaxPort     // the host port Name dropped
	RelaxPriority = answer.RelaxPriority // the preemptor's priority raised to Amount
	RelaxBudget   = answer.RelaxBudget   // budget Name (namespace/name) allows Amount more
	RelaxLimit    = answer.RelaxLimit    // the limit Name raised by Amount
	RelaxMinCount = answer.RelaxMinCount // the minCount of the group lowered by Amount
)

// Relaxation is one thing that would have to change; see [answer.Relaxation].
type Relaxation = answer.Relaxation

// QuotaLack is what a preemptor that needs quota and a place cannot have; see [answer.QuotaLack].
type QuotaLack = answer.QuotaLack

// The lacks, the first that holds is named.
const (
	LackQuota     = answer.LackQuota     // not even by evictions, wherever it goes
	LackPlace     = answer.LackPlace     // not even if all less important pods went
	LackProtected = answer.LackProtected // the pods in the way are not its queue's to evict
)

// QuotaResult is the part of an answer that is about quota; see [answer.QuotaResult].
type QuotaResult = answer.QuotaResult

// FlavorChoice is the flavor that a pod set takes of a resource; see [answer.FlavorChoice].
type FlavorChoice = answer.FlavorChoice

// QuotaVictim is the part of a victim that is about quota; see [answer.QuotaVictim].
type QuotaVictim = answer.QuotaVictim

// Proof shows that no evictions have less than its bound; see [answer.Proof].
type Proof = answer.Proof

// ProofStep shows that victims have no less of a criterion; see [answer.ProofStep].
type ProofStep = answer.ProofStep

// ProofCase is a contradiction, or splits cases; see [answer.ProofCase].
type ProofCase = answer.ProofCase

// DomainTrace is what happened in one domain; see [answer.DomainTrace].
type DomainTrace = answer.DomainTrace

// Step is one decision; see [answer.Step], and [answer.ActionChoose] for what is done.
type Step = answer.Step

// Target is what WhyNot asks about; see [answer.Target].
type Target = answer.Target

// Why is the answer to WhyNot; see [answer.Why].
type Why = answer.Why

// Advice says what to do with an answer that is not carried out yet; see [answer.Advice].
type Advice = answer.Advice

// The pieces of advice.
const (
	Keep   = answer.Keep   // go on
	Replan = answer.Replan // ask again
	Cancel = answer.Cancel // evict nobody: it is not needed any more
)

// Validity is advice with its reason; see [answer.Validity].
type Validity = answer.Validity
