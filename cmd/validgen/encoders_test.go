package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answered is a document with answers of every kind.
const answered = `paths:
  /things:
    get:
      operationId: list
      responses:
        '200': {description: d, content: {text/plain: {schema: {$ref: '#/components/schemas/Page'}}, application/json: {schema: {$ref: '#/components/schemas/Absent'}}}}
        '201': {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Names'}}}}
        '202': {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Shape'}}}}
        '203': {description: d, content: {application/json: {schema: {type: object}}}}
        '204': {$ref: '#/components/responses/Tree'}
    put:
      operationId: plant
      responses:
        '200': {description: d, content: {application/problem+json: {schema: {$ref: '#/components/schemas/Tree'}}}}
components:
  responses:
    Tree: {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Tree'}}}}
  schemas:
    Page: {type: object, properties: {a: {type: string}}}
    Absent: {type: object}
    Names: {type: array, items: {type: string}}
    Shape: {oneOf: [{$ref: '#/components/schemas/Tree'}], discriminator: {propertyName: name}}
    Tree: {type: object, required: [name], properties: {name: {type: string}, trees: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
`

// ofAnswers are the models of the document answered. Trees have a color, which is another edition's.
func ofAnswers() models {
	return models{
		"page":  {name: "Page", tags: []modelTag{{"a", "omitempty"}}, fields: map[string]modelField{"a": {"A", "*string"}}},
		"names": {name: "Names", is: "[]string"},
		"shape": {name: "Shape", union: true},
		"tree": {
			name: "Tree", tags: []modelTag{{"color", "omitempty"}, {"name", ""}, {"trees", "omitempty"}},
			fields: map[string]modelField{"color": {"Color", "*string"}, "name": {"Name", "string"}, "trees": {"Trees", "[]Tree"}},
		},
	}
}

// encodedIn writes the encoders of editions of a document, and gives the code and its test.
func encodedIn(t *testing.T, editions []edition, m models) (code, test string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, encoders(editions, m, "x", "spec.yaml", dir))
	for name, text := range map[string]*string{"encode.gen.go": &code, "encode_test.go": &test} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		*text = string(content)
	}
	return code, test
}

func TestEncoders_AreThoseOfAnswersInJSONThatAreStructs(t *testing.T) {
	t.Parallel()
	doc := docOf(t, "spec.yaml", answered)
	require.Equal(t, []string{"Absent", "Names", "Shape", "Tree", "Tree"}, doc.answers())

	code, test := encodedIn(t, []edition{{document: doc}}, ofAnswers())
	require.Equal(t, 1, strings.Count(code, "\nfunc "))
	require.Contains(t, code, "// AppendJSON appends it to dst.\nfunc (v Tree) AppendJSON(dst []byte) []byte {\n")
	require.Contains(t, code, "\t\t\tfor _, v1 := range v.Trees {\n\t\t\t\tdst = v1.AppendJSON(dst)\n")
	require.NotContains(t, code, "color")
	require.Equal(t, 1, strings.Count(test, "encodetest.Check["))
	require.Contains(t, test, "\tothers := []string{\"Tree.Color\"} // that only other editions have\n\tencodetest.Check[Tree](t, others...)\n")
}

// An edition that has the document as it is encodes as the document does; the next one is none the worse for it.
func TestEncoders_AreWrittenOnceForEditionsThatAreAlike(t *testing.T) {
	t.Parallel()
	doc := docOf(t, "spec.yaml", answered)
	colored := docOf(t, "spec.yaml", strings.Replace(answered, "properties: {name:", "properties: {color: {type: string}, name:", 1))
	code, test := encodedIn(t, []edition{{document: doc}, {document: doc, name: "b", suffix: "B"}, {document: colored, name: "c", suffix: "C"}}, ofAnswers())
	require.Contains(t, code, "// appendC appends it to dst, as the edition c has it.\nfunc (v Tree) appendC(dst []byte) []byte {\n\tdst = append(dst, '{')\n\tif v.Color != nil {\n")
	require.Contains(t, code, "func (v Tree) AppendEdition(dst []byte, edition int) []byte {\n\tswitch edition {\n\tcase 2:\n\t\treturn v.appendC(dst)\n\t}\n\treturn v.AppendJSON(dst)\n}\n")
	require.Equal(t, 3, strings.Count(code, "\nfunc "))
	require.Contains(t, test, "Tree.Color")
}

