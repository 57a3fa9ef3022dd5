package convert_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preempt-go/preempt/examples/kubernetes/convert"
	"github.com/preempt-go/preempt/examples/kubernetes/internal/bigdump"
)

// loadDiffers says where a loader that reads in blocks of so many bytes differs from
// Read and Dump.
func loadDiffers(o convert.Options, size int, text string) string {
	objects, wantRead := convert.Read("f", strings.NewReader(text))
	want, wantErr := o.Dump(objects)
	l := o.Loader().SetBlock(size)
	gotRead := l.Read("f", strings.NewReader(text))
	got, gotErr := l.Dump()
	same := cmp.Options{cmpopts.IgnoreUnexported(convert.Dump{}), cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })}
	if diff := cmp.Diff(unquoted(wantRead), unquoted(gotRead)); diff != "" {
		return "complaints of reading (-want +got):\n" + diff
	}
	if errors.Is(gotRead, convert.ErrInput) != errors.Is(wantRead, convert.ErrInput) {
		return "an error of another kind"
	}
	if diff := cmp.Diff(fmt.Sprint(wantErr), fmt.Sprint(gotErr)); diff != "" {
		return "complaints of the dump (-want +got):\n" + diff
	}
	return cmp.Diff(want, got, same)
}

// document is how a complaint quotes a document without a kind, which for a large one
// is without blanks and items.
var document = regexp.MustCompile(`(?s) kind: .*? is not a Kubernetes object`)

func unquoted(err error) string { return document.ReplaceAllString(fmt.Sprint(err), "") }

// blocks are sizes of blocks: everything at once, and next to nothing.
var blocks = []int{1 << 12, 16}

// A loader reads what Read and Dump read, and complains about what they complain about,
// wherever the input is cut.
func TestLoadCutAnywhere(t *testing.T) {
	for name, text := range dumps(t) {
		t.Run(name, func(t *testing.T) {
			for _, size := range blocks {
				for cut := range len(text) + 1 {
					if diff := loadDiffers(convert.Options{Lenient: true}, size, text[:cut]); diff != "" {
						t.Fatalf("blocks of %d, cut at byte %d: %s", size, cut, diff)
					}
				}
			}
		})
	}
}

// The same of dumps of real clusters and of a made-up one, in part and as a whole.
func TestLoadDumps(t *testing.T) {
	var big strings.Builder
	require.NoError(t, bigdump.Write(&big, 20, 600))
	texts := map[string]string{"made up": big.String()}
	root := os.Getenv("PREEMPT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, "data", "k8s-dumps", "*.json.gz"))
	require.NoError(t, err)
	for _, file := range files {
		in, err := os.Open(file)
		require.NoError(t, err)
		text, err := convert.Unzip(in, 0)
		require.NoError(t, err)
		whole, err := io.ReadAll(text)
		require.NoError(t, err)
		texts[filepath.Base(file)] = string(whole)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, o := range []convert.Options{{}, {Lenient: true}, {Strict: true}} {
				for _, size := range []int{1 << 20, 1 << 13} {
					require.Empty(t, loadDiffers(o, size, text))
					require.Empty(t, loadDiffers(o, size, text[:len(text)/2]))
				}
			}
		})
	}
}

// FuzzLoad is that for texts of any kind.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		nodeJSON, podJSON, podYAML, budgetJSON, nodeJSON + podJSON + "[" + nodeJSON + "," + podJSON + "]", listYAML, fullPod, fullNode,
		`{"apiVersion":"v1","items":[` + fullPod + `,` + fullNode + `],"kind":"List"}`,
		`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":""},"items":[{"metadata":{"name":"p1"}},{"metadata":{"name":"p2"}}]}`,
		`{"items":[{"metadata":{"name":"p1"}},{"kind":"Pod","metadata":{"name":"p2"}}],"kind":"PodList","apiVersion":"v1"}`,
		`{"a":trupi":"is no word that is cut off"}`, `{"items":[nul1,2],"kind":"List"}`, `[falsy]`,
	} {
		f.Add(text, uint16(16), false)
		f.Add(text, uint16(500), true)
	}
	f.Fuzz(func(t *testing.T, text string, size uint16, lenient bool) {
		if diff := loadDiffers(convert.Options{Lenient: lenient}, int(size)+1, text); diff != "" {
			t.Fatal(diff)
		}
	})
}

