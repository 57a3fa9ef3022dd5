package command

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain is the command itself where TestNobodyReads runs it.
func TestMain(m *testing.M) {
	if os.Getenv("WHATIF_TEST_MAIN") != "" {
		Main()
	}
	os.Exit(m.Run())
}

// A reader that has seen enough is no error, and the status is that of the answer.
func TestNobodyReads(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, read.Close())
	command := exec.Command(os.Args[0], "-explain", "-o", "json") // about the sample
	command.Env, command.Stdout = append(os.Environ(), "WHATIF_TEST_MAIN=1"), write
	require.NoError(t, command.Run(), "status 0")
	require.NoError(t, write.Close())
}
