// Command whatif tells whom a pending pod would evict from a real cluster, and why: the
// command of examples/kubernetes, in a module that go install takes.
//
//	go install github.com/preempt-go/preempt/examples/whatif@latest
//	whatif                                          # an embedded sample
//	kubectl get nodes,pods,pdb,priorityclasses,podgroups -A -o json | whatif
//
// See https://pkg.go.dev/github.com/preempt-go/preempt/examples/kubernetes/whatif for the rest.
package main

import "github.com/preempt-go/preempt/examples/kubernetes/whatif/command"

func main() { command.Main() }
