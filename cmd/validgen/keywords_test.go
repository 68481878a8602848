package main

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/cmd/validgen/testdata/keywords"
	"github.com/berthdev/berth/impl/validate"
)

func lines(violations validate.Violations) []string {
	text := []string{}
	for _, v := range violations {
		text = append(text, v.String())
	}
	return text
}

// TestKeywords_EachIsCheckedAndItsFaultNamed adds one member to a valid thing: the first texts are accepted, the other one
// refused with the fault that stands after it.
func TestKeywords_EachIsCheckedAndItsFaultNamed(t *testing.T) {
	t.Parallel()
	for member, c := range map[string]struct {
		good   []string
		faults map[string]string
	}{
		"version":  {[]string{`"v1"`}, map[string]string{`"v2"`: "/version: must be v1", `1`: "/version: must be a string"}},
		"revision": {[]string{`7`, `7.0`}, map[string]string{`8`: "/revision: must be 7", `7.5`: "/revision: must be an integer", `"7"`: "/revision: must be an integer"}},
		"agreed":   {[]string{`true`}, map[string]string{`false`: "/agreed: must be true", `1`: "/agreed: must be a boolean"}},
		"ratio":    {[]string{`0.5`, `5e-1`, `0.50`}, map[string]string{`0.50000000000000000001`: "/ratio: must be 0.5"}},
		"step":     {[]string{`0.1`, `1.0`, `25e-1`}, map[string]string{`0.2`: "/step: must be one of 0.1, 1, 2.50"}},
		"power":    {[]string{`2`}, map[string]string{`3`: "/power: must be one of 1, 2, 4"}},
		"exact": {[]string{`0.1`, `100`, `1e2`}, map[string]string{
			`0.09999999999999999999999`: "/exact: must be >= 0.1", `100.00000000000000000001`: "/exact: must be <= 100", `1e400`: "/exact: must be a number of 64 bits",
			`true`: "/exact: must be a number",
		}},
		"open": {[]string{`0.10000000000000000001`, `99.9999999999999999999`}, map[string]string{`0.1`: "/open: must be > 0.1", `100`: "/open: must be < 1e2"}},
		"whole": {[]string{`9007199254740993`, `-9007199254740993`, `1e2`, `5.0`, `-0.0`, `9007199254740993.0`}, map[string]string{
			`9007199254740994`: "/whole: must be <= 9007199254740993", `-9007199254740994`: "/whole: must be >= -9007199254740993",
			`99999999999999999999`: "/whole: must be <= 9007199254740993", `1e-2`: "/whole: must be an integer", `1e400`: "/whole: must be <= 9007199254740993",
		}},
		"inside": {[]string{`1`, `9`}, map[string]string{`0`: "/inside: must be >= 1", `10`: "/inside: must be <= 9"}},
		"code":   {[]string{`"AB-1"`, `"AB-123"`}, map[string]string{`"AB-"`: `/code: must match ^[A-Z]{2}-\d+$`, `"ÄB-1"`: `/code: must match ^[A-Z]{2}-\d+$`}},
		"loose":  {[]string{`"xxabcxx"`, `"aéc"`}, map[string]string{`"ac"`: "/loose: must match a.c"}},
		"word":   {[]string{`"it is ok."`}, map[string]string{`"look"`: `/word: must match \bok\b`}},
		"at": {[]string{`"2024-02-29T23:59:59Z"`, `"2024-01-01T00:00:00.5+01:00"`}, map[string]string{
			`"2023-02-29T00:00:00Z"`: "/at: must be an RFC 3339 date-time", `"2024-01-01"`: "/at: must be an RFC 3339 date-time", `"2024-01-01T1:00:00Z"`: "/at: must be an RFC 3339 date-time", `"2024-01-01T01:00:00,5Z"`: "/at: must be an RFC 3339 date-time", `"2024-01-01T01:00:00.Z"`: "/at: must be an RFC 3339 date-time", `"2024-01-01T01:00:00+24:00"`: "/at: must be an RFC 3339 date-time",
		}},
		"link":   {[]string{`"https://example.org/a?b#c"`, `"urn:x:y"`}, map[string]string{`"/a"`: "/link: must be an absolute URI", `"http://a b"`: "/link: must be an absolute URI"}},
		"tags":   {[]string{`["a","b"]`, `["ééé"]`}, map[string]string{`[]`: "/tags: must have at least 1 item", `["a","b","c","d"]`: "/tags: must have at most 3 items", `["a","b","a"]`: "/tags: must have unique items", `["éééé"]`: "/tags/0: must have at most 3 characters", `{}`: "/tags: must be an array"}},
		"counts": {[]string{`[]`, `[1,0]`}, map[string]string{`[2,2]`: "/counts: must have unique items", `["x"]`: "/counts/0: must be an integer", `[0,-1]`: "/counts/1: must be >= 0"}},
		"flags":  {[]string{`[true,false]`}, map[string]string{`[true,true]`: "/flags: must have unique items"}},
		"grid":   {[]string{`[]`, `[[],[1,2.5]]`}, map[string]string{`[[1,2,3]]`: "/grid/0: must have at most 2 items", `[[1,"2"]]`: "/grid/0/1: must be a number"}},
		"labels": {[]string{`{}`, `{"a/b~c":"x"}`}, map[string]string{`{"a":"1","b":"1","c":"1","d":"1"}`: "/labels: must have at most 3 members", `{"a/b~c":""}`: "/labels/a~1b~0c: must have at least 1 character", `{"a":"1","a":"2"}`: "/labels/a: appears twice"}},
		"limits": {[]string{`{"a":0}`}, map[string]string{`{}`: "/limits: must have at least 1 member", `{"a":-1}`: "/limits/a: must be >= 0"}},
		"parts":  {[]string{`{"a":{"id":1,"more":[]}}`}, map[string]string{`{"a":{"id":0}}`: "/parts/a/id: must be >= 1", `{"a":{}}`: "/parts/a/id: is required", `{"a":{"id":1,"parts":[{"id":2},{"id":0}]}}`: "/parts/a/parts/1/id: must be >= 1"}},
		"note":   {[]string{`null`, `"x"`}, map[string]string{`""`: "/note: must have at least 1 character", `0`: "/note: must be a string"}},
		"mood":   {[]string{`null`, `"good"`}, map[string]string{`"ugly"`: "/mood: must be one of good, bad"}},
		"level":  {[]string{`1`}, map[string]string{`null`: "/level: must not be null", `3`: "/level: must be one of 1, 2"}},
		"due":    {[]string{`null`, `"2024-02-29T23:59:59Z"`}, map[string]string{`"soon"`: "/due: must be an RFC 3339 date-time"}},
		"maybe":  {[]string{`null`, `{"id":1}`}, map[string]string{`{"id":"1"}`: "/maybe/id: must be an integer", `[]`: "/maybe: must be an object"}},
		"spots":  {[]string{`[1,null]`}, map[string]string{`[1,"x"]`: "/spots/1: must be an integer"}},
		"blank":  {[]string{`null`, `["x"]`}, map[string]string{`[1]`: "/blank/0: must be a string"}},
		"shape": {[]string{`{"kind":"circle","radius":1}`, `{"inside":{"radius":2.5,"kind":"circle"},"side":1,"kind":"square"}`}, map[string]string{
			`{"kind":"circle","side":1,"radius":1}`: "/shape/side: is not a known member",
			`{"kind":"circle","radius":0}`:          "/shape/radius: must be > 0",
			`{"kind":"circle"}`:                     "/shape/radius: is required",
			`{"kind":"star"}`:                       "/shape/kind: must be one of circle, square",
			`{"kind":5}`:                            "/shape/kind: must be one of circle, square",
			`{"radius":1}`:                          "/shape/kind: is required",
			`[]`:                                    "/shape: must be an object",
			`{"kind":"circle","radius":1,"kind":"square"}`:                      "/shape/kind: appears twice",
			`{"kind":"square","side":1,"inside":{"kind":"circle","radius":-1}}`: "/shape/inside/radius: must be > 0",
		}},
		"shapes":   {[]string{`[{"kind":"circle","radius":1}]`}, map[string]string{`[{"kind":"x"}]`: "/shapes/0/kind: must be one of circle, square"}},
		"carried":  {[]string{`null`, `[1,{"a":1}]`}, nil},
		"document": {[]string{`{"a":[1]}`}, map[string]string{`[]`: "/document: must be an object"}},
		"user":     {[]string{`"u","password":"p"`}, map[string]string{`"u"`: "/password: is required"}},
		"token":    {[]string{`"t","user":"u","realm":"r","password":"p"`}, map[string]string{`"t","user":"u","password":"p"`: "/realm: is required"}},
		"other":    {nil, map[string]string{`1`: "/other: is not a known member"}},
		"color":    {nil, map[string]string{`"red"`: "/color: appears twice"}},
	} {
		decode := func(value string) ([]string, error) {
			_, violations, err := keywords.Ops["makeThing"].Decode([]byte(`{"name":"ab","color":"red","` + member + `":` + value + `}`))
			return lines(violations), err
		}
		for _, value := range c.good {
			faults, err := decode(value)
			require.NoError(t, err)
			require.Empty(t, faults, "%s: %s", member, value)
		}

		for value, want := range c.faults {
			faults, err := decode(value)
			require.NoError(t, err)
			require.Equal(t, []string{want}, faults, "%s: %s", member, value)
		}
	}
}

