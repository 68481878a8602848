package queue

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestFinish_OutputMayBeAsLongAsItsLimit(t *testing.T) {
	t.Parallel()
	q := &Queue{settings: DefaultSettings()}
	for sync, limit := range map[bool]int{false: 10_000_000, true: 20_000_000} {
		output := make([]byte, limit+1)
		j := compute.Job{Sync: sync, OutputSize: 300_000} // of its progress
		require.Equal(t, compute.JobComplete, q.event(&j, Report{Output: output[:limit]}))
		require.Equal(t, []any{limit, 0, ""}, []any{len(j.Output), j.OutputSize, j.Error})
		require.Equal(t, compute.JobFail, q.event(&j, Report{Output: output[:limit], Error: "it broke"}))
		require.Equal(t, []any{limit, 0, "it broke"}, []any{len(j.Output), j.OutputSize, j.Error})
		require.Equal(t, compute.JobFail, q.event(&j, Report{Output: output}))
		require.Equal(t, []any{0, 0, fmt.Sprintf("the output of %d bytes is over the limit of %d bytes", limit+1, limit)}, []any{len(j.Output), j.OutputSize, j.Error})
	}
}

func TestFinish_LongErrorsKeepTheirBeginningAndEnd(t *testing.T) {
	t.Parallel()
	const half = 65_536
	a, z := strings.Repeat("a", half), strings.Repeat("z", half)
	require.Empty(t, shortened(""))
	require.True(t, a+z == shortened(a+z), "it is not too long")
	require.True(t, a+"\n… 1 bytes are left out …\n"+z == shortened(a+"m"+z))

	cut := shortened(a[1:] + "é" + strings.Repeat("m", 10) + "é" + z[1:])
	require.True(t, utf8.ValidString(cut))
	require.True(t, a[1:]+"\n… 12 bytes are left out …\n"+z[1:] == cut, "nothing is kept of a character that is cut")
}
