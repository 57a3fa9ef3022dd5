module github.com/preempt-go/preempt

go 1.26
