package command

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/cluster"
)

// output runs the command and returns what it wrote and its exit status.
func output(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String(), status
}

// With no arguments, the command answers for a sample cluster.
func Example() {
	run(nil, strings.NewReader(""), os.Stdout, os.Stderr)
	// Output:
	// There is no input (-f FILE, or a pipe): this is the answer for a sample.
	//
	// pod web/checkout-3 fits on node-b once 1 pod is evicted.
	// It asks for cpu 1500m, memory 2Gi at priority 1000.
	//
	// VICTIM                NODE    PRIORITY  AGE  WHY IT CANNOT STAY     BUDGETS
	// reports/report-adhoc  node-b  10        29m  cpu is short by 1500m  -
	//
	// OTHER NODE  VICTIMS                 VIOLATIONS  WHY IT IS NOT CHOSEN
	// node-d      ml/train-0, ml/train-1  0           its victims' priorities add up to more
	// node-e      ml/train-0, ml/train-1  0           its victims' priorities add up to more
	// node-a      web/shop-2              1           violations: 1, not 0
	//
	// NODES  WHY PREEMPTION DOES NOT HELP THERE
	// 1      taint
}

// A gang that does not exist yet takes what is least important in the whole cluster.
func Example_gang() {
	run([]string{"-cpu", "3", "-count", "3", "-priority", "600", "-name", "render"}, strings.NewReader(""), os.Stdout, os.Stderr)
	// Output:
	// There is no input (-f FILE, or a pipe): this is the answer for a sample.
	//
	// made-up gang default/render of 3: all 3 pods of default/render fit in the cluster once pod group ml/train (2 pods) and 2 pods are evicted.
	// Each pod of it asks for cpu 3 at priority 600.
	//
	// MEMBER            GOES TO
	// default/render-0  node-b
	// default/render-1  node-d
	// default/render-2  node-e
	//
	// VICTIM                         NODE    PRIORITY  AGE    WHY IT CANNOT STAY     BUDGETS
	// PodGroup ml/train, all 2 pods          10               cpu is short by 3      -
	//   ml/train-0                   node-d  10        15h
	//   ml/train-1                   node-e  10        15h
	// reports/report-daily           node-b  10        6h59m  cpu is short by 1500m  -
	// reports/report-adhoc           node-b  10        29m    cpu is short by 1500m  -
}

// What would have to change is part of the answer that nothing helps.
func Example_infeasible() {
	run([]string{"-cpu", "5", "-memory", "1Gi", "-priority", "1000"}, strings.NewReader(""), os.Stdout, os.Stderr)
	// Output:
	// There is no input (-f FILE, or a pipe): this is the answer for a sample.
	//
	// made-up pod default/preemptor does not fit: no evictions help.
	// It asks for cpu 5, memory 1Gi at priority 1000.
	// 8 running pods are below its priority.
	//
	// NODES  WHY PREEMPTION DOES NOT HELP THERE
	// 4      not enough cpu
	// 1      taint
	//
	// The least that would have to change, on node-a:
	//   - cpu: 1 more
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"a file without -f":             {[]string{"dump.json"}, `"dump.json" is no flag; files go after -f`},
		"unknown rules":                 {[]string{"-rules", "v1.35"}, `-rules: "v1.35" is not v1.36, v1.37 or kep-5710-alpha`},
		"an unknown format":             {[]string{"-o", "xml"}, `-o: "xml" is not table, json, yaml or markdown`},
		"a time that is none":           {[]string{"-now", "today"}, `-now: "today" is not a time`},
		"an amount that is none":        {[]string{"-cpu", "two"}, `-cpu: "two" is not an amount`},
		"an amount beyond 64 bits":      {[]string{"-cpu", "9223372036854775807Ei"}, `-cpu: "9223372036854775807Ei" is not at most 9223372036854775807 thousandths`},
		"an endless amount":             {[]string{"-memory", "1e99999999"}, `-memory: "1e99999999" is not an amount whose exponent has at most 3 digits`},
		"a request without amount":      {[]string{"-request", "cpu"}, `-request: "cpu" is not NAME=AMOUNT`},
		"a request of an empty amount":  {[]string{"-request", "cpu="}, `-request: "cpu=" is not NAME=AMOUNT`},
		"a priority that is none":       {[]string{"-priority", "high"}, `not an integer of 32 bits`},
		"a priority beyond 32 bits":     {[]string{"-priority", "3000000000"}, `not an integer of 32 bits`},
		"labels that are none":          {[]string{"-labels", "a"}, `-labels: "a" is not KEY=VALUE`},
		"two priorities":                {[]string{"-priority", "1", "-priority-class", "x"}, `one of them says how important`},
		"a made-up pod and a named one": {[]string{"-cpu", "1", "-preemptor", "pod/a/b"}, `-cpu describes a made-up pod and does not go with -preemptor`},
		"no pods":                       {[]string{"-count", "0"}, `-count: 0 is not a number from 1 to 100000`},
		"a place without node":          {[]string{"-place", "a"}, `-place: "a" is not POD=NODE`},
		"two places of one pod":         {[]string{"-place", "a=n1", "-place", "default/a=n2"}, `pod default/a has two places`},
		"a batch and a format":          {[]string{"-batch", "x", "-o", "json"}, `the answers have a form of their own`},
		"an unknown flag":               {[]string{"-verbose"}, `flag provided but not defined: -verbose`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := output("", tt.args...)
			require.Equal(t, 2, status)
			require.Empty(t, stdout)
			require.Contains(t, stderr, tt.want)
		})
	}
	stdout, stderr, status := output("", "-h")
	require.Equal(t, 0, status)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "whatif -batch FILE")
	require.Contains(t, stderr, "-preemptor KIND/NAMESPACE/NAME")
}

