package plugin

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const subsystem = "preempt_plugin"

// The outcomes of a question, as the metric has them.
const (
	outcomeNominated   = "nominated"    // the planner's answer is carried out
	outcomeInfeasible  = "infeasible"   // no evictions help
	outcomeNotEligible = "not_eligible" // the pod may not preempt, or waits for victims
	outcomeError       = "error"        // extenders or the API failed
	outcomeFallback    = "fallback"     // upstream answered
	outcomeRefused     = "refused"      // upstream was to answer, and Args.NoFallback is set
)

var (
	questions = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "questions_total", StabilityLevel: metrics.ALPHA,
		Help: "Pods that no node took, by what became of the question whom to evict.",
	}, []string{"outcome"})
	fallbacks = metrics.NewCounterVec(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "fallbacks_total", StabilityLevel: metrics.ALPHA,
		Help: "Questions that the planner did not answer, by reason.",
	}, []string{"reason"})
	syncSeconds = metrics.NewHistogram(&metrics.HistogramOpts{
		Subsystem: subsystem, Name: "sync_duration_seconds", StabilityLevel: metrics.ALPHA,
		Help:    "Time to make the planner equal to the scheduler's snapshot.",
		Buckets: metrics.ExponentialBuckets(1e-5, 2, 18),
	})
	answerSeconds = metrics.NewHistogram(&metrics.HistogramOpts{
		Subsystem: subsystem, Name: "answer_duration_seconds", StabilityLevel: metrics.ALPHA,
		Help:    "Time in which the planner answers.",
		Buckets: metrics.ExponentialBuckets(1e-5, 2, 18),
	})
	changedNodes = metrics.NewCounter(&metrics.CounterOpts{
		Subsystem: subsystem, Name: "changed_nodes_total", StabilityLevel: metrics.ALPHA,
		Help: "Nodes that had changed from one question to the next.",
	})
)

var register = sync.OnceFunc(func() {
	legacyregistry.MustRegister(questions, fallbacks, syncSeconds, answerSeconds, changedNodes)
})
