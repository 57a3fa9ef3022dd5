package ask

// Stats tells what a search cost, and whether a no is proved.
type Stats struct {
	Domains   int  // looked at
	Pruned    int  // ruled out without a trial
	Evaluated int  // tried: victims removed and given back
	Searched  int  // where victims were searched for, since giving back did not do
	Trials    int  // feasibility checks
	Exact     bool // what is infeasible is proved so
	Hooks     bool // a hook has a say
}
