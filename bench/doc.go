// Package bench measures the library on large clusters. It has benchmarks only:
//
//	go test -run '^$' -bench . ./bench
//	go test -run '^$' -bench 'Preempt/case=(tied|several)' -count 10 ./bench | benchstat -col /case -
//
// BenchmarkGrowth takes the flag -maxnodes, BenchmarkArrivals -arrivals. The latter and
// BenchmarkRecorded read recorded clusters from ../shared/data beside the project, or
// where PREEMPT_SHARED says; they are skipped without them. Command report makes
// bench/RESULTS.md and its plots from the output.
//
// With -short only small clusters are measured. The clusters come from seeded
// generators; the parts of a benchmark's name are key=value, so that benchstat can
// group by them.
package bench
