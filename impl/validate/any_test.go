package validate_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/validate"
)

func TestCheck_FindsMembersThatAppearTwice(t *testing.T) {
	t.Parallel()
	for text, places := range map[string][]string{
		`{"a":1,"b":{"a":[{"c":1},{"c":2}]}}`: nil,
		`7`:                                   nil,
		`{"a":1,"a":2}`:                       {"/a"},
		`{"a":[0,{"b":1,"c":{},"b":2,"\u0062":3}]}`: {"/a/1/b", "/a/1/b"},
		`{"a/b":{"~":1,"~":2}}`:                     {"/a~1b/~0"},
	} {
		violations, err := validate.Check([]byte(text), 100)
		require.NoError(t, err, text)
		require.Len(t, violations, len(places), text)
		for i, v := range violations {
			require.Equal(t, validate.Violation{Where: places[i], Message: "appears twice"}, v)
		}
	}

	for _, text := range []string{``, `{"a":}`, `{"a":1}{}`, "{\"\xff\":1}", strings.Repeat("[", 513)} {
		_, err := validate.Check([]byte(text), 1000)
		require.Error(t, err, text)
		require.NotErrorIs(t, err, validate.ErrValues)
	}
}

func TestCheck_BoundsTheNumberOfValues(t *testing.T) {
	t.Parallel()
	_, err := validate.Check([]byte(`{"a":[1,2,3]}`), 5)
	require.NoError(t, err)
	for _, text := range []string{`{"a":[1,2,3,4]}`, `[[],[],[],[],[]]`, `{"a":{},"b":{},"c":{},"d":{},"e":{}}`} {
		_, err = validate.Check([]byte(text), 5)
		require.ErrorIs(t, err, validate.ErrValues, text)
	}
}

// A megabyte once took 27 GB: a path for each of many members below a long name.
func TestCheck_MembersBelowALongNameTakeLittleMemory(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"` + strings.Repeat("n", 500_000) + `":{"a":0`)
	for i := range 55_000 {
		text.WriteString(`,"` + letters(i) + `":0`)
	}
	text.WriteString(`}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := validate.Check([]byte(text.String()), 100_000)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50<<20), "bytes")
}

// letters gives a name of letters for a number.
func letters(n int) string {
	name := ""
	for n += 100; n > 0; n /= 26 {
		name += string(rune('b' + n%26))
	}
	return name
}