const twoPending = `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x}, spec: {priority: 5, schedulingGroup: {podGroupName: g}, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: x}, spec: {priority: 5, schedulingGroup: {podGroupName: g}, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: x}, spec: {nodeName: n1, priority: 1, containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}
`

const group = `---
{apiVersion: scheduling.k8s.io/v1alpha2, kind: PodGroup, metadata: {name: g, namespace: x}, spec: {priority: 5, schedulingPolicy: {gang: {minCount: 2}}}}
`

func TestWhoIsMeant(t *testing.T) {
	tests := map[string]struct {
		stdin  string
		args   []string
		want   string // on standard output with status 0, on standard error with 1
		status int
	}{
		"there is nothing in the file":       {"", []string{"-f", "-", "-cpu", "1"}, "-: there is nothing in it", 1},
		"nobody is pending":                  {"{apiVersion: v1, kind: Node, metadata: {name: n1}}", []string{"-f", "-"}, "no pod of the input is pending; make one up with -cpu", 1},
		"two are":                            {twoPending, []string{"-f", "-"}, "2 pods are pending; choose one:\n  -preemptor pod/x/a\n  -preemptor pod/x/b\n", 1},
		"all of one group are":               {twoPending + group, []string{"-f", "-"}, "podgroup x/g: all 2 pods of x/g fit in the cluster once 1 pod is evicted.", 0},
		"one is named":                       {twoPending, []string{"-f", "-", "-preemptor", "pod/x/b", "-rules", "v1.36"}, "pod x/b fits on n1 without preemption.", 0},
		"the kind in capitals":               {twoPending, []string{"-f", "-", "-preemptor", "Pod/x/b", "-rules", "v1.36"}, "pod x/b fits", 0},
		"a group is named":                   {twoPending + group, []string{"-f", "-", "-preemptor", "podgroup/x/g"}, "podgroup x/g: all 2 pods", 0},
		"a group is given its places":        {twoPending + group, []string{"-f", "-", "-place", "x/a=n1", "-place", "x/b=n1"}, "podgroup x/g: all 2 pods", 0},
		"a place on no node":                 {twoPending + group, []string{"-f", "-", "-place", "x/a=n7"}, `Placement: "n7" is not a node of the snapshot`, 1},
		"a pod that is not there":            {twoPending, []string{"-f", "-", "-preemptor", "pod/x/c"}, "there is no pod x/c in the input; 2 pods are pending", 1},
		"a pod that runs":                    {twoPending, []string{"-f", "-", "-preemptor", "pod/x/old"}, `-, document 4: cluster: Pod "x/old": Node: "n1" is not empty: the preemptor runs already`, 1},
		"a kind that is none":                {twoPending, []string{"-f", "-", "-preemptor", "gadget/x/c"}, `flag -preemptor: "gadget" is not a kind that can want to run: pod, podgroup, compositepodgroup or workload; or, for its next pod, daemonset, deployment`, 2},
		"a workload that is not there":       {twoPending, []string{"-f", "-", "-preemptor", "deployment/x/c"}, "there is no deployment x/c in the input", 1},
		"a group that is not there":          {twoPending, []string{"-f", "-", "-preemptor", "podgroup/x/nope"}, "x/nope", 1},
		"half a name":                        {twoPending, []string{"-f", "-", "-preemptor", "b"}, `"b" is not KIND/NAMESPACE/NAME`, 2},
		"an empty name":                      {twoPending, []string{"-f", "-", "-preemptor", "pod//b"}, `"pod//b" is not KIND/NAMESPACE/NAME`, 2},
		"-node alone":                        {twoPending, []string{"-f", "-", "-node", "n1"}, "-node: pins the pod of a workload or a made-up one", 2},
		"-node with a pod of the input":      {twoPending, []string{"-f", "-", "-node", "n1", "-preemptor", "pod/x/a"}, "-node: pins the pod of a workload or a made-up one, not a pod of the input", 2},
		"made up":                            {twoPending, []string{"-f", "-", "-cpu", "2", "-priority", "9"}, "made-up pod default/preemptor fits on n1 once 1 pod is evicted.", 0},
		"made up in full":                    {twoPending, []string{"-f", "-", "-gpu", "1", "-request", "example.com/x=2", "-name", "p", "-namespace", "q", "-labels", "a=b,c=d"}, "made-up pod q/p does not fit", 0},
		"made up of an unknown class":        {twoPending, []string{"-f", "-", "-cpu", "1", "-priority-class", "gold"}, `"gold"`, 1},
		"made up, pinned":                    {twoPending, []string{"-f", "-", "-cpu", "1", "-node", "n1"}, "fits on n1", 0},
		"made up, pinned to no node":         {twoPending, []string{"-f", "-", "-cpu", "1", "-node", "n9"}, "-node: there is no node n9 in the input", 1},
		"piped in":                           {twoPending, []string{"-cpu", "2", "-priority", "9"}, "made-up pod default/preemptor fits on n1 once 1 pod is evicted.", 0},
		"no object":                          {`{"kind":"List","items":[]}`, []string{"-cpu", "1"}, "the input has no Kubernetes object", 1},
		"no object that plays a part":        {"{apiVersion: v1, kind: Service, metadata: {name: s}}", []string{"-cpu", "1"}, "the input has no object of a kind that plays a part: 1 Service", 1},
		"a dump that is cut off":             {`{"apiVersion":"v1","kind":"List","items":[`, []string{"-cpu", "1"}, "-, document 1: the input is cut off", 1},
		"a folder":                           {"", []string{"-f", "."}, ".: read .: is a directory", 1},
		"a file that is not there":           {"", []string{"-f", "/nowhere/dump.json"}, "no such file", 1},
		"an object that cannot be read":      {"{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: 7}", []string{"-f", "-"}, `-, document 1: Node "n1": spec: 7 is not readable`, 1},
		"the same, leniently":                {"{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: 7}", []string{"-f", "-", "-lenient", "-cpu", "1"}, "1 objects could not be read and were left out", 0},
		"a document that is none, leniently": {"a: b: c\n" + "---" + twoPending, []string{"-f", "-", "-lenient", "-cpu", "1"}, "1 objects could not be read and were left out", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, status := output(tt.stdin, tt.args...)
			require.Equal(t, tt.status, status, "%s", stderr)
			if status == 0 {
				require.Contains(t, stdout, tt.want)
			} else {
				require.Empty(t, stdout)
				require.Contains(t, stderr, tt.want)
			}
		})
	}
}

