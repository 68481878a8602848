package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func systemLines(t *testing.T, open Open) {
	s, clock := begin(t, open)
	get := func(id string, after int64) (texts []string) {
		last := after
		for _, l := range read(t, s, func(tx store.Tx) ([]compute.LogLine, error) { return tx.SystemLines(id, after) }) {
			require.Equal(t, compute.LogSystem, l.Source)
			require.Greater(t, l.Position, last)
			last = l.Position
			texts = append(texts, l.Text)
		}
		return texts
	}

	add := func(id, text string) {
		write(t, s, func(tx store.Tx) error { return tx.AddSystemLine(id, text) })
	}
	write(t, s, func(tx store.Tx) error { return tx.BeginSystemLines("p", "a") })
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.BeginSystemLines("p", "again") })))

	add("p", "b") // at the same time
	add("q", "x")
	before := clock.Now().Add(time.Millisecond).UnixNano()
	clock.Advance(time.Second)
	add("p", "c")
	require.Equal(t, []string{"a", "b", "c"}, get("p", 0))
	require.Equal(t, []string{"c"}, get("p", before))
	require.Empty(t, get("p", clock.Now().Add(time.Millisecond).UnixNano()))

	for i := range compute.SystemLines {
		add("p", fmt.Sprint(i))
	}
	require.Len(t, get("p", 0), compute.SystemLines+3)

	write(t, s, func(tx store.Tx) error { return tx.ForgetSystemLines("p") })
	texts := get("p", 0)
	require.Len(t, texts, compute.SystemLines)
	require.Equal(t, "0", texts[0])

	write(t, s, func(tx store.Tx) error { return tx.DeleteSystemLines("p") })
	require.Empty(t, get("p", 0))
	require.Equal(t, []string{"x"}, get("q", 0))
}
