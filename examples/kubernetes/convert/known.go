package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// kindOf is the key of o in readers.
func kindOf(o *Object) groupKind {
	group, _, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group = ""
	}
	return groupKind{group: group, kind: o.Kind}
}

// versions are those that each group is read in; a kind of its own where its group
// has it in some of them.
var versions = map[groupKind][]string{
	{}:                                {"v1"},
	{group: "policy"}:                 {"v1", "v1beta1"},
	{group: scheduling}:               {"v1", "v1beta1", "v1alpha1"},
	{scheduling, "PodGroup"}:          {"v1beta1", "v1alpha3", "v1alpha2"},
	{scheduling, "CompositePodGroup"}: {"v1beta1", "v1alpha3"},
	{group: kueueGroup}:               {"v1beta2", "v1beta1", "v1alpha1"},
	{group: coscheduling}:             {"v1alpha1"},
	{group: oldCoscheduling}:          {"v1alpha1"},
	{group: volcano}:                  {"v1beta1"},
	{kai, "Queue"}:                    {"v2"},
	{kai, "PodGroup"}:                 {"v2alpha2"},
	{group: "apps"}:                   {"v1", "v1beta2", "v1beta1"},
	{group: "extensions"}:             {"v1beta1"},
	{group: jobSetGroup}:              {"v1", "v1beta1", "v1alpha2"},
	{group: leaderGroup}:              {"v1", "v1beta1"},
	{group: "batch"}:                  {"v1", "v1beta1", "v2alpha1"},
}

// versionsOf lists the API versions, as objects name them, that k is read in.
func versionsOf(k groupKind) []string {
	list, ok := versions[groupKind{group: k.group, kind: k.kind}]
	if !ok {
		list = versions[groupKind{group: k.group}]
	}
	list = slices.Clone(list)
	for i := range list {
		if k.group != "" {
			list[i] = k.group + "/" + list[i]
		}
	}
	return list
}

// homes lists the API versions of every group that has a kind of this name which
// plays a part; none if there is no such group.
func homes(kind string) []string {
	var groups []string
	for k := range readers {
		if k.kind == kind {
			groups = append(groups, k.group)
		}
	}
	slices.Sort(groups)
	var list []string
	for _, group := range groups {
		list = append(list, versionsOf(groupKind{group: group, kind: kind})...)
	}
	return list
}

// idle are the groups of Kubernetes and of Kueue, and the kinds of groups with
// others, that play no part.
var idle = func() map[groupKind]bool {
	set := map[groupKind]bool{}
	for _, group := range []string{
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
		"autoscaling", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io",
		"internal.apiserver.k8s.io", "metrics.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io",
		"storage.k8s.io", "storagemigration.k8s.io",
	} {
		set[groupKind{group: group}] = true
	}
	for group, kinds := range map[string]string{
		"":           "Binding ComponentStatus ConfigMap Endpoints Event LimitRange PersistentVolume PodTemplate ResourceQuota Secret Service ServiceAccount",
		"apps":       "ControllerRevision",
		"extensions": "Ingress NetworkPolicy PodSecurityPolicy",
		"policy":     "PodSecurityPolicy",
		scheduling:   "Workload",
		kueueGroup:   "AdmissionCheck MultiKueueCluster MultiKueueConfig ProvisioningRequestConfig Topology WorkloadPriorityClass",
	} {
		for _, kind := range strings.Fields(kinds) {
			set[groupKind{group: group, kind: kind}] = true
		}
	}
	return set
}()

// warnVersion warns of an object of a kind that plays a part whose group or version
// is not known. read says that it is read all the same, by its group.
func (b *builder) warnVersion(o *Object, known []string, read bool) {
	what := "it is left out"
	if read {
		what = "it is read as if it were"
	}
	b.warn(&Error{
		Origin: o.Origin, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
		Field: "apiVersion", Value: quote(o.APIVersion), Want: either(known), Err: errors.New(what),
	})
}

// either joins words: "a, b or c".
func either(words []string) string {
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return words[0]
}

// kindAndGroup is how an ignored kind is counted: "Service", "Ingress.networking.k8s.io".
func kindAndGroup(o *Object) string {
	if group, _, ok := strings.Cut(o.APIVersion, "/"); ok {
		return o.Kind + "." + group
	}
	return o.Kind
}

// warnOfKinds warns of the kinds that are not known.
func (b *builder) warnOfKinds() {
	for _, key := range sortedKeys(b.unknown) {
		what := "it is left out"
		if n := b.dump.Ignored[key]; n > 1 {
			what = fmt.Sprintf("it is left out, as are %d more of this kind", n-1)
		}
		o := b.unknown[key]
		b.warn(&Error{
			Origin: o.Origin, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			Field: "kind", Value: quote(key), Want: "a kind that is known", Err: errors.New(what),
		})
	}
}

// warn notes what may be a mistake, and is one where that is asked for.
func (b *builder) warn(err *Error) {
	if b.strict {
		b.bad.add(err)
		return
	}
	b.warnings.add(err)
}