func TestEncoders_StopAtWhatTheyCannotWrite(t *testing.T) {
	t.Parallel()
	doc := []edition{{document: docOf(t, "spec.yaml", answered)}}
	counted := ofAnswers()
	counted["tree"].fields["name"] = modelField{"Name", "int64"}
	counted["tree"].tags[1].omit = "omitempty"
	loose := []edition{{document: docOf(t, "spec.yaml", strings.Replace(answered, "required: [name], ", "", 1))}}
	require.EqualError(t, encoders(loose, counted, "x", "spec.yaml", t.TempDir()), "Tree.Name: omitempty of a int64 is not handled")

	dir := t.TempDir()
	require.NoError(t, encoders(doc, counted, "x", "spec.yaml", dir), "what is required is always there")
	require.ErrorContains(t, encoders(doc, ofAnswers(), "1x", "spec.yaml", dir), "the generated code does not parse: ")
	require.ErrorIs(t, encoders(doc, ofAnswers(), "x", "spec.yaml", filepath.Join(dir, "none")), fs.ErrNotExist)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "usual"), nil, 0o644))
	usual, err := os.Stat(filepath.Join(dir, "usual"))
	require.NoError(t, err)
	for _, name := range []string{"encode.gen.go", "encode_test.go"} {
		written, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, usual.Mode(), written.Mode(), name)
	}
}

// encoderOf gives an encoder of a document without schemas.
func encoderOf(t *testing.T) *encoder {
	return &encoder{
		classes: &classes{[]edition{{document: docOf(t, "spec.yaml", "{}")}}, map[string]string{}}, written: map[string]string{},
		models: models{
			"color": {name: "Color", is: "string"}, "labels": {name: "Labels", is: "map[string]string"}, "other": {name: "Other", is: "Labels"},
			"part": {name: "Part", tags: []modelTag{{"a", ""}}}, "shape": {name: "Shape", union: true},
		},
	}
}

func TestEncoder_LeavesOutWhatEncodingJSONLeavesOut(t *testing.T) {
	t.Parallel()
	e := encoderOf(t)
	for field, want := range map[[2]string]string{
		{"int64", ""}: "", {"*string", ""}: "", {"[]string", ""}: "",
		{"*string", "omitempty"}: "x != nil", {"*string", "omitzero"}: "x != nil",
		{"[]string", "omitempty"}: "len(x) > 0", {"[]string", "omitzero"}: "x != nil",
		{"map[string]int64", "omitempty"}: "len(x) > 0", {"map[string]int64", "omitzero"}: "x != nil",
		{"Other", "omitempty"}: "len(x) > 0", {"Labels", "omitzero"}: "x != nil",
		{"nullable.Nullable[string]", "omitempty"}: "len(x) > 0", {"nullable.Nullable[string]", "omitzero"}: "x != nil",
		{"json.RawMessage", "omitempty"}: "len(x) > 0", {"json.RawMessage", "omitzero"}: "x != nil",
		{"string", "omitempty"}: `x != ""`, {"Color", "omitempty"}: `x != ""`,
	} {
		got, err := e.there("x", field[0], field[1])
		require.NoError(t, err, field)
		require.Equal(t, want, got, field)
	}
	for field, want := range map[[2]string]string{
		{"int64", "omitempty"}:   "omitempty of a int64 is not handled",
		{"string", "omitzero"}:   "omitzero of a string is not handled",
		{"Color", "omitzero"}:    "omitzero of a string is not handled",
		{"bool", "omitempty"}:    "omitempty of a bool is not handled",
		{"Part", "omitempty"}:    "omitempty of a Part is not handled",
		{"[]string", "omitnone"}: "omitnone of a []string is not handled",
	} {
		_, err := e.there("x", field[0], field[1])
		require.EqualError(t, err, want)
	}
}

