package loop

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// texts gives those of lines.
func texts(lines []compute.LogLine) (all []string) {
	for _, line := range lines {
		all = append(all, line.Text)
	}
	return all
}

func TestBuildLog_NumbersItsLinesByTheirTimes(t *testing.T) {
	t.Parallel()
	const first = int64(1_700_000_000_000_000_000)
	clock := compute.NewFrozenClock(time.Unix(0, first))
	l := newBuildLog(clock)
	for _, text := range []string{"a", "b", "c"} {
		l.write(compute.LogContainer, text)
	}
	clock.Advance(time.Second)
	_, _, more := l.after(0)
	l.write(compute.LogSystem, "d")
	<-more

	all, over, more := l.after(0)
	require.False(t, over)
	require.Equal(t, []compute.LogLine{
		{Source: compute.LogContainer, Position: first, Text: "a"}, {Source: compute.LogContainer, Position: first + 1, Text: "b"},
		{Source: compute.LogContainer, Position: first + 2, Text: "c"}, {Source: compute.LogSystem, Position: first + int64(time.Second), Text: "d"},
	}, all)
	for after, want := range map[int64][]string{
		first - 1: {"a", "b", "c", "d"}, first: {"b", "c", "d"}, first + 1: {"c", "d"}, first + 2: {"d"}, first + 3: {"d"},
		first + int64(time.Second): nil, first + int64(time.Hour): nil,
	} {
		lines, _, _ := l.after(after)
		require.Equal(t, want, texts(lines), after-first)
	}

	l.end()
	<-more
	_, over, _ = l.after(0)
	require.True(t, over)
}

func TestBuildLog_IsBounded(t *testing.T) {
	t.Parallel()
	l := newBuildLog(compute.NewFrozenClock(time.Unix(1, 0)))
	l.write(compute.LogContainer, "first")
	l.write(compute.LogContainer, strings.Repeat("x", compute.BuildLine)+"and more")
	lines, _, _ := l.after(0)
	require.Len(t, lines[1].Text, compute.BuildLine)

	for range compute.BuildLog/compute.BuildLine - 1 {
		l.write(compute.LogContainer, strings.Repeat("y", compute.BuildLine))
	}
	lines, _, _ = l.after(0)
	require.Len(t, lines, compute.BuildLog/compute.BuildLine, "all but the first one")
	l.write(compute.LogContainer, "last")
	lines, _, _ = l.after(0)
	require.Len(t, lines, compute.BuildLog/compute.BuildLine)
	require.Equal(t, "last", lines[len(lines)-1].Text)
	l.write(compute.LogContainer, "\xff")
	lines, _, _ = l.after(0)
	require.Equal(t, "\ufffd", lines[len(lines)-1].Text)
}

func TestBuildLog_IsReadFromWhereAQueryBegins(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Unix(100, 0))
	l := newBuildLog(clock)
	for _, line := range []compute.LogLine{
		{Source: compute.LogSystem, Text: "begin"}, {Source: compute.LogContainer, Text: "one"}, {Source: compute.LogContainer, Text: "two"},
		{Source: compute.LogSystem, Text: "note"}, {Source: compute.LogContainer, Text: "three"}, {Source: compute.LogSystem, Text: "end"},
	} {
		l.write(line.Source, line.Text)
		clock.Advance(time.Second)
	}
	l.end()

	for name, c := range map[string]struct {
		q    compute.LogQuery
		want []string
	}{
		"no line":                {compute.LogQuery{}, nil},
		"the last one":           {compute.LogQuery{Tail: 1}, []string{"end"}},
		"the last ones":          {compute.LogQuery{Tail: 3}, []string{"note", "three", "end"}},
		"as many as there are":   {compute.LogQuery{Tail: 6}, []string{"begin", "one", "two", "note", "three", "end"}},
		"more than there are":    {compute.LogQuery{Tail: 7}, []string{"begin", "one", "two", "note", "three", "end"}},
		"of the container":       {compute.LogQuery{Tail: 2, Source: compute.LogContainer}, []string{"two", "three"}},
		"of the system":          {compute.LogQuery{Tail: 2, Source: compute.LogSystem}, []string{"note", "end"}},
		"since a time":           {compute.LogQuery{Tail: 1, Since: time.Unix(103, 0)}, []string{"note", "three", "end"}},
		"after a time":           {compute.LogQuery{Tail: 1, After: time.Unix(103, 0)}, []string{"three", "end"}},
		"of a source since then": {compute.LogQuery{Since: time.Unix(102, 0), Source: compute.LogContainer}, []string{"two", "three"}},
	} {
		var got []compute.LogLine
		require.NoError(t, l.read(c.q)(t.Context(), func(line compute.LogLine) error {
			got = append(got, line)
			return nil
		}), name)
		require.Equal(t, c.want, texts(got), name)
	}

	full := errors.New("the reader has enough")
	require.ErrorIs(t, l.read(compute.LogQuery{Tail: 5})(t.Context(), func(compute.LogLine) error { return full }), full)
}

func TestBuildLog_IsFollowed(t *testing.T) {
	t.Parallel()
	l := newBuildLog(compute.NewFrozenClock(time.Unix(100, 0)))
	l.write(compute.LogSystem, "begin")
	lines, ended := make(chan string), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	follow := func() {
		ended <- l.read(compute.LogQuery{Tail: 1, Source: compute.LogSystem})(ctx, func(line compute.LogLine) error {
			lines <- line.Text
			return nil
		})
	}
	go follow()
	require.Equal(t, "begin", <-lines)
	l.write(compute.LogContainer, "not of this source")
	l.write(compute.LogSystem, "more")
	require.Equal(t, "more", <-lines)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)

	ctx = t.Context()
	go follow()
	require.Equal(t, "more", <-lines)
	l.write(compute.LogSystem, "last")
	l.end()
	require.Equal(t, "last", <-lines)
	require.NoError(t, <-ended)
}

func TestBuildLog_OfWhatIsNoTextIsBounded(t *testing.T) {
	t.Parallel()
	l := newBuildLog(compute.NewFrozenClock(time.Unix(1, 0)))
	const fill = compute.BuildLog / compute.BuildLine
	for range 2 * fill {
		l.write(compute.LogContainer, strings.Repeat("\xff", compute.BuildLine))
	}
	lines, _, _ := l.after(0)
	require.Len(t, lines, 2*fill, "they take little room")
	for range 2 * fill {
		l.write(compute.LogContainer, strings.Repeat("x", compute.BuildLine))
	}
	lines, _, _ = l.after(0)
	require.Len(t, lines, fill)

	for range 2 * mostBuildLines {
		l.write(compute.LogContainer, "")
	}
	lines, _, _ = l.after(0)
	require.Len(t, lines, mostBuildLines)
}

func TestBounded_GivesSoManyBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size, left int64
		want       int
		err        error
	}{{10, 4, 4, errUnpacked}, {10, 10, 10, errUnpacked}, {10, 11, 10, nil}, {0, 1, 0, nil}} {
		r := &bounded{strings.NewReader(strings.Repeat("x", int(c.size))), c.left}
		got, err := io.ReadAll(r)
		require.Len(t, got, c.want)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.left-int64(c.want), r.left)
	}
}
