package tell

// Caller is what whoever asks a question wants beside the answer; the zero Caller: nothing.
type Caller struct {
	Poll     func() // for [ask.Question]; nil: the question is never stopped
	Prepared func() // the preemptor is found, and constraints count; nil: nobody is told
	Searched func() // nodes and victims are found; likewise
}

// silent is c for questions that are asked on the way.
func (c Caller) silent() Caller { return Caller{Poll: c.Poll} }

// told calls f, if it is there.
func told(f func()) {
	if f != nil {
		f()
	}
}