const workload = `---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {spec: {priorityClassName: system-node-critical, containers: [{name: m, resources: {limits: {cpu: 1500m}}}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: x}, spec: {template: {spec: {containers: [{name: m, resources: {requests: {cpu: "1"}}}]}}}}
`

func TestTheNextPodOfAWorkload(t *testing.T) {
	stdout, _, status := output(twoPending+workload, "-f", "-", "-preemptor", "daemonset/agent", "-node", "n1")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "the next pod of daemonset default/agent fits on n1 once 1 pod is evicted.")

	_, stderr, status := output(twoPending+workload, "-f", "-", "-preemptor", "daemonset/agent")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "a DaemonSet has a pod for each node; say which with -node")

	stdout, _, status = output(twoPending+workload, "-f", "-", "-preemptor", "deployment/x/web")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "the next pod of deployment x/web fits on n1 without preemption.")

	_, stderr, status = output(workload, "-f", "-")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, "or ask for the next pod of a workload:\n  -preemptor daemonset/default/agent\n  -preemptor deployment/x/web\n")
}

// -check tells by the exit status whether the preemptor gets a place; the answer
// stays what it is.
func TestCheck(t *testing.T) {
	tests := map[string]struct {
		args   []string
		status int
	}{
		"it fits":              {[]string{"-cpu", "1"}, 0},
		"it fits after others": {[]string{"-cpu", "2", "-priority", "9"}, 0},
		"nothing helps":        {[]string{"-cpu", "3", "-priority", "9"}, 3},
		"it may not preempt":   {[]string{"-preemptor", "deployment/x/meek"}, 3},
	}
	dump := twoPending + `---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: meek, namespace: x}, spec: {template: {spec: {priority: 9, preemptionPolicy: Never, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}}}}
`
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"table", "json"} {
				want, _, status := output(dump, append(tt.args, "-o", format)...)
				require.Equal(t, 0, status)
				got, stderr, status := output(dump, append(tt.args, "-o", format, "-check")...)
				require.Equal(t, tt.status, status)
				require.Equal(t, want, got)
				require.Empty(t, stderr)
			}
		})
	}
	_, stderr, status := output("", "-batch", "-", "-check")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, "-batch: the answers have a form of their own")
}

