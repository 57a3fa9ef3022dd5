package preemption

import (
	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/domain"
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
)
