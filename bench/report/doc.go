// Command report turns the output of benchmarks into bench/RESULTS.md and its plots:
//
//	go test -run '^$' -bench . ./bench > bench.txt
//	go run -C bench/kubescheduler . -bench > side.txt
//	go run ./bench/report bench.txt side.txt
//
// It reads what go test -bench prints; of several runs of one benchmark it takes the
// median.
package main
