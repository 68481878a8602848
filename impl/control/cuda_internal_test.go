package control

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCUDAVersionsAreComparedNumberByNumber(t *testing.T) {
	t.Parallel()
	ascending := []string{"0", "9.9", "12", "12.2", "12.11", "13.0", "99999999999999999999.1"}
	for i, a := range ascending {
		for j, b := range ascending {
			v, ok := parseCUDA(a)
			require.True(t, ok)
			w, _ := parseCUDA(b)
			require.Equal(t, i < j, v.compare(w) < 0, "%s and %s", a, b)
			require.Equal(t, i == j, v == w, "%s and %s", a, b)
		}
	}
	for _, text := range []string{"", ".", "12.", ".8", "12.8.1", "-12.8", "12.x", " 12.8"} {
		_, ok := parseCUDA(text)
		require.False(t, ok, text)
	}
}