// Each exit status is told in the usage and in the README.
func TestStatusesAreDocumented(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, usage, _ := output("", "-h")
	for name, text := range map[string]string{"README": string(readme), "usage": usage} {
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"exit status is 0", ", 1 if ", ", 2 for wrong usage", ", 3 if "} {
			require.Contains(t, text, want, name)
		}
	}
}

// A reader that has seen enough, such as head, is no error.
func TestBrokenPipe(t *testing.T) {
	for name, ask := range map[string]struct {
		stdin string
		args  []string
	}{"an answer": {twoPending, []string{"-cpu", "1"}}, "a batch": {small("x"), []string{"-batch", "-"}}} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer w.Close()
			require.NoError(t, r.Close())
			var errs bytes.Buffer
			require.Equal(t, 0, run(ask.args, strings.NewReader(ask.stdin), w, &errs))
			require.Empty(t, errs.String())
		})
	}
}

// The README shows what the command prints.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	stdout, _, status := output("")
	require.Equal(t, 0, status)
	require.Contains(t, string(readme), "```text\n"+stdout+"```\n")
	stdout, _, status = output("", "-drain", "node-b")
	require.Equal(t, 0, status)
	_, stdout, _ = strings.Cut(stdout, "\n\n") // the note about the sample
	require.Contains(t, string(readme), "```text\n"+stdout+"```\n")
}

func TestJSON(t *testing.T) {
	stdout, _, status := output("", "-o", "json")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, `"status": "preempt"`)
	require.Contains(t, stdout, `"chosen": "node-b"`)
	require.Contains(t, stdout, `"verdict": "feasible"`)
	again, _, _ := output("", "-o", "json")
	require.Equal(t, stdout, again)
}

func TestWhyNot(t *testing.T) {
	stdout, _, status := output("", "-why-not", "node-a", "-why-not", "web/cache", "-why-not", "node-b")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "Why not node-a: ")
	require.Contains(t, stdout, "Why not web/cache: ")
	require.Contains(t, stdout, "Why not node-b: ")

	stdout, _, status = output("", "-why-not", "node-c", "-o", "json")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, `"target": "node-c"`)
	require.Contains(t, stdout, "dedicated=database:NoSchedule")

	_, stderr, status := output("", "-why-not", "node-z")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `-why-not: cluster: Target "node-z"`)
}

func TestExplain(t *testing.T) {
	stdout, _, status := output("", "-explain")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "How it was decided:\n")
	require.Contains(t, stdout, "reprieve reports/report-adhoc no")

	stdout, _, status = output(twoPending, "-explain", "-cpu", "1", "-priority", "9")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "fits on n1 without preemption")
	require.NotContains(t, stdout, "How it was decided")
	require.Contains(t, stdout, "It was decided without looking at any victim.\n")
}

// Where nobody's start is known, the score says so.
func TestExplainUnknownStart(t *testing.T) {
	stdout, _, status := output(twoPending, "-explain", "-cpu", "2", "-priority", "9")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, "earliest start unknown\n")
	stdout, _, status = output("", "-explain")
	require.Equal(t, 0, status)
	require.Regexp(t, `earliest start 20\d\d-\d\d-\d\dT`, stdout)
}

