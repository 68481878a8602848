package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// loaded gives the editions of the small document asked, with overlays by the names of their files.
func loaded(t *testing.T, overlays map[string]string) ([]edition, error) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "editions"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "asked.yaml"), []byte(asked), 0o600))
	for name, text := range overlays {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "editions", name+".overlay.yaml"), []byte(text), 0o600))
	}
	return loadEditions(filepath.Join(dir, "asked.yaml"), filepath.Join(dir, "editions"))
}

func overlayOf(version, extends, actions string) string {
	return "overlay: 1.0.0\ninfo: {title: t, version: " + version + "}\nextends: ../" + extends + "\nactions:\n" + actions
}

// An edition that an overlay makes of another document has this one as it is.
func TestEdition_HasADocumentAsItIsWithoutAnOverlayForIt(t *testing.T) {
	t.Parallel()
	const short = "  - target: $.components.parameters.Id.schema\n    update: {maxLength: 7}\n"
	editions, err := loaded(t, map[string]string{
		"1": overlayOf("'1'", "other.yaml", short), // the version of the document itself
		"b": overlayOf("b", "other.yaml", short), "c": overlayOf("c", "asked.yaml", short),
		"d.asked": overlayOf("d", "asked.yaml", short), "d.other": overlayOf("d", "other.yaml", short),
		"e.asked": overlayOf("e", "other.yaml", short), "e.other": overlayOf("e", "asked.yaml", short),
	})
	require.NoError(t, err)
	var names, own []string
	for _, e := range editions {
		names = append(names, e.name)
		if e.document != editions[0].document {
			own = append(own, e.name)
		}
	}
	require.Equal(t, []string{"1", "b", "c", "d", "e"}, names)
	require.Equal(t, []string{"c", "d", "e"}, own)

	code, err := generate(editions[:3], models{"trace": {name: "Trace"}}, "x", "asked.yaml")
	require.NoError(t, err)
	require.Contains(t, string(code), "var Editions = []validate.Edition{\n\t{Name: \"1\", Alias: \"\", Ops: Ops},\n\t{Name: \"b\", Alias: \"\", Ops: Ops},\n\t{Name: \"c\", Alias: \"\", Ops: OpsC},\n}\n")
	require.NotContains(t, string(code), "OpsB")

	code, err = generate(editions[:2], models{"trace": {name: "Trace"}}, "x", "asked.yaml")
	require.NoError(t, err)
	require.Contains(t, string(code), "var Editions = ")
	code, err = generate(editions[:1], models{"trace": {name: "Trace"}}, "x", "asked.yaml")
	require.NoError(t, err)
	require.NotContains(t, string(code), "var Editions = ")
}

func TestEdition_OfOneDocumentIsMadeByOneOverlay(t *testing.T) {
	t.Parallel()
	const changed = "  - target: $.info\n    update: {description: d}\n"
	_, err := loaded(t, map[string]string{"b.one": overlayOf("b", "asked.yaml", changed), "b.two": overlayOf("b", "asked.yaml", changed)})
	require.ErrorContains(t, err, "b.two.overlay.yaml:3: #: ")
	require.ErrorContains(t, err, "b.one.overlay.yaml makes the edition of this document already")
}

func TestEditions_HaveVersionsThatTellThemApart(t *testing.T) {
	t.Parallel()
	const changed = "  - target: $.info\n    update: {description: d}\n"
	_, err := loaded(t, map[string]string{"1": overlayOf("'1'", "asked.yaml", changed)})
	require.ErrorContains(t, err, `/1.overlay.yaml:2: #/info: the version "1" is that of `)
	_, err = loaded(t, map[string]string{"a-b": overlayOf("a-b", "asked.yaml", changed), "a.b": overlayOf("a.b", "asked.yaml", changed)})
	require.ErrorContains(t, err, `/a.b.overlay.yaml:2: #/info: the version "a.b" makes the Go name AB, and so does another one`)
	_, err = loaded(t, map[string]string{"--": overlayOf("'--'", "asked.yaml", changed)})
	require.ErrorContains(t, err, `/--.overlay.yaml:2: #/info: the version "--" has no letter and no digit, of which Go names are made`)
}