func TestKeywords_FaultsComeInTheOrderOfTheDocument(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{}`: {": must have at least 2 members", "/name: is required", "/color: is required"},
		`[]`: {": must be an object"},
		`{"name":"a","color":"bleu","token":"t","spots":[true,1,"x"]}`: {
			"/name: must have at least 2 characters", "/color: must be one of red, green, bleu clair, 3", "/spots/0: must be an integer", "/spots/2: must be an integer",
			"/user: is required", "/realm: is required",
		},
		`{"name":"😀😀😀😀😀😀","color":"red"}`: {"/name: must have at most 5 characters"},
	} {
		_, violations, err := keywords.Ops["makeThing"].Decode([]byte(text))
		require.NoError(t, err)
		require.Equal(t, want, lines(violations), text)
	}
}

func TestKeywords_ModelHasWhatTheBodySays(t *testing.T) {
	t.Parallel()
	model, violations, err := keywords.Ops["makeThing"].Decode([]byte(`{"name":"ab","color":"red","at":"2024-02-29T23:59:59Z","note":null,` +
		`"shape":{"kind":"circle","radius":2},"agreed":true,"step":0.1,"labels":{"a":"b"},"part":{"id":1,"parts":[{"id":2}]}}`))
	require.NoError(t, err)
	require.Empty(t, violations)

	thing := model.(*keywords.Thing)
	require.Equal(t, time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC), *thing.At)
	require.True(t, thing.Note.IsNull())
	require.Equal(t, keywords.Labels{"a": "b"}, *thing.Labels)
	require.Equal(t, []keywords.Part{{ID: 2}}, thing.Part.Parts)

	circle, err := thing.Shape.ValueByDiscriminator()
	require.NoError(t, err)
	require.Equal(t, keywords.Circle{Kind: keywords.CircleKindCircle, Radius: 2}, circle)
}

func TestKeywords_BodyMayBeMapArrayOrUnion(t *testing.T) {
	t.Parallel()
	for id, c := range map[string]struct{ good, bad, fault string }{
		"makeLabels": {`{"a":"b"}`, `{"a":1}`, "/a: must be a string"},
		"makeRows":   {`[{"id":1}]`, `[{"id":1},{}]`, "/1/id: is required"},
		"makeShape":  {`{"kind":"circle","radius":1}`, `{"kind":"circle","radius":0}`, "/radius: must be > 0"},
	} {
		_, violations, err := keywords.Ops[id].Decode([]byte(c.good))
		require.NoError(t, err)
		require.Empty(t, violations)
		_, violations, err = keywords.Ops[id].Decode([]byte(c.bad))
		require.NoError(t, err)
		require.Equal(t, []string{c.fault}, lines(violations))
	}
}

func TestKeywords_ParametersAreCheckedLikeBodies(t *testing.T) {
	t.Parallel()
	check := func(kind, number, query string, header map[string][]string) []string {
		path := map[string]string{"kind": kind, "number": number}
		return lines(keywords.Ops["makeThing"].Params(func(name string) string { return path[name] }, query, func(name string) []string { return header[name] }))
	}
	require.Empty(t, check("red", "9", "limit=100&price=0.1&deep=false&sure=true&since="+url.QueryEscape("2024-01-01T00:00:00+01:00")+"&colors=red&colors=green&sizes=1&sizes=1&labels=red,green", map[string][]string{
		"X-Callback": {"https://example.org/"}, "X-Trace": {"beef"},
	}))

	require.Equal(t, []string{
		"path.kind: must be one of red, green, bleu clair, 3", "path.number: must be <= 9", "query.limit: must be <= 100", "query.price: must be >= 0.1",
		"query.deep: must be true or false", "query.sure: must be true", "query.since: must be an RFC 3339 date-time", "query.colors: must have unique items", "query.sizes: must be an integer", "query.labels: must be one of red, green, bleu clair, 3",
		"header.X-Callback: must be an absolute URI", "header.X-Trace: must match ^[0-9a-f]{4}$",
	}, check("blue", "10", "limit=101&price=0.09999999999999999999&deep=1&sure=false&since=now&colors=red&colors=red&sizes=1&sizes=x&labels=red,blue", map[string][]string{
		"X-Callback": {"here"}, "X-Trace": {"beefs"},
	}))

	require.Equal(t, []string{"query.price: must be a number", "query.colors: must have at most 2 items"}, check("red", "1", "price=1.&colors=red&colors=green&colors=3", nil))
	require.Equal(t, []string{"query.labels: must be given once"}, check("red", "1", "labels=red&labels=green", nil))
	require.Equal(t, []string{"query.labels: must have at most 2 items"}, check("red", "1", "labels=red,green%2C3", nil))
	require.Equal(t, []string{"query.labels: must be one of red, green, bleu clair, 3"}, check("red", "1", "labels=", nil))
	require.Equal(t, []string{"path.number: must be an integer", "query.since: must be UTF-8"}, check("red", "", "since=%ff", nil))
}

func TestKeywords_DepthAndFaultsAreBounded(t *testing.T) {
	t.Parallel()
	_, _, err := keywords.Ops["makeThing"].Decode([]byte(`{"part":` + strings.Repeat(`{"inner":`, 600)))
	require.EqualError(t, err, "nested too deeply")
	_, _, err = keywords.Ops["makeShape"].Decode([]byte(strings.Repeat(`{"side":1,"inside":`, 600)))
	require.EqualError(t, err, "nested too deeply")

	deep := strings.Repeat(`{"inner":`, 400) + `{"id":0}` + strings.Repeat(`}`, 400)
	_, violations, err := keywords.Ops["makeThing"].Decode([]byte(`{"part":` + deep + `}`))
	require.NoError(t, err)
	require.Len(t, violations, 100)
	require.Less(t, len(violations[0].Where), 1100)
	require.True(t, strings.HasSuffix(violations[0].Where, "…"))

	_, violations, err = keywords.Ops["makeLabels"].Decode([]byte(`{"` + strings.Repeat("é", 5000) + `":1}`))
	require.NoError(t, err)
	require.Less(t, len(violations[0].Where), 1100)
}

func TestKeywords_IntegersHave64Bits(t *testing.T) {
	t.Parallel()
	for n, want := range map[string][]string{
		strconv.Itoa(math.MaxInt64): {}, "9223372036854775808": {"/0/id: must be an integer of 64 bits"}, "-9223372036854775809": {"/0/id: must be >= 1"},
	} {
		_, violations, err := keywords.Ops["makeRows"].Decode([]byte(`[{"id":` + n + `}]`))
		require.NoError(t, err)
		require.Equal(t, want, lines(violations), n)
	}
}
