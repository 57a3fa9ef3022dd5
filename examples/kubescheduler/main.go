// Command kubescheduler is kube-scheduler v1.36.3 with the plugin Preempt registered. It
// takes the flags and the configuration of kube-scheduler; the plugin runs where a profile
// enables it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // what kube-scheduler says of its client
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/preempt-go/preempt/examples/kubescheduler/plugin"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(plugin.Name, plugin.New))))
}
