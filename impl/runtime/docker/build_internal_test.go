package docker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestEmitLines_KeepsNoMoreThanALine(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var lines []string
	emit := func(line string) { lines = append(lines, line) }
	text.WriteString("one\r\ntwo\nthr")
	emitLines(&text, emit)
	require.Equal(t, []string{"one", "two"}, lines)
	require.Equal(t, "thr", text.String())

	lines = nil
	long := strings.Repeat("x", compute.BuildLine)
	text.WriteString(long)
	emitLines(&text, emit)
	require.Equal(t, []string{"thr" + long}, lines, "one without an end is a line, too")
	require.Zero(t, text.Len())
}
