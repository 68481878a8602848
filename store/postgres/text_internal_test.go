package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func FuzzEveryTextComesBackAsItWas(f *testing.F) {
	for _, text := range []string{"", "plain", "a\x00b", "\xff\xfe", mark, mark + "--", mark + "00", "\x00" + mark + "\xc3(", "ü" + mark} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stored := kept(text)
		require.True(t, utf8.ValidString(stored) && strings.IndexByte(stored, 0) < 0, "PostgreSQL takes it")
		back, err := plain(stored)
		require.NoError(t, err)
		require.Equal(t, text, back)

		cut := []rune(stored)
		for n := range cut {
			_, err := plain(string(cut[:n]))
			require.NoError(t, err, "a statement gives the first %d characters", n)
		}
	})
}
