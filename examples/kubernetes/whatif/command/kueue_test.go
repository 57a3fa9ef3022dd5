package command

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
)

// kueueFiles are the recorded cases and how many there are at least.
var kueueFiles = map[string]int{
	"kueue-classical-single-cq":  113,
	"kueue-classical-cohort":     120,
	"kueue-borrow-within-cohort": 120,
	"kueue-hierarchical":         120,
	"kueue-fair-sharing":         120,
	"kueue-multi-flavor":         120,
}

// kueueAnswer is what is compared with the real Kueue.
type kueueAnswer struct {
	Status    string            `json:"status"`
	Flavors   map[string]string `json:"flavors"`
	Borrowing int               `json:"borrowing"`
	Victims   []string          `json:"victims"`
	Reasons   map[string]string `json:"reasons"`
	Error     string            `json:"error"`
}

// TestAnswersAsKueue asks every recorded case and compares all of the answer. No
// case is left out, and none may differ. Where an answer of Kueue rests on a known
// fault of its flavor assigner ("pods" counted by the assigner and not by the search
// for victims; a resource that fits hiding one that does not) the library does what
// the rule means; no recorded case differs for that.
func TestAnswersAsKueue(t *testing.T) {
	for name, least := range kueueFiles {
		t.Run(name, func(t *testing.T) {
			in, err := os.Open(shared(t, "cases/"+name+".jsonl.gz"))
			require.NoError(t, err)
			defer in.Close()
			c := &config{rules: preemption.Kubernetes137}
			asked := 0
			require.NoError(t, eachLine(in, 0, func(number int, line []byte) error {
				if len(line) == 0 {
					return nil
				}
				asked++
				var q struct {
					Name string      `json:"name"`
					Want kueueAnswer `json:"want"`
				}
				require.NoError(t, json.Unmarshal(line, &q))
				var out bytes.Buffer
				require.NoError(t, writeLine(&out, c.answerLine(nil, number, line)))
				var got kueueAnswer
				require.NoError(t, json.Unmarshal(out.Bytes(), &got))
				if diff := cmp.Diff(q.Want, got); diff != "" {
					t.Errorf("%s (-want +got)\n%s", q.Name, diff)
				}
				return nil
			}))
			require.GreaterOrEqual(t, asked, least)
		})
	}
}

// The same objects under the names of fields of the older API.
func TestReadsKueueV1beta1(t *testing.T) {
	const line = `{"name":"old","objects":[
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ResourceFlavor","metadata":{"name":"f"}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort","metadata":{"name":"mid"},"spec":{"parent":"root"}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"cohort":"mid",
			"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"},
			"preemption":{"reclaimWithinCohort":"Any","borrowWithinCohort":{"policy":"Never"}},
			"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"2"}]}]}]}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"greedy"},"spec":{"cohort":"root",
			"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"0"}]}]}]}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"LocalQueue","metadata":{"name":"lq","namespace":"ns"},"spec":{"clusterQueue":"q"}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"w","namespace":"ns"},"spec":{"queueName":"lq",
			"podSets":[{"name":"main","count":2,"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"600m"}}}]}}}]}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"done","namespace":"ns"},"spec":{"podSets":[{"name":"main","count":1}]},
			"status":{"admission":{"clusterQueue":"greedy","podSetAssignments":[{"name":"main","flavors":{"cpu":"f"},"resourceUsage":{"cpu":"9"}}]},
				"conditions":[{"type":"Finished","status":"True"}]}},
		{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Workload","metadata":{"name":"big","namespace":"ns"},"spec":{"priority":7,"podSets":[{"name":"main","count":1}]},
			"status":{"admission":{"clusterQueue":"greedy","podSetAssignments":[{"name":"main","flavors":{"cpu":"f"},"resourceUsage":{"cpu":"1500m"}}]}}}
		],"preemptor":{"kind":"Workload","namespace":"ns","name":"w"}}`
	c := &config{rules: preemption.Kubernetes137}
	a := c.answerLine(nil, 1, []byte(line))
	require.Empty(t, a.Error)
	require.Equal(t, "preempt", a.Status)
	require.Equal(t, []string{"ns/big"}, a.Victims)
	require.Equal(t, map[string]string{"ns/big": "InCohortReclamation"}, a.Reasons)
	require.Equal(t, map[string]string{"main/cpu": "f"}, a.Flavors)
}

func TestBadKueueObjectsAreNamed(t *testing.T) {
	for _, c := range []struct{ object, want string }{
		{`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"fairSharing":{"weight":"-1"}}}`,
			`ClusterQueue "q": spec.fairSharing.weight`},
		{`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"preemption":{"borrowWithinCohort":{"policy":"Often"}}}}`,
			`ClusterQueue "q": spec.preemption.borrowWithinCohort.policy: "Often" is not Never or LowerPriority`},
		{`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w"},"spec":{"podSets":[{"name":"a"}]},"status":{"admission":{"podSetAssignments":[{"name":"b"}]}}}`,
			`Workload "default/w": status.admission.podSetAssignments[0].name: "b" is not a pod set of the workload`},
		{`{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"co"},"spec":{"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":"-2"}]}]}]}}`,
			`Cohort "co": spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: -2 is not at least 0`},
	} {
		cfg := &config{rules: preemption.Kubernetes137}
		a := cfg.answerLine(nil, 1, []byte(`{"name":"bad","objects":[`+c.object+`],"preemptor":{"kind":"Workload","name":"w"}}`))
		require.Contains(t, a.Error, c.want)
	}
}
