package graphql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutSurrogates_ChangesTextsAlone(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{a(b:"\ud83d\ude00")}`:                   `{a(b:"😀")}`,
		`{a(b:"\\ud83d \" \uD83D\uDE00 \u00e9")}`: `{a(b:"\\ud83d \" 😀 \u00e9")}`,
		`{a(b:"\u{1F600}\u{22}\u{5c}\u{A}")}`:     `{a(b:"😀\u0022\u005c\u000a")}`,
		"# \\ud83d \"\n{a}":                       "# \\ud83d \"\n{a}",
		`{a(b:"""\ud83d \""" \ud83d""")}`:         `{a(b:"""\ud83d \""" \ud83d""")}`,
		`{a(b:"",c:"\ud83d\ude00")}`:              `{a(b:"",c:"😀")}`,
		`{a(b:"\u12")}`:                           `{a(b:"\u12")}`,
		`{a(b:"\ud83d`:                            `{a(b:"\ud83d`,
		"{a(b:\"\\ud83d\n\")}":                    "{a(b:\"\\ud83d\n\")}",
		`{a(b:"""\ud83d`:                          `{a(b:"""\ud83d`,
		`{a} # \ud83d`:                            `{a} # \ud83d`,
		`{a(b:"\`:                                 `{a(b:"\`,
	} {
		got, err := withoutSurrogates(document)
		require.NoError(t, err, document)
		require.Equal(t, want, got)
	}

	for _, half := range []string{`\ud83d`, `\ude00`, `\ude00\ud83d`, `\ud83dx`, `\ud83d\u0041`, `\ud83d\n`, `\u{d83d}\u{de00}`} {
		_, err := withoutSurrogates(`{a(b:"` + half + `")}`)
		require.Error(t, err, half)
	}
}