// What is piped in is asked about; the sample only where there is no input at all,
// and the first line says so.
func TestSampleOnlyWithoutInput(t *testing.T) {
	first := func(text string) string { line, _, _ := strings.Cut(text, "\n"); return line }
	piped, _, status := output(twoPending, "-cpu", "2", "-priority", "9")
	require.Equal(t, 0, status)
	named, _, _ := output(twoPending, "-f", "-", "-cpu", "2", "-priority", "9")
	require.Equal(t, named, piped)

	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	for name, stdin := range map[string]io.Reader{"nothing piped in": strings.NewReader(""), "a device": null} {
		var out, errs bytes.Buffer
		require.Equal(t, 0, run([]string{"-cpu", "2", "-priority", "9"}, stdin, &out, &errs), name)
		require.Equal(t, sampleNote, first(out.String()), name)
	}
	stdout, _, _ := output("", "-o", "json")
	require.Contains(t, stdout, `"notes": [
    "There is no input`)

	file := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(file, []byte(twoPending), 0o600))
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	var out, errs bytes.Buffer
	require.Equal(t, 0, run([]string{"-cpu", "2", "-priority", "9"}, in, &out, &errs))
	require.Equal(t, named, out.String())
}

const leftOut = twoPending + `---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: x}}
---
{apiVersion: policies/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: x}, spec: {selector: {}}}
---
{apiVersion: scheduling.example.com/v1alpha1, kind: PodGroup, metadata: {name: g, namespace: x}}
---
{apiVersion: v1, kind: Sevrice, metadata: {name: t, namespace: x}}
`

// Objects that are left out are named where they may be meant to count, and counted
// otherwise: in the table, in JSON, in batches; -strict refuses the former.
func TestWhatIsLeftOutIsSaid(t *testing.T) {
	notes := []string{
		`PodDisruptionBudget "x/b": apiVersion: "policies/v1" is not policy/v1 or policy/v1beta1: it is left out`,
		`PodGroup "x/g": apiVersion: "scheduling.example.com/v1alpha1" is not scheduling.k8s.io/v1beta1, scheduling.k8s.io/v1alpha3, scheduling.k8s.io/v1alpha2, scheduling.run.ai/v2alpha2, scheduling.sigs.k8s.io/v1alpha1, scheduling.volcano.sh/v1beta1 or scheduling.x-k8s.io/v1alpha1: it is left out`,
		`Sevrice "x/t": kind: "Sevrice" is not a kind that is known: it is left out`,
	}
	const counted = "objects of other kinds are left out: 1 PodDisruptionBudget.policies, 1 PodGroup.scheduling.example.com, 1 Service, 1 Sevrice"
	stdout, _, status := output(leftOut, "-cpu", "2", "-priority", "9")
	require.Equal(t, 0, status)
	var answer Answer
	inJSON, _, status := output(leftOut, "-cpu", "2", "-priority", "9", "-o", "json")
	require.Equal(t, 0, status)
	require.NoError(t, json.Unmarshal([]byte(inJSON), &answer))
	_, stderr, status := output(leftOut, "-cpu", "2", "-priority", "9", "-strict")
	require.Equal(t, 1, status)
	require.NotContains(t, stderr, "Service")
	for i, note := range notes {
		require.Contains(t, stdout, note)
		require.Contains(t, answer.Notes[i], note)
		require.Contains(t, stderr, note)
	}
	require.Contains(t, stdout, "  - "+counted+"\n")
	require.Equal(t, counted, answer.Notes[3])

	line := `{"name":"a","objects":[` + `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"pods":"1"}}},` +
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}},{"apiVersion":"apps/v9","kind":"Deployment","metadata":{"name":"d"}}],"preemptor":{"kind":"Pod","name":"p"}}`
	stdout, _, status = output(line, "-batch", "-")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, `"error":"","notes":["item 3: Deployment \"d\": apiVersion: \"apps/v9\" is not apps/v1, apps/v1beta2 or apps/v1beta1: it is read as if it were"]`)
	stdout, _, _ = output(line, "-batch", "-", "-strict")
	require.Contains(t, stdout, `"error":"line 1: objects: item 3: Deployment`)
}

