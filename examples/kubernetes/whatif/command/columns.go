package command

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// columns is the width of the terminal that w is, as $COLUMNS says or it says itself; 0 if it
// is none.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}