// An edition has the other name that any of its files gives it, and a name leads to one edition.
func TestEditions_HaveOtherNamesThatTellThemApart(t *testing.T) {
	t.Parallel()
	const changed = "  - target: $.info\n    update: {description: d}\n"
	named := func(version, alias, extends string) string {
		return "x-alias: " + alias + "\n" + overlayOf(version, extends, changed)
	}
	for name, c := range map[string]struct {
		overlays map[string]string
		want     string // the end of the error; "": the edition c has the other name z
	}{
		"in its first file":      {map[string]string{"c.a": named("c", "z", "asked.yaml"), "c.b": overlayOf("c", "other.yaml", changed)}, ""},
		"in its second file":     {map[string]string{"c.a": overlayOf("c", "asked.yaml", changed), "c.b": named("c", "z", "other.yaml")}, ""},
		"in both":                {map[string]string{"c.a": named("c", "z", "asked.yaml"), "c.b": named("c", "z", "other.yaml")}, ""},
		"two":                    {map[string]string{"c.a": named("c", "z", "other.yaml"), "c.b": named("c", "y", "asked.yaml")}, `/c.b.overlay.yaml:1: #/x-alias: the edition c has the other name "z" already`},
		"one of two":             {map[string]string{"b": named("b", "z", "asked.yaml"), "c": named("c", "z", "asked.yaml")}, `/b.overlay.yaml:1: #/x-alias: "z" is a name of the edition c`},
		"of another's file":      {map[string]string{"b": named("b", "z", "asked.yaml"), "c.a": overlayOf("c", "asked.yaml", changed), "c.b": named("c", "z", "other.yaml")}, `/b.overlay.yaml:1: #/x-alias: "z" is a name of the edition c`},
		"the name of another":    {map[string]string{"b": overlayOf("b", "asked.yaml", changed), "c": named("c", "b", "asked.yaml")}, `/c.overlay.yaml:1: #/x-alias: "b" is a name of the edition b`},
		"the name of a later":    {map[string]string{"b": named("b", "c", "asked.yaml"), "c": overlayOf("c", "asked.yaml", changed)}, `/b.overlay.yaml:1: #/x-alias: "c" is a name of the edition c`},
		"that of the document":   {map[string]string{"c": named("c", "'1'", "asked.yaml")}, `/c.overlay.yaml:1: #/x-alias: "1" is a name of the edition 1`},
		"for another document":   {map[string]string{"c": named("c", "z", "other.yaml")}, ""},
		"of none, beside others": {map[string]string{"a": overlayOf("a", "asked.yaml", changed), "b": overlayOf("b", "asked.yaml", changed), "c": named("c", "z", "asked.yaml")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			editions, err := loaded(t, c.overlays)
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "z", editions[len(editions)-1].alias)
		})
	}
}

// Which editions have a parameter of the query is said once, in the order of the parameters' names.
func TestEdition_NamesEveryEditionThatHasAParameter(t *testing.T) {
	t.Parallel()
	const list, page, kind = "$.paths['/things'].get", "{$ref: '#/components/parameters/Page'}", "{name: kind, in: query, schema: {type: string}}"
	const trace = "{name: X-Kind, in: header, schema: {type: string}}"
	code, err := generate(askedIn(t, updates(list, "{parameters: ["+trace+", "+page+", "+kind+"]}"), updates(list, "{parameters: ["+page+"]}")),
		models{"trace": {name: "Trace"}}, "x", "asked.yaml")
	require.NoError(t, err)
	require.Contains(t, string(code), "var othersOfListThings = validate.Elsewhere{\n\t\"kind\": {\"b\"},\n\t\"page\": {\"b\", \"c\"},\n}\n")
	require.Contains(t, string(code), "var othersOfListThingsC = validate.Elsewhere{\n\t\"kind\": {\"b\"},\n}\n")
	require.NotContains(t, string(code), "othersOfListThingsB")
}

// Which editions have a value of a parameter is said wherever they have the parameter.
func TestEdition_NamesEveryEditionThatHasAValueOfAParameter(t *testing.T) {
	t.Parallel()
	const list, id, first = "$.paths['/things'].get", "$.components.parameters.Id.schema", "{name: a, in: query, schema: {type: string}}"
	kind := func(values string) string {
		return "{name: kind, in: query, schema: {type: string, enum: " + values + "}}"
	}
	kinds := func(values string) string {
		return "{name: kinds, in: query, schema: {type: array, items: {type: string, enum: " + values + "}}}"
	}
	code, err := generate(askedIn(t,
		updates(list, "{parameters: ["+kind("[one]")+", "+kinds("[one]")+"]}")+updates(id, "{enum: [one]}"),
		updates(list, "{parameters: ["+first+", "+kind("[one, two]")+", "+kinds("[one, three]")+"]}")+updates(id, "{enum: [one, four]}"),
	), models{"trace": {name: "Trace"}}, "x", "asked.yaml")
	require.NoError(t, err)
	for _, value := range []string{"two", "three", "four"} {
		require.Contains(t, string(code), `Enum: []string{"one"}, Elsewhere: validate.Elsewhere{"`+value+`": {"c"}}`)
	}
	require.NotContains(t, string(code), `Elsewhere: validate.Elsewhere{"one"`)
}

func TestEditions_AreReadFromTheDirectoryAlone(t *testing.T) {
	t.Chdir("testdata/editions/editions")
	editions, err := loadEditions("../things.yaml", "")
	require.NoError(t, err)
	require.Len(t, editions, 1)
}

func TestEditions_NameWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	odd := filepath.Join(t.TempDir(), "[")
	require.NoError(t, os.Mkdir(odd, 0o700))
	_, err := readOverlays(odd)
	require.ErrorIs(t, err, filepath.ErrBadPattern)
	require.ErrorIs(t, checkEditions(odd, nil, nil), filepath.ErrBadPattern)
	_, err = readOverlays(filepath.Join(odd, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)

	_, err = loaded(t, map[string]string{"b": "overlay: ["})
	require.ErrorContains(t, err, "b.overlay.yaml: yaml: ")
	_, err = loaded(t, map[string]string{"b": ""})
	require.ErrorContains(t, err, "b.overlay.yaml: it is empty")

	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "b.overlay.yaml"), 0o700))
	var failed *fs.PathError
	_, err = readOverlays(dir)
	require.ErrorAs(t, err, &failed)
	require.ErrorAs(t, checkEditions(dir, nil, nil), &failed)
}
