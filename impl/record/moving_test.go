package record

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMoving_IsListedInThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/record.md")
	require.NoError(t, err)
	for _, name := range slices.Concat(moving, movingNumbers, priceLists, movingHeaders) {
		require.Contains(t, string(page), "`"+name+"`")
	}
	for _, end := range priceEnds {
		require.Contains(t, strings.ToLower(string(page)), "`"+end+"`")
	}
}

func TestPairs_TranslateWhatStandsByItself(t *testing.T) {
	t.Parallel()
	p := newPairs()
	require.True(t, p.learn("abcdefgh1", "zyxwvuts2"))
	require.True(t, p.learn("abcdefgh1", "zyxwvuts2"))
	require.False(t, p.learn("abcdefgh1", "other"), "it has a name")
	require.False(t, p.learn("another", "zyxwvuts2"), "that is the name of something else")
	require.True(t, p.learn("one-two", "three"))
	require.True(t, p.learn("cur/sor==", "oth/er"))
	for text, want := range map[string]string{
		"":                              "",
		"abcdefgh1":                     "zyxwvuts2",
		"/v2/pods/abcdefgh1/logs?a=b":   "/v2/pods/zyxwvuts2/logs?a=b",
		"https://abcdefgh1-8888.x.y/":   "https://zyxwvuts2-8888.x.y/",
		"pod-abcdefgh1-one-two-x":       "pod-zyxwvuts2-three-x",
		"xabcdefgh1 abcdefgh12 one two": "xabcdefgh1 abcdefgh12 one two",
		"cur/sor==":                     "oth/er",
		"ä abcdefgh1 ö":                 "ä zyxwvuts2 ö",
	} {
		require.Equal(t, want, p.translate(text), text)
	}
}
