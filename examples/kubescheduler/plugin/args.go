package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preempt-go/preempt/preemption"
)

// Args are the plugin's arguments in a KubeSchedulerConfiguration. The zero value is the
// documented default.
type Args struct {
	// Options are the planner's. Rules are Kubernetes136 if empty. Those are refused that
	// read what no pod of Kubernetes says (earlier evictions, preemption priorities), that are
	// about groups or quota, and those that are the plugin's to set.
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
	if field := useless(&args.Options); field != "" {
		return args, fmt.Errorf("plugin: args of %s: options.%s: set is not absent: the plugin cannot keep it", Name, field)
	}
	if _, err := preemption.NewPlanner(nil, args.Options); err != nil {
		return args, fmt.Errorf("plugin: args of %s: options: %w", Name, err)
	}
	return args, nil
}

// useless names an option that would promise what the plugin does not keep; empty if
// there is none.
func useless(o *preemption.Options) string {
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"candidates", o.Candidates},
		{"explain", o.Explain},
		{"sampling", o.Sampling != nil},
		{"guards.cooldown", !reflect.ValueOf(o.Guards.Cooldown).IsZero()},
		{"limits.window", !reflect.ValueOf(o.Limits.Window).IsZero()},
		{"noCascade", o.NoCascade},
		{"preemptionPriority", o.PreemptionPriority != preemption.PreemptionPriority{}},
		{"brokenGroupsFree", o.BrokenGroupsFree},
		{"quota", !reflect.ValueOf(o.Quota).IsZero()},
	} {
		if field.set {
			return field.name
		}
	}
	return ""
}
