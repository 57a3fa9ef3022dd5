package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/preempt-go/preempt/disruption"
	"github.com/preempt-go/preempt/internal/names"
)

// AffinityTerm says that a pod must, or must not, share a topology value with
// pods that it selects. A pod is selected if Selector matches its labels and its
// namespace is one of Namespaces or has labels that NamespaceSelector matches.
type AffinityTerm struct {
	Selector          *disruption.Selector `json:"selector,omitempty"`          // nil selects no pod
	Namespaces        []string             `json:"namespaces,omitempty"`        // both empty and nil selector: the pod's own
	NamespaceSelector *disruption.Selector `json:"namespaceSelector,omitempty"` // empty: every namespace
	TopologyKey       string               `json:"topologyKey"`
	MatchLabelKeys    []string             `json:"matchLabelKeys,omitempty"`    // labels that selected pods have with the pod's own value
	MismatchLabelKeys []string             `json:"mismatchLabelKeys,omitempty"` // labels that selected pods have not with the pod's own value
}

// Equal reports whether t and u are written alike.
func (t AffinityTerm) Equal(u AffinityTerm) bool {
	return t.TopologyKey == u.TopologyKey &&
		t.Selector.Equal(u.Selector) && slices.Equal(t.Namespaces, u.Namespaces) && t.NamespaceSelector.Equal(u.NamespaceSelector) &&
		slices.Equal(t.MatchLabelKeys, u.MatchLabelKeys) && slices.Equal(t.MismatchLabelKeys, u.MismatchLabelKeys)
}

// TiedAlike reports whether p and q have the same namespace, labels and affinity terms: no term tells them apart, of
// theirs or of others.
func (p *Pod) TiedAlike(q *Pod) bool {
	return p.Namespace == q.Namespace && maps.Equal(p.Labels, q.Labels) &&
		slices.EqualFunc(p.Affinity, q.Affinity, AffinityTerm.Equal) && slices.EqualFunc(p.AntiAffinity, q.AntiAffinity, AffinityTerm.Equal)
}

// NodePolicy says whether nodes that a pod cannot use for another reason count
// in topology spread.
type NodePolicy string

// The node policies of topology spread.
const (
	Honor  NodePolicy = "Honor"
	Ignore NodePolicy = "Ignore"
)

// Spread is a required topology spread constraint (DoNotSchedule).
type Spread struct {
	MaxSkew            int32                `json:"maxSkew"` // at least 1
	TopologyKey        string               `json:"topologyKey"`
	Selector           *disruption.Selector `json:"selector,omitempty"`           // nil selects no pod
	MinDomains         int32                `json:"minDomains,omitempty"`         // 0: 1
	NodeAffinityPolicy NodePolicy           `json:"nodeAffinityPolicy,omitempty"` // empty: Honor
	NodeTaintsPolicy   NodePolicy           `json:"nodeTaintsPolicy,omitempty"`   // empty: Ignore
	MatchLabelKeys     []string             `json:"matchLabelKeys,omitempty"`     // labels that selected pods have with the pod's own value
}

// DeviceRequest asks for whole devices or a fraction of one: either Count or
// Fraction is set.
type DeviceRequest struct {
	Resource string `json:"resource"`           // key of Node.Devices
	Count    int32  `json:"count,omitempty"`    // whole devices, at most 1,024
	Fraction int64  `json:"fraction,omitempty"` // of one device, in the unit of its capacity

	// Assigned lists the devices that a running pod holds, from 0. Empty: nobody
	// knows, and it is taken to sit as well as it can; see [Devices]. It says
	// nothing on a pending pod.
	Assigned []int32 `json:"assigned,omitempty"`
}

// AsksAs reports whether r asks for the same as o, whatever they hold.
func (r DeviceRequest) AsksAs(o DeviceRequest) bool {
	return r.Resource == o.Resource && r.Count == o.Count && r.Fraction == o.Fraction
}

// Bounds on devices that keep every sum of them in an int64.
const (
	maxDevices  = 1024    // of one pool
	maxCapacity = 1 << 40 // of one device
)

// validateConstraints checks what a pod says about other pods, tokens and devices.
func validateConstraints(o object, p *Pod) {
	for _, list := range [...]struct {
		field string
		terms int
	}{{"Affinity", len(p.Affinity)}, {"AntiAffinity", len(p.AntiAffinity)}, {"Spread", len(p.Spread)}} {
		if list.terms > mostTerms {
			o.bad(list.field, number(list.terms)+" terms", "at most "+number(mostTerms))
			return
		}
	}
	for i := range p.Affinity {
		validateAffinityTerm(o, place{list: "Affinity", i: i}, &p.Affinity[i], p)
	}
	for i := range p.AntiAffinity {
		validateAffinityTerm(o, place{list: "AntiAffinity", i: i}, &p.AntiAffinity[i], p)
	}
	for i := range p.Spread {
		validateSpread(o, place{list: "Spread", i: i}, &p.Spread[i], p)
	}
	if len(p.Tokens) > mostTokens {
		o.bad("Tokens", number(len(p.Tokens)), "at most "+number(mostTokens))
		return
	}
	for i, token := range p.Tokens {
		if token == "" {
			o.bad(fmt.Sprintf("Tokens[%d]", i), quote(""), "a name")
		}
	}
	for i := range p.Devices {
		validateDeviceRequest(o, place{list: "Devices", i: i}, &p.Devices[i])
	}
}

