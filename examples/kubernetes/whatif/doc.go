// Command whatif tells whom a pending pod would evict from a real cluster, and why.
//
// It is run in a clone; github.com/preempt-go/preempt/examples/whatif is the same command
// for go install.
//
// It reads what kubectl prints (JSON or YAML, gzipped or not) and asks the library:
//
//	whatif                                            an embedded sample cluster
//	kubectl get ... -o json | whatif                  the only pending pod of what is piped in
//	whatif -f dump.json                               that of a dump
//	whatif -f dump.json -preemptor pod/ns/name        this one
//	whatif -f dump.json -cpu 2 -memory 4Gi -priority 1000
//	whatif -f dump.json -preemptor daemonset/ns/name -node n1
//	whatif -f dump.json -preemptor workload/ns/name   a Workload of Kueue, for quota
//	whatif -f dump.json -apply manifest.yaml          for all that a manifest wants to run
//	whatif -f dump.json -drain n1                     for the pods of a node that is drained
//	whatif -f dump.json -diff v1.36                   who is answered otherwise by other rules
//	whatif -f dump.json -will-run                     beside the answer, when it would run if it waited
//	whatif -f dump.json -html answer.html             the answer as a page for a browser, too
//	whatif -f dump.json -save cluster.pre             a form that -f reads far faster
//	whatif -batch cases.jsonl                         one answer a line
//	whatif -f dump.json -questions questions.jsonl    ... about one cluster, and in more ways
//	whatif -replay journal.jsonl                      a journal of preemption/record, once more
//	whatif -version                                   of which release it is
//
// It exits with 0 if the question was answered, whatever the answer; with 1 if the
// input could not be read, -verify found something wrong with an answer or -replay one that
// differs; with 2 for
// wrong usage; and with 3 if -check is given and the preemptor gets no place. A batch is
// answered as a whole: lines that cannot be read carry their error.
//
// Nothing reads a clock: the snapshot's time is that of -now or the newest that the
// objects tell, so the same input gives the same output.
package main