func TestEncoder_EncodesEachTypeAsEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	const null = " == nil {\ndst = append(dst, \"null\"...)\n} else {\n"
	list := func(of, one, each string) string {
		return "if " + of + null + "dst = append(dst, '[')\nfor _, " + one + " := range " + of + " {\n" + each + "dst = append(dst, ',')\n}\ndst = encode.End(dst, ']')\n}\n"
	}
	pointer := func(of, to string) string { return "if p1 := " + of + "; p1" + null + to + "}\n" }
	entries := func(each string) string {
		return "if x" + null + "dst = append(dst, '{')\nfor _, name := range encode.Names(x) {\nv1 := x[name]\ndst = append(encode.String(dst, name), ':')\n" +
			each + "dst = append(dst, ',')\n}\ndst = encode.End(dst, '}')\n}\n"
	}
	e := encoderOf(t)
	for goType, want := range map[string]string{
		"string":          "dst = encode.String(dst, x)\n",
		"Color":           "dst = encode.String(dst, string(x))\n",
		"int":             "dst = encode.Int(dst, int64(x))\n",
		"int64":           "dst = encode.Int(dst, x)\n",
		"bool":            "dst = encode.Bool(dst, x)\n",
		"float64":         "dst = encode.Float(dst, x)\n",
		"time.Time":       "dst = encode.Time(dst, x)\n",
		"json.RawMessage": "dst = encode.Raw(dst, x)\n",
		"Part":            "dst = x.AppendJSON(dst)\n",
		"part":            "dst = encode.Any(dst, x)\n", // no type of the models is called so
		"Shape":           "dst = encode.Any(dst, x)\n",
		"[]byte":          "dst = encode.Any(dst, x)\n",
		"uuid.UUID":       "dst = encode.Any(dst, x)\n",
		"[]string":        list("x", "v1", "dst = encode.String(dst, v1)\n"),
		"[][]Color":       list("x", "v1", list("v1", "v2", "dst = encode.String(dst, string(v2))\n")),
		"map[string]Part": entries("dst = v1.AppendJSON(dst)\n"),
		"Other":           entries("dst = encode.String(dst, v1)\n"),
		"*string":         pointer("x", "dst = encode.String(dst, (*p1))\n"),
		"*Part":           pointer("x", "dst = p1.AppendJSON(dst)\n"),
		"*Shape":          pointer("x", "dst = encode.Any(dst, (*p1))\n"),
		"[]*string":       list("x", "v1", strings.ReplaceAll(pointer("v1", "dst = encode.String(dst, (*p1))\n"), "p1", "p2")),

		"nullable.Nullable[Part]":     pointer("x.Pointer()", "dst = p1.AppendJSON(dst)\n"),
		"nullable.Nullable[[]string]": pointer("x.Pointer()", strings.ReplaceAll(list("(*p1)", "v1", "dst = encode.String(dst, v1)\n"), "v1", "v2")),
	} {
		e.value("x", goType)
		require.Equal(t, want, e.body.String(), goType)
		require.Zero(t, e.depth, goType)
		e.body.Reset()
	}
}

func TestEncoder_WritesOnlyForStructsOfPlainFields(t *testing.T) {
	t.Parallel()
	require.True(t, modelType{name: "A", tags: []modelTag{{"a", ""}, {"b", "omitempty"}}}.plain())
	require.True(t, modelType{name: "A"}.plain())
	for name, t2 := range map[string]modelType{
		"another type":       {name: "A", is: "[]string"},
		"a union":            {name: "A", union: true},
		"a field left out":   {name: "A", tags: []modelTag{{"a", ""}, {"-", ""}}},
		"a field of no name": {name: "A", tags: []modelTag{{"a", ""}, {"", "omitempty"}}},
	} {
		require.False(t, t2.plain(), name)
	}
}
