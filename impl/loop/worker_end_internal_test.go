package loop

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestTail_KeepsTheLastLinesOfSoManyBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lines, want []string }{
		"few":                         {[]string{"a", "b"}, []string{"a", "b"}},
		"so many lines":               {[]string{"a", "b", "c"}, []string{"a", "b", "c"}},
		"more lines":                  {[]string{"a", "b", "c", "d", "e"}, []string{"c", "d", "e"}},
		"so many bytes":               {[]string{"aaaaa", "bbbbb"}, []string{"aaaaa", "bbbbb"}},
		"more bytes":                  {[]string{"aaaa", "bbbb", "cccc"}, []string{"bbbb", "cccc"}},
		"again and again":             {[]string{"aaaa", "bbbb", "cccc", "dddd", "e"}, []string{"cccc", "dddd", "e"}},
		"as long a line":              {[]string{"a", "0123456789"}, []string{"0123456789"}},
		"a longer line":               {[]string{"a", "abc0123456789"}, []string{"0123456789"}},
		"a line that is cut anywhere": {[]string{"éééééé" + "x"}, []string{"\uFFFDéééé" + "x"}},
		"what is no text":             {[]string{"a\xffb"}, []string{"a\uFFFDb"}},
		"a short one after a long":    {[]string{"0123456789", "", "b"}, []string{"", "b"}},
	} {
		var kept tail
		for _, text := range c.lines {
			kept.add(runtime.Line{Text: text}, 3, 10)
		}
		var got []string
		size := 0
		for _, line := range kept.lines {
			got = append(got, line.Text)
			size += len(line.Text)
		}
		require.Equal(t, c.want, got, name)
		require.Equal(t, size, kept.size, name)
		require.Equal(t, strings.Trim(strings.Join(c.want, "\n"), "\n"), kept.text(), name)
	}
}

func TestEndOf_TellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	up := time.Unix(1_700_000_000, 0)
	code := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		state runtime.State
		want  ending
	}{
		{runtime.State{ExitCode: -1}, ending{alone: true, why: "the worker's container did not come up"}},
		{runtime.State{ExitCode: -1, Reason: "no such image"}, ending{alone: true, why: "the worker's container did not come up: no such image"}},
		{runtime.State{StartedAt: up, ExitCode: 0}, ending{alone: true, started: up, code: code(0), why: "the worker ended with exit code 0"}},
		{runtime.State{StartedAt: up, ExitCode: 3, Reason: "it said so"}, ending{alone: true, started: up, code: code(3), why: "the worker ended with exit code 3: it said so"}},
		{runtime.State{StartedAt: up, ExitCode: 137, OOM: true}, ending{alone: true, started: up, code: code(137), why: "the worker used more memory than it may"}},
		{runtime.State{StartedAt: up, ExitCode: -1}, ending{alone: true, started: up, code: code(-1), why: "the worker was ended by a signal"}},
		{runtime.State{StartedAt: up, ExitCode: -1, Reason: "its node was lost"}, ending{alone: true, started: up, code: code(-1), why: "the worker ended: its node was lost"}},
	} {
		require.Equal(t, c.want, endOf(c.state))
	}
}

func TestEnding_InterruptedOnesGetLessTime(t *testing.T) {
	t.Parallel()
	require.Equal(t, 10*time.Second, ending{}.grace())
	require.Equal(t, 5*time.Second, ending{interrupted: true}.grace())
}

func TestHint_IsGivenOnceAndWaitsForNobody(t *testing.T) {
	t.Parallel()
	a, b := NewHint(), NewHint()
	both := Both(a, b)
	both()
	both()
	for _, h := range []Hint{a, b} {
		require.Len(t, h, 1)
		<-h
	}
	both()
	require.Len(t, a, 1)
	require.Len(t, b, 1)
}
