package runtime_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestCredential_NeverPrintsThePassword(t *testing.T) {
	t.Parallel()
	a := runtime.Credential{User: "u", Password: "s3cret"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(verb, a)
		require.NotContains(t, text, "s3cret")
		require.Contains(t, text, "u:***")
	}
	require.Equal(t, "none", fmt.Sprint(runtime.Credential{}))
}

func TestSplitter_MakesLinesOfPieces(t *testing.T) {
	t.Parallel()
	var lines []runtime.Line
	s := runtime.Splitter{Stream: runtime.Stderr, Emit: func(l runtime.Line) error { lines = append(lines, l); return nil }}
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	require.NoError(t, s.Write(first, "one\ntw"))
	require.NoError(t, s.Write(second, "o\r\n\nthree"))
	require.NoError(t, s.Flush())
	require.NoError(t, s.Flush())
	require.Equal(t, []runtime.Line{
		{At: first, Stream: runtime.Stderr, Text: "one"}, {At: first, Stream: runtime.Stderr, Text: "two"},
		{At: second, Stream: runtime.Stderr, Text: ""}, {At: second, Stream: runtime.Stderr, Text: "three"},
	}, lines)

	lines = nil
	require.NoError(t, s.Write(first, strings.Repeat("x", runtime.LogLimit+10)+"\n"))
	require.Len(t, lines, 2)
	require.Len(t, lines[0].Text, runtime.LogLimit)
	require.Len(t, lines[1].Text, 10)
}

func TestSplitter_CutsLongLinesBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, char := range []string{"é", "€", "😀"} {
		for before := range len(char) { // bytes of the character that there is room for
			line := strings.Repeat("x", runtime.LogLimit-before) + char + "y"
			for name, pieces := range map[string][]string{
				"in one piece":             {line + "\n"},
				"cut within the character": {line[:runtime.LogLimit], line[runtime.LogLimit:] + "\n"},
				"byte by byte at the end":  {line[:runtime.LogLimit-1], line[runtime.LogLimit-1 : runtime.LogLimit], line[runtime.LogLimit : runtime.LogLimit+1], line[runtime.LogLimit+1:] + "\n"},
			} {
				var texts []string
				s := runtime.Splitter{Emit: func(l runtime.Line) error { texts = append(texts, l.Text); return nil }}
				for _, piece := range pieces {
					require.NoError(t, s.Write(time.Unix(1, 0), piece))
				}
				require.Len(t, texts, 2, "%s, %d bytes of %s", name, before, char)
				require.Len(t, texts[0], runtime.LogLimit-before, "%s, %d bytes of %s", name, before, char)
				require.Equal(t, char+"y", texts[1], "%s, %d bytes", name, before)
			}
		}
	}

	var texts []string
	s := runtime.Splitter{Emit: func(l runtime.Line) error { texts = append(texts, l.Text); return nil }}
	binary := strings.Repeat("\x80", runtime.LogLimit+1)
	require.NoError(t, s.Write(time.Unix(1, 0), binary+"\n"))
	require.Equal(t, []string{binary[1:], "\x80"}, texts, "what is no text is cut anywhere")
}

func TestLogQuery_SelectsLines(t *testing.T) {
	t.Parallel()
	var lines []runtime.Line
	for i := range int64(5) {
		lines = append(lines, runtime.Line{At: time.Unix(i, 0), Position: i + 1})
	}

	positions := func(q runtime.LogQuery) (found []int64) {
		for _, l := range q.Select(lines) {
			found = append(found, l.Position)
		}
		return found
	}

	require.Equal(t, []int64{1, 2, 3, 4, 5}, positions(runtime.LogQuery{}))
	require.Equal(t, []int64{4, 5}, positions(runtime.LogQuery{Tail: 2}))
	require.Equal(t, []int64{3, 4, 5}, positions(runtime.LogQuery{Since: time.Unix(2, 0)}))
	require.Equal(t, []int64{4, 5}, positions(runtime.LogQuery{After: 3, Tail: 9}))
	require.Empty(t, positions(runtime.LogQuery{After: 5}))

	at := time.Unix(0, 7)
	require.Equal(t, int64(7), runtime.Number(at, 3))
	require.Equal(t, int64(8), runtime.Number(at, 7))
}
