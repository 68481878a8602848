package sqldb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStringsComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{nil, {}, {""}, {"a"}, {"a", "b"}, {",", `","`, "["}, {`"`, `\`, "<&>", "é\n"}, {"", ""}} {
		got := []string{"before"}
		require.NoError(t, words[[]string]{&got}.Scan(text(want)))
		require.Equal(t, want, got)
	}
	for _, want := range []map[string]string{nil, {}, {"": ""}, {"a": "b"}, {"a": "b", "c": ":", ":": ","}, {`","`: `":"`, `":"`: "é"}} {
		got := map[string]string{"before": ""}
		require.NoError(t, words[map[string]string]{&got}.Scan(text(want)))
		require.Equal(t, want, got)
	}
	require.Error(t, words[[]string]{new([]string)}.Scan(int64(1)))
}

func TestJoinedColumnsAreReadInTheirOrder(t *testing.T) {
	t.Parallel()
	var words []string
	var number int64
	var at, never time.Time
	read := joined{" ", func(p *parts) {
		words, number = []string{p.text(), p.text()}, p.number()
		at, never = p.instant(), p.instant()
	}}
	require.NoError(t, read.Scan("a  -7 1700000000000 0"))
	require.Equal(t, []string{"a", ""}, words)
	require.EqualValues(t, -7, number)
	require.Equal(t, time.UnixMilli(1_700_000_000_000).UTC(), at)
	require.True(t, never.IsZero())
	require.Error(t, read.Scan("a b c 0 0"))
	require.Error(t, read.Scan(int64(1)))
}
