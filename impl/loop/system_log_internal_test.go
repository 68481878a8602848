package loop

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// notebook is a store that has lines of logs, and nothing else.
type notebook struct {
	store.Store
	lines, forgotten int
}

func (n *notebook) Write(_ context.Context, f func(store.Tx) error) error { return f(page{n: n}) }

type page struct {
	store.Tx
	n *notebook
}

func (p page) AddSystemLine(string, string) error {
	p.n.lines++
	return nil
}

func (p page) ForgetSystemLines(string) error {
	p.n.forgotten++
	return nil
}

func TestAddLine_IsForWhatIsThere(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		is    bool
		err   error
		lines int
		fails error
	}{
		"one that is there":     {true, nil, 1, nil},
		"one that has ended":    {false, nil, 0, nil},
		"one that is no more":   {true, compute.Errorf(compute.NotFound, "gone"), 0, nil},
		"one that nobody knows": {true, full, 0, full},
	} {
		n := &notebook{}
		err := addLine(t.Context(), n, "p", "text", func(store.Tx) (bool, error) { return c.is, c.err })
		require.ErrorIs(t, err, c.fails, name)
		require.Equal(t, c.lines, n.lines, name)
		require.Equal(t, c.lines, n.forgotten, name)
	}
}
