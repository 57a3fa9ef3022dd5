package convert

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// claimUse is a pod of the snapshot that uses a volume claim.
type claimUse struct {
	pod   int // position in the snapshot
	claim string
}

// addClaim notes a claim that one pod at a time may use. What else a claim says, and
// where its volume is, is not read.
func (b *builder) addClaim(o *Object) error {
	var claim corev1.PersistentVolumeClaim
	if err := decode(o, &claim); err != nil {
		return err
	}
	if Exclusive(&claim) {
		b.exclusive[joinName(namespaceOf(&claim.ObjectMeta), claim.Name)] = true
	}
	return nil
}

// Exclusive reports whether one pod at a time may use claim: pods that do hold its
// [Token].
//
// Source: kube-scheduler v1.36, volume restrictions, access mode ReadWriteOncePod.
func Exclusive(claim *corev1.PersistentVolumeClaim) bool {
	return slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)
}

// Token is what a pod holds, in [cluster.Pod].Tokens, that uses an exclusive claim,
// given as namespace/name.
func Token(claim string) string { return "claim " + claim }

// Claims lists the volume claims of pod as namespace/name: those it names, and those
// that are made for it. The same one may be there twice.
func Claims(pod *corev1.Pod) (list []string) {
	namespace := namespaceOf(&pod.ObjectMeta)
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			list = append(list, joinName(namespace, v.PersistentVolumeClaim.ClaimName))
		case v.Ephemeral != nil:
			list = append(list, joinName(namespace, pod.Name+"-"+v.Name))
		}
	}
	return list
}

// resolveClaims turns the claims that one pod at a time may use into tokens.
func (b *builder) resolveClaims() {
	for _, use := range b.claims {
		if b.exclusive[use.claim] {
			p := &b.dump.Snapshot.Pods[use.pod]
			if token := Token(use.claim); !slices.Contains(p.Tokens, token) {
				p.Tokens = append(p.Tokens, token)
			}
		}
	}
}
