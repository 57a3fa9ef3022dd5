package main

import "github.com/preempt-go/preempt/examples/kubernetes/whatif/command"

func main() { command.Main() }
