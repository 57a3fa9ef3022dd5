// Here is what looks after the project, which nobody needs who uses it: as a module of its own it is not in the archive of the library.
module github.com/preempt-go/preempt/.ci

go 1.26.0