// fullPod and fullNode have every field that is read.
const (
	fullPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"full","namespace":"ns","uid":"u","labels":{"a":"b"},"annotations":{"c":"d\u00e9"},
"creationTimestamp":"2026-01-08T10:10:00Z","deletionTimestamp":"2026-01-09T10:10:00+01:00","ownerReferences":[{"kind":"Job","name":"j","uid":"v","controller":true}]},
"spec":{"nodeName":"n1","priority":2000001000,"priorityClassName":"c","preemptionPolicy":"Never","schedulingGroup":{"podGroupName":"g"},
"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"nodeSelector":{"x":"y"},
"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"x","operator":"In","values":["y"]}]}]}},
"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{"matchLabels":{"a":"b"}}}]},
"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","namespaces":["q"]}]}},
"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","minDomains":2}],
"containers":[{"name":"m","image":"i","ports":[{"containerPort":80,"hostPort":8080}],"resources":{"requests":{"cpu":"100m","memory":1073741824},"limits":{"cpu":1.5}},
"livenessProbe":{"httpGet":{"path":"/","port":"http"}},"volumeMounts":[{"name":"t","mountPath":"/t"}]}],
"initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"50m"}}},{"name":"i","resources":{"requests":{"cpu":"2"}}}],
"overhead":{"memory":"1Mi"},"resources":{"requests":{"hugepages-2Mi":"4Mi"}},"hostNetwork":true,"resourceClaims":[{"name":"r"}],"schedulingGates":[{"name":"h"}],
"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"w"}},{"name":"e","ephemeral":{}},{"name":"p","projected":{"sources":[{"configMap":{"items":[{"key":"a","path":"b"}]}}]}}]},
"status":{"phase":"Running","nominatedNodeName":"n2","startTime":"2026-01-08T10:11:00Z","qosClass":"Burstable",
"conditions":[{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-08T10:10:30Z"},
{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","lastTransitionTime":"2026-01-09T10:10:30Z"},{"type":"PodResizePending","status":"True","reason":"Deferred"}],
"containerStatuses":[{"name":"m","ready":true,"allocatedResources":{"cpu":"150m"},"resources":{"requests":{"cpu":"120m"}}}],
"initContainerStatuses":[{"name":"s","allocatedResources":{"cpu":"60m"}}],"resources":{"requests":{"cpu":"3"}},"allocatedResources":{"memory":"2Gi"}},"unknown":[{},1.5e3,"\n",true]}`
	fullNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"a":"b"},"annotations":{"c":"d"},"creationTimestamp":"2026-01-08T10:10:00Z"},
"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule","timeAdded":"2026-01-08T10:10:00Z"}]},
"status":{"allocatable":{"cpu":"3500m","pods":"110"},"capacity":{"cpu":4},"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-10T10:10:00Z"}],"images":[{"names":["a"],"sizeBytes":1234567890123}]}}`
)

// Whatever becomes of one byte of these, a loader says what Read and Dump say.
func TestLoadChangedAnywhere(t *testing.T) {
	bytes := []string{"", "0", "x", "\"", "{", "}", "[", "]", ",", "\\", "\xff", "null"}
	for _, text := range []string{fullPod, fullNode} {
		require.Empty(t, loadDiffers(convert.Options{}, 1<<12, text))
		for at := range len(text) {
			for i := range 3 {
				b := bytes[(at+4*i)%len(bytes)]
				changed := text[:at] + b + text[at+1:]
				if diff := loadDiffers(convert.Options{}, 1<<12, changed); diff != "" {
					t.Fatalf("%q at byte %d, %q: %s", b, at, changed[max(0, at-30):at+1], diff)
				}
			}
		}
	}
}
