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

// What is beside a text is found as the parser finds it: where a text begins is where the one before ended.
func TestWithoutSurrogates_FindsWhereTextsBegin(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{a(b:"""""",c:"\ud83d\ude00")}`:                     `{a(b:"""""",c:"😀")}`,
		`{a(b:"""x""",c:"\ud83d\ude00")}`:                    `{a(b:"""x""",c:"😀")}`,
		`{a(b:"""x"""",c:"\ud83d\ude00")}`:                   `{a(b:"""x"""",c:"😀")}`,
		`{a(b:"""\""" "\ud83d\ude00" """,c:"\ud83d\ude00")}`: `{a(b:"""\""" "\ud83d\ude00" """,c:"😀")}`,
		`{a(b:"""\"""""",c:"\ud83d\ude00")}`:                 `{a(b:"""\"""""",c:"😀")}`,
		`{a(b:"",c:"",d:"\ud83d\ude00")}`:                    `{a(b:"",c:"",d:"😀")}`,
		`{a(b:"\\",c:"\ud83d\ude00")}`:                       `{a(b:"\\",c:"😀")}`,
		`{a(b:"\"",c:"\ud83d\ude00")}`:                       `{a(b:"\"",c:"😀")}`,
		"# \"\n{a(b:\"\\ud83d\\ude00\")}":                    "# \"\n{a(b:\"😀\")}",
		"{a # \"\r(b:\"\\ud83d\\ude00\")}":                   "{a # \"\r(b:\"😀\")}",
		`{a(b:"#",c:"\ud83d\ude00")}`:                        `{a(b:"#",c:"😀")}`,
		`"\ud83d\ude00"`:                                     `"😀"`,
	} {
		got, err := withoutSurrogates(document)
		require.NoError(t, err, document)
		require.Equal(t, want, got)
	}
}

func TestWithoutSurrogates_KnowsEachFormOfAnEscape(t *testing.T) {
	t.Parallel()
	for escape, want := range map[string]string{
		`\u{20}`: ` `, `\u{1F}`: `\u001f`, `\u{0}`: `\u0000`, `\u{21}`: `!`, `\u{0001F600}`: `😀`, `\u{1f600}`: `😀`, `\u{10FFFF}`: "\U0010FFFF", `\u{22}\u{5C}`: `\u0022\u005c`,
		`\ud83d\ude00\ud83d\ude00`: `😀😀`, `a\ud83d\ude00b`: `a😀b`, `\ud83d\ude00\n`: `😀\n`, `\u0041`: `\u0041`, `\u{41}\u0041`: `A\u0041`,
		`\u{00001F600}`: `\u{00001F600}`, `\u{110000}`: `\u{110000}`, `\u{x}`: `\u{x}`, `\u{}`: `\u{}`, `\u{41`: `\u{41`, `\uZZZZ`: `\uZZZZ`, `\u004`: `\u004`, // the parser refuses these
	} {
		got, err := withoutSurrogates(`{a(b:"` + escape + `")}`)
		require.NoError(t, err, escape)
		require.Equal(t, `{a(b:"`+want+`")}`, got)
	}
	for _, half := range []string{`\ud83d\u{de00}`, `\u{d83d}\ude00`, `\ud83d\ud83d\ude00`, `\ud83d`, `\ud83d\\`, `\u{d83d}`} {
		_, err := withoutSurrogates(`{a(b:"` + half + `")}`)
		require.ErrorContains(t, err, "half a pair of surrogates", half)
	}
}
