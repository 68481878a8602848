package validate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/validate"
)

// any scans a text as one value of any kind.
func scanAny(text string) (string, error) {
	s := validate.NewScanner([]byte(text))
	raw := s.Any()
	_, err := s.Finish()
	return string(raw), err
}

func TestScanner_RefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, ` `, `{`, `}`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":}`, `[1 2]`, `01`, `-`, `1.`, `1e`, `+1`, `.5`, `tru`, `nul`, `"`,
		"\"\n\"", `"\x"`, `"\u12"`, `"\ud800"`, `"\ud800\u0041"`, `"\udc00"`, "\"\xff\"", `1 2`, `{} x`, `[1`, `{"a":1`, `'a'`,
		strings.Repeat("[", 513) + strings.Repeat("]", 513),
	} {
		_, err := scanAny(text)
		require.Error(t, err, text)
	}
}

func TestScanner_CarriesAValueAsItStands(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a": [1, 2.50, -0.1e+3], "b":{"c":null}}`, `"\ud83d\ude00\n"`, `[]`, `{}`, `9007199254740993`, `true`} {
		raw, err := scanAny("  " + text + "\n")
		require.NoError(t, err, text)
		require.Equal(t, text, raw)
	}
}

func FuzzAnyAcceptsWhatIsJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,2]}`, `"é"`, `[1,]`, `"\ud800"`, `1e5`, "\"\xff\"", `[[[]]]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := scanAny(text)
		if err == nil {
			require.True(t, json.Valid([]byte(text)))
			require.True(t, utf8.ValidString(text))
			return
		}

		// It refuses more than encoding/json: lone surrogates and deep nesting, besides bytes that are not UTF-8.
		if json.Valid([]byte(text)) && utf8.ValidString(text) {
			require.True(t, strings.Contains(text, `\u`) || strings.Count(text, "[")+strings.Count(text, "{") > 512, text)
		}
	})
}

func TestParams_AreStrict(t *testing.T) {
	t.Parallel()
	params := []validate.Param{
		{In: "path", Name: "id", Required: true, Text: &validate.Text{Min: 1}},
		{In: "query", Name: "wait", Kind: validate.IntegerParam, Integer: &validate.Integer{Min: 1000, Max: 300000}},
		{In: "query", Name: "flag", Kind: validate.BooleanParam},
	}

	check := func(query string, open bool) []string {
		var lines []string
		for _, v := range validate.Params(params, open, func(string) string { return "x" }, query, nil) {
			lines = append(lines, v.String())
		}
		return lines
	}

	require.Empty(t, check("wait=1000&flag=true", false))
	require.Empty(t, check("", false))
	require.Empty(t, check("other=1", true))
	for query, want := range map[string]string{
		"wait=999":                    "query.wait: must be >= 1000",
		"wait=300001":                 "query.wait: must be <= 300000",
		"wait=+1000":                  "query.wait: must be an integer",
		"wait=01000":                  "query.wait: must be an integer",
		"wait=1e4":                    "query.wait: must be an integer",
		"wait=":                       "query.wait: must be an integer",
		"wait=1000&wait=1000":         "query.wait: must be given once",
		"wait=1000000000000000000000": "query.wait: must be <= 300000",
		"flag=1":                      "query.flag: must be true or false",
		"other=1&other=2":             "query.other: is not a known parameter",
		"a%zz=1":                      "query.a%zz: has a % without two hexadecimal digits after it",
		"other=%zz":                   "query.other: has a % without two hexadecimal digits after it",
		"wait=1000%":                  "query.wait: has a % without two hexadecimal digits after it",
		"wait=1000;flag=true":         "query.wait: has a ; that is not written as %3B",
	} {
		require.Equal(t, []string{want}, check(query, false), query)
	}
}

func TestScanner_StringDoesNotKeepALongDocument(t *testing.T) {
	t.Parallel()
	for size, shared := range map[int]bool{100: true, 1 << 20: false} {
		document := []byte(`"short"` + strings.Repeat(" ", size))
		s := validate.NewScanner(document)
		text, ok := s.String(nil)
		require.True(t, ok)
		require.Equal(t, "short", text)
		require.Equal(t, shared, unsafe.StringData(text) == &document[1])
	}
}

func TestScanner_NamesAnEmptyDocument(t *testing.T) {
	t.Parallel()
	for _, document := range [][]byte{nil, {}} {
		s := validate.NewScanner(document)
		s.Object()
		violations, err := s.Finish()
		require.EqualError(t, err, "it is empty")
		require.Empty(t, violations)
	}
}

func TestParams_UnknownOnesAreBounded(t *testing.T) {
	t.Parallel()
	var query strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&query, "a%d=1&", i)
	}
	require.Len(t, validate.Params(nil, false, nil, query.String(), nil), 100)
}