// With -verify the answer says that it was read once more, and only then.
func TestVerify(t *testing.T) {
	stdout, stderr, status := output("", "-verify")
	require.Equal(t, 0, status, stderr)
	require.Contains(t, stdout, "\nVerified: nothing is wrong with this answer.\n")
	stdout, _, status = output("", "-verify", "-o", "json")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, `"problems": []`)
	stdout, _, _ = output("", "-o", "json")
	require.NotContains(t, stdout, `"problems"`)

	line := `{"name":"a","objects":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"pods":"1"}}},` +
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}],"preemptor":{"kind":"Pod","name":"p"}}`
	stdout, _, status = output(line, "-batch", "-", "-verify")
	require.Equal(t, 0, status)
	require.Contains(t, stdout, `"problems":[]`)
}

// What is not true of an answer is told wherever the answer is, and is an error.
func TestProblemsOfAnAnswer(t *testing.T) {
	c := &config{verify: true}
	wrong := &preemption.Result{Verdict: preemption.Fits, Domain: "no-such-node"}
	problems := c.problems(preemption.Options{}, preemption.Preemptor{Pods: []cluster.Pod{{Namespace: "x", Name: "p"}}}, &preemption.Snapshot{}, wrong)
	require.NotEmpty(t, problems)
	require.EqualError(t, untrue(problems[:1]), "-verify: 1 of what is told is not true")
	r := &report{problems: problems}
	r.verified()
	require.Contains(t, string(r.Bytes()), "Not true of this answer:\n  - "+problems[0]+"\n")
	require.Nil(t, (&config{}).problems(preemption.Options{}, preemption.Preemptor{}, &preemption.Snapshot{}, nil))
}

// A line that has not changed is not written again.
func TestProgressSaysThingsOnce(t *testing.T) {
	var out strings.Builder
	said := ""
	for _, text := range []string{"a", "a", "b", "b", "a"} {
		said = say(&out, said, text)
	}
	require.Equal(t, "whatif: a\nwhatif: b\nwhatif: a\n", out.String())
}

// A label value that no selector can hold is an error of its line, not a panic.
func TestLabelValueThatIsNone(t *testing.T) {
	dump := `
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", pods: "10"}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: v, namespace: d, labels: {h: not a label value}}, spec: {nodeName: n1, affinity: {podAntiAffinity: {
  requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}, matchLabelKeys: [h]}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: d}, spec: {priority: 9}}
