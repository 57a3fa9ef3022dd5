package plugin_test

import (
	"fmt"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/preempt-go/preempt/examples/kubescheduler/plugin"
)

// A scheduler registers the plugin beside plugins of its own; a profile enables it.
func Example() {
	command := app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))
	fmt.Println(command.Name(), "with", plugin.Name)
	// Output: kube-scheduler with Preempt
}
