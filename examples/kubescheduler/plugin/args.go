package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preempt-go/preempt/preemption"
)

// Args are the plugin's arguments in a KubeSchedulerConfiguration. The zero value is the
// documented default.
type Args struct {
	// Options are the planner's. Rules are Kubernetes136 if empty; Candidates and
	// Sampling are the plugin's to set.
	Options preemption.Options `json:"options,omitzero"`

	// NoFallback leaves a pod pending that the planner cannot answer for, where options
	// promise what upstream does not keep, such as hard budgets. false: upstream answers.
	NoFallback bool `json:"noFallback,omitempty"`

	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute are those of
	// DefaultPreemptionArgs, for answers of upstream. nil: 10 and 100.
	MinCandidateNodesPercentage *int32 `json:"minCandidateNodesPercentage,omitempty"`
	MinCandidateNodesAbsolute   *int32 `json:"minCandidateNodesAbsolute,omitempty"`
}

// decode reads the arguments; a field that is not known is an error.
func decode(object runtime.Object) (Args, error) {
	var args Args
	var raw json.RawMessage
	if err := frameworkruntime.DecodeInto(object, &raw); err != nil {
		return args, fmt.Errorf("plugin: args of %s: %w", Name, err)
	}
	if len(raw) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&args); err != nil {
			return args, fmt.Errorf("plugin: args of %s: %w", Name, err)
		}
	}
	if args.Options.Rules == "" {
		args.Options.Rules = preemption.Kubernetes136
	}
	if args.Options.Candidates || args.Options.Sampling != nil {
		return args, fmt.Errorf("plugin: args of %s: options.candidates, options.sampling: set is not absent", Name)
	}
	if _, err := preemption.NewPlanner(nil, args.Options); err != nil {
		return args, fmt.Errorf("plugin: args of %s: options: %w", Name, err)
	}
	return args, nil
}
