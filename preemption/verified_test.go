package preemption_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/preempt-go/preempt/preemption"
	"github.com/preempt-go/preempt/preemption/check"
)

// TestMain lets every answer that a test is given be verified, whatever else the test
// looks at.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() { // as the seeds: fewer of the same
		asked := false
		flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
		if checks := flag.Lookup("rapid.checks"); !asked {
			if err := checks.Value.Set("30"); err != nil {
				panic(err)
			}
		}
	}
	preemption.Answered(verified)
	os.Exit(m.Run())
}

// counting are the hooks that count who calls them, which the verification is not to do.
var counting sync.Map

// verified panics, with the question, if something is not true of an answer.
func verified(s *preemption.Snapshot, o preemption.Options, p preemption.Preemptor, r *preemption.Result) {
	if _, counts := counting.Load(o.Hooks); counts {
		return
	}
	problems := check.Verify(s, o, p, r)
	if len(problems) == 0 {
		return
	}
	text := fmt.Sprintf("%s: %s\n", r.Verdict, r.Message)
	for _, problem := range problems {
		text += problem.String() + "\n"
	}
	if s == nil || len(s.Pods) < 1000 {
		question, _ := json.Marshal(map[string]any{"snapshot": s, "options": o, "preemptor": p}) // plain structs
		text += string(question)
	}
	panic(text)
}
