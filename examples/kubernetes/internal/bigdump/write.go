package bigdump

import (
	"bufio"
	"fmt"
	"io"
)

const (
	namespaces = 100
	replicas   = 12 // pods of one deployment
)

// Write writes a list of so many nodes and running pods, and one pending pod.
func Write(w io.Writer, nodes, pods int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprint(out, "{\n    \"apiVersion\": \"v1\",\n    \"items\": [")
	comma := ""
	item := func(format string, args ...any) {
		fmt.Fprint(out, comma)
		fmt.Fprintf(out, format, args...)
		comma = ","
	}
	for i := range nodes {
		item(node, i, 'a'+i%3, i, i, 10+i>>16, i>>8&255, i&255, i)
	}
	for i := range pods {
		owner := i / replicas
		name := fmt.Sprintf("app-%d-7d4b9c6f5-%05x", owner, i)
		item(pod, i%60, owner, name, owner%namespaces, owner, i, owner, owner%30,
			100*(1+owner%8), 256*(1+owner%5), i%nodes, priorities[owner%4], classes[owner%4], i%60, i%60)
	}
	item(pending)
	for i := range pods / replicas / 4 {
		item(budget, i*4, i*4%namespaces, i*4, i%3)
	}
	for i, name := range classes {
		item(class, name, priorities[i])
	}
	for i := range namespaces {
		item(namespace, i, i)
	}
	fmt.Fprint(out, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	return out.Flush()
}

var (
	priorities = [...]int{0, 100, 1000, 100000}
	classes    = [...]string{"batch", "low", "normal", "high"}
)

const node = `
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "annotations": {
                    "node.alpha.kubernetes.io/ttl": "0",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true"
                },
                "creationTimestamp": "2026-01-02T10:00:00Z",
                "labels": {
                    "beta.kubernetes.io/arch": "amd64",
                    "kubernetes.io/arch": "amd64",
                    "kubernetes.io/hostname": "node-%d",
                    "kubernetes.io/os": "linux",
                    "topology.kubernetes.io/zone": "zone-%c"
                },
                "name": "node-%d",
                "resourceVersion": "81723",
                "uid": "8e5838dd-9217-11e9-a049-%012x"
            },
            "spec": {
                "podCIDR": "10.244.0.0/24",
                "providerID": "gce://cloud/us-central1-a/node"
            },
            "status": {
                "addresses": [
                    {
                        "address": "%d.0.%d.%d",
                        "type": "InternalIP"
                    },
                    {
                        "address": "node-%d",
                        "type": "Hostname"
                    }
                ],
                "allocatable": {
                    "cpu": "15890m",
                    "ephemeral-storage": "95551679124",
                    "hugepages-2Mi": "0",
                    "memory": "62145400Ki",
                    "pods": "110"
                },
                "capacity": {
                    "cpu": "16",
                    "ephemeral-storage": "103880232Ki",
                    "hugepages-2Mi": "0",
                    "memory": "65825656Ki",
                    "pods": "110"
                },
                "conditions": [
                    {
                        "lastHeartbeatTime": "2026-01-09T15:51:58Z",
                        "lastTransitionTime": "2026-01-02T10:00:35Z",
                        "message": "kubelet has sufficient memory available",
                        "reason": "KubeletHasSufficientMemory",
                        "status": "False",
                        "type": "MemoryPressure"
                    },
                    {
                        "lastHeartbeatTime": "2026-01-09T15:51:58Z",
                        "lastTransitionTime": "2026-01-02T10:00:45Z",
                        "message": "kubelet is posting ready status. AppArmor \"enabled\"",
                        "reason": "KubeletReady",
                        "status": "True",
                        "type": "Ready"
                    }
                ],
                "nodeInfo": {
                    "architecture": "amd64",
                    "containerRuntimeVersion": "containerd://2.1.4",
                    "kernelVersion": "6.12.40",
                    "kubeletVersion": "v1.36.3",
                    "osImage": "Container-Optimized OS from Google"
                }
            }
        }`

const pod = `
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "creationTimestamp": "2026-01-08T10:%02d:00Z",
                "labels": {
                    "app": "app-%d"
                },
                "name": "%s",
                "namespace": "ns-%d",
                "ownerReferences": [
                    {
                        "controller": true,
                        "kind": "ReplicaSet",
                        "name": "app-%d-7d4b9c6f5",
                        "uid": "0e5838dd"
                    }
                ],
                "uid": "1e5838dd-9217-11e9-a049-%012x"
            },
            "spec": {
                "containers": [
                    {
                        "image": "registry/app-%d:v1.%d",
                        "name": "main",
                        "resources": {
                            "requests": {
                                "cpu": "%dm",
                                "memory": "%dMi"
                            }
                        }
                    }
                ],
                "nodeName": "node-%d",
                "priority": %d,
                "priorityClassName": "%s",
                "tolerations": [
                    {
                        "effect": "NoExecute",
                        "key": "node.kubernetes.io/not-ready",
                        "operator": "Exists"
                    }
                ]
            },
            "status": {
                "conditions": [
                    {
                        "lastTransitionTime": "2026-01-08T10:%02d:01Z",
                        "status": "True",
                        "type": "PodScheduled"
                    }
                ],
                "phase": "Running",
                "startTime": "2026-01-08T10:%02d:02Z"
            }
        }`

const pending = `
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "waiting",
                "namespace": "ns-0"
            },
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "resources": {
                            "requests": {
                                "cpu": "4",
                                "memory": "4Gi"
                            }
                        }
                    }
                ],
                "priority": 1000,
                "priorityClassName": "normal"
            },
            "status": {
                "phase": "Pending"
            }
        }`

const budget = `
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {
                "name": "app-%d",
                "namespace": "ns-%d"
            },
            "spec": {
                "minAvailable": "50%%",
                "selector": {
                    "matchLabels": {
                        "app": "app-%d"
                    }
                }
            },
            "status": {
                "disruptionsAllowed": %d
            }
        }`

const class = `
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {
                "name": "%s"
            },
            "value": %d
        }`

const namespace = `
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "labels": {
                    "kubernetes.io/metadata.name": "ns-%d"
                },
                "name": "ns-%d"
            }
        }`