`
	stdout, stderr, status := output(dump)
	require.Equal(t, 1, status)
	require.Empty(t, stdout)
	require.Contains(t, stderr, `-, document 2: cluster: Pod "d/v": `)
	require.Contains(t, stderr, "not a label value")
}

// A file may be read together with others, gzipped or not, and the order of files
// changes nothing.
func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i, text := range strings.Split(twoPending, "---\n") {
		name := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		names = append(names, name)
	}
	args := func(order ...int) (args []string) {
		for _, i := range order {
			args = append(args, "-f", names[i])
		}
		return append(args, "-cpu", "2", "-priority", "9", "-o", "json")
	}
	want, _, status := output("", args(0, 1, 2, 3)...)
	require.Equal(t, 0, status)
	got, _, status := output("", args(3, 2, 1, 0)...)
	require.Equal(t, 0, status)
	require.Equal(t, want, got)

	_, stderr, status := output("", "-f", names[0], "-f", names[0], "-cpu", "1")
	require.Equal(t, 1, status)
	require.Contains(t, stderr, `Node "n1": metadata.name: "n1" is not unique: it stands in `+names[0]+", document 1 too")
}

// What gzip packs may unpack to so much, and whoever reads that it is too much learns how to have more.
func TestUnpackedTooMuch(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(append(bytes.Repeat([]byte{' '}, 1<<20), twoPending...))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, stderr, status := output(packed.String(), "-unpacked", "1")
	require.Equal(t, statusUnreadable, status)
	require.Equal(t, "whatif: -: gzip: it unpacks to more than may be: 1048576 bytes\nwhatif: -unpacked MIB lets it unpack to more\n", stderr)
	_, stderr, status = output(packed.String(), "-unpacked", "2", "-preemptor", "pod/d/v")
	require.NotContains(t, stderr, "unpack", status)
}

// Pod groups and queues of other schedulers are asked about like any, and what of them is not read is said.
func TestOtherSchedulers(t *testing.T) {
	for name, want := range map[string][]string{
		"coscheduling": {"default/nginx-a", "default/nginx-b"},
		"volcano":      {"lab/sweep-worker-0", "lab/sweep-worker-1", "lab/sweep-worker-2"},
		"kai":          {"cv/resnet-0", "cv/resnet-1", "cv/resnet-2"},
	} {
		stdout, stderr, status := output("", "-f", "../../convert/testdata/others/"+name+".yaml", "-verify", "-o", "json")
		require.Equal(t, statusAnswered, status, stderr)
		var a Answer
		require.NoError(t, json.Unmarshal([]byte(stdout), &a))
		require.Equal(t, want, a.Victims, name)
		require.Contains(t, a.Notes[0], " is not read (set in ")
		require.Empty(t, a.Problems)
	}
}

// A broken reader is an error, not a short input; a folder is complained of in one line.
func TestBrokenInput(t *testing.T) {
	_, stderr, status := output("", "-f", ".")
	require.Equal(t, 1, status)
	require.Equal(t, "whatif: .: read .: is a directory\n", stderr)

	broken := io.MultiReader(strings.NewReader(`{"apiVersion":"v1","kind":"Node",`), brokenReader{})
	var out, errs bytes.Buffer
	require.Equal(t, 1, run([]string{"-f", "-"}, broken, &out, &errs))
	require.Contains(t, errs.String(), "the line is dead")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("the line is dead") }

// -search finds fewer victims where there are, and says that it is proved.
func TestSearch(t *testing.T) {
	pod := func(name string, cpu, day int) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"a"},"spec":{"nodeName":"n1","priority":1,`+
			`"containers":[{"name":"c","resources":{"requests":{"cpu":"%d"}}}]},"status":{"phase":"Running","startTime":"2026-01-0%dT00:00:00Z"}}`, name, cpu, day)
	}
	dump := `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"9"}}},` +
		pod("old", 2, 1) + "," + pod("young1", 1, 2) + "," + pod("young2", 1, 2) + "]}"
	stdout, stderr, status := output(dump, "-f", "-", "-cpu", "2", "-priority", "100", "-search", "greedy")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "once 2 pods are evicted")
	require.NotContains(t, stdout, "proved")
	stdout, stderr, status = output(dump, "-f", "-", "-cpu", "2", "-priority", "100", "-search", "exact")
	require.Zero(t, status, stderr)
	require.Contains(t, stdout, "once 1 pod is evicted")
	require.Contains(t, stdout, "No evictions disrupt less, on any node: that is proved.")
	_, stderr, status = output(dump, "-f", "-", "-cpu", "2", "-search", "best")
	require.Equal(t, 2, status)
	require.Contains(t, stderr, `invalid value "best" for flag -search: not greedy, improved or exact`)
}

// A proof that options ask for is told of, checked with -verify, and there to be read as JSON.
func TestProofsAreShown(t *testing.T) {
	options := filepath.Join(t.TempDir(), "options.json")
	require.NoError(t, os.WriteFile(options, []byte(`{"proof":true}`), 0o600))
	stdout, stderr, status := output("", "-options", options, "-verify")
	require.Equal(t, 0, status, stderr)
	require.Contains(t, stdout, "Shown in numbers, node by node (-o json): no evictions disrupt less.")
	stdout, stderr, status = output("", "-options", options, "-o", "json")
	require.Equal(t, 0, status, stderr)
	require.Contains(t, stdout, `"proof"`)
	require.Contains(t, stdout, `"steps"`)
}

// Where options let only those go who have another place, it is said where.
func TestMovesAreShown(t *testing.T) {
	options := filepath.Join(t.TempDir(), "options.json")
	require.NoError(t, os.WriteFile(options, []byte(`{"limits":{"onlyMoves":true}}`), 0o600))
	dump := `{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","pods":"9"}}},` +
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"1","pods":"9"}}},` +
		`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"small"},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Running"}}]}`
	stdout, stderr, status := output(dump, "-f", "-", "-cpu", "2", "-priority", "100", "-options", options, "-verify")
	require.Equal(t, 0, status, stderr)
	require.Regexp(t, `MOVES +TO\nshop/small +n2`, stdout)
	stdout, stderr, status = output(dump, "-f", "-", "-cpu", "2", "-priority", "100", "-options", options, "-o", "json")
	require.Equal(t, 0, status, stderr)
	require.Contains(t, stdout, `"moves"`)
}
