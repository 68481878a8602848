package main

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRead_InputThatNeverEndsHoldsUpNoInterrupt: a read of the standard input does not end by a signal.
func TestRead_InputThatNeverEndsHoldsUpNoInterrupt(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"a job":      {"jobs", "run", "words"},
		"a document": {"pods", "create", "--file", "-"},
		"a secret":   {"secrets", "create", "--name", "a", "--value-file", "-"},
		"keys":       {"ssh-keys", "add", "-"},
		"a host":     {"hosts", "add", "--file", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, end := io.Pipe()
			defer func() { _ = end.Close() }()
			ctx, interrupt := context.WithCancel(t.Context())
			read := &noting{Reader: in, asked: interrupt}
			cmd := newCommandFor(args)
			cmd.SetArgs(args)
			cmd.SetIn(read)
			cmd.SetOut(io.Discard)
			cmd.SetErr(io.Discard)
			require.Equal(t, exitInterrupted, conclude(ctx, io.Discard, cmd.ExecuteContext(ctx)))
		})
	}
}

// noting says when it is read.
type noting struct {
	io.Reader
	asked func()
}

func (r *noting) Read(p []byte) (int, error) {
	r.asked()
	return r.Reader.Read(p)
}