func validateAffinityTerm(o object, field place, t *AffinityTerm, owner *Pod) {
	validateTopologyKey(o, field, t.TopologyKey)
	validateSelector(o, field.at(".Selector"), t.Selector)
	validateSelector(o, field.at(".NamespaceSelector"), t.NamespaceSelector)
	o.text(field.at(".Namespaces"), t.Namespaces...)
	for i, ns := range t.Namespaces {
		if ns == "" && owner.Namespace != "" {
			o.bad(field.dot(fmt.Sprintf(".Namespaces[%d]", i)), quote(""), "a name")
		}
	}
	validateLabelKeys(o, field.at(".MatchLabelKeys"), t.MatchLabelKeys, t.Selector, owner)
	validateLabelKeys(o, field.at(".MismatchLabelKeys"), t.MismatchLabelKeys, t.Selector, owner)
	for i, key := range t.MismatchLabelKeys {
		if slices.Contains(t.MatchLabelKeys, key) {
			o.bad(field.dot(fmt.Sprintf(".MismatchLabelKeys[%d]", i)), quote(key), "absent from MatchLabelKeys")
		}
	}
}

func validateSpread(o object, field place, s *Spread, owner *Pod) {
	validateTopologyKey(o, field, s.TopologyKey)
	validateSelector(o, field.at(".Selector"), s.Selector)
	if s.MaxSkew < 1 {
		o.bad(field.dot(".MaxSkew"), number(s.MaxSkew), ">= 1")
	}
	if s.MinDomains < 0 {
		o.bad(field.dot(".MinDomains"), number(s.MinDomains), ">= 0")
	}
	validateNodePolicy(o, field.at(".NodeAffinityPolicy"), s.NodeAffinityPolicy)
	validateNodePolicy(o, field.at(".NodeTaintsPolicy"), s.NodeTaintsPolicy)
	validateLabelKeys(o, field.at(".MatchLabelKeys"), s.MatchLabelKeys, s.Selector, owner)
}

func validateTopologyKey(o object, field place, key string) {
	if !names.LabelKey(key) {
		o.bad(field.dot(".TopologyKey"), quote(key), names.WantLabelKey)
	}
}

func validateSelector(o object, at place, s *disruption.Selector) {
	if s.Valid() {
		return
	}
	_, err := s.Compile()
	field := at.String()
	errs := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		errs = joined.Unwrap()
	}
	for _, err := range errs {
		var se *disruption.SelectorError
		if errors.As(err, &se) {
			o.wrap(err, field+"."+se.Field, se.Value, se.Want)
			continue
		}
		o.wrap(err, field, err.Error(), "a label selector")
	}
}

// validateLabelKeys checks keys whose values are read from the pod itself. They
// need a selector to be added to, which can hold label values only: the API server
// refuses a pod with another one.
func validateLabelKeys(o object, field place, keys []string, s *disruption.Selector, owner *Pod) {
	if len(keys) > 0 && s == nil {
		o.bad(field.String(), "set", "absent, as there is no selector")
	}
	for i, key := range keys {
		if !names.LabelKey(key) {
			o.bad(field.dot(fmt.Sprintf("[%d]", i)), quote(key), names.WantLabelKey)
		}
		if value := owner.Labels[key]; !names.LabelValue(value) {
			o.bad("Labels["+key+"]", quote(value), names.WantLabelValue+", as "+field.dot(fmt.Sprintf("[%d]", i))+" reads it")
		}
	}
}

func validateNodePolicy(o object, field place, policy NodePolicy) {
	switch policy {
	case "", Honor, Ignore:
	default:
		o.bad(field.String(), quote(string(policy)), "Honor, Ignore or empty")
	}
}

func validateDeviceRequest(o object, field place, r *DeviceRequest) {
	if r.Resource == "" {
		o.bad(field.dot(".Resource"), quote(""), "a resource name")
	}
	switch {
	case r.Count < 0:
		o.bad(field.dot(".Count"), number(r.Count), ">= 0")
	case r.Count > maxDevices:
		o.bad(field.dot(".Count"), number(r.Count), fmt.Sprintf("<= %d", maxDevices))
	case r.Fraction < 0:
		o.bad(field.dot(".Fraction"), number(r.Fraction), ">= 0")
	case r.Count == 0 && r.Fraction == 0:
		o.bad(field.dot(".Count"), number(r.Count), ">= 1, or else Fraction must be")
	case r.Count > 0 && r.Fraction > 0:
		o.bad(field.dot(".Fraction"), number(r.Fraction), "0, as Count asks for whole devices")
	case len(r.Assigned) > 0 && len(r.Assigned) != int(max(r.Count, 1)):
		o.bad(field.dot(".Assigned"), number(len(r.Assigned)), fmt.Sprintf("as many as it asks for, %d", max(r.Count, 1)))
		return
	}
	for i, device := range r.Assigned {
		if device < 0 {
			o.bad(field.dot(fmt.Sprintf(".Assigned[%d]", i)), number(device), ">= 0")
		} else if slices.Contains(r.Assigned[:i], device) {
			o.bad(field.dot(fmt.Sprintf(".Assigned[%d]", i)), number(device), "listed once")
		}
	}
}

// validatePools checks the device pools of a node.
func validatePools(o object, pools map[string]DevicePool) {
	for name, pool := range pools {
		field := "Devices[" + name + "]"
		if name == "" {
			o.bad("Devices", quote(""), "a resource name")
		}
		if pool.Count < 0 || pool.Count > maxDevices {
			o.bad(field+".Count", number(pool.Count), fmt.Sprintf("from 0 to %d", maxDevices))
		}
		if pool.Capacity < 1 || pool.Capacity > maxCapacity {
			o.bad(field+".Capacity", number(pool.Capacity), fmt.Sprintf("from 1 to %d", int64(maxCapacity)))
		}
	}
}
