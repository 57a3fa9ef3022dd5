// Command simulate compares policies of preemption on a simulated farm, side by side:
//
//	go run ./examples/simulator/simulate                               # a synthetic farm, the built-in policies
//	go run ./examples/simulator/simulate -html report.html -csv report.csv
//	go run ./examples/simulator/simulate -nodes 200 -jobs 50000 -checkpoint 1h -policy default -policy work
//	go run ./examples/simulator/simulate -policy 'mine={"noCascade": true, "guards": {"guaranteedSeconds": 600}}'
//	go run ./examples/simulator/simulate -trace borg2011-full -data FOLDER -grace 10s
//
// The options of a policy are [preemption.Options] as JSON. Where it takes more than two
// seconds, progress is told on stderr. With -state FILE a run that is interrupted goes on
// where it was when the same command is given again, and prints what it would have printed.
// The exit status is 0, 1 for an error, 2 for flags that cannot be read, 3 for a run that was
// interrupted.
package main
