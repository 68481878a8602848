package diff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/spec/diff"
)

// known is what is known of the public document, and differences why ours are not so.
const (
	known       = "../facts/public-2026-10.overlay.yaml"
	differences = "../differences.yaml"
)

// TestFacts_EveryEditionServesThemOrSaysWhyNot holds the documents against all that is known, both ways: what is
// otherwise is listed with its reason, and nothing is listed in vain.
func TestFacts_EveryEditionServesThemOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	public := load(t, known)
	list, err := diff.LoadExpected(differences)
	require.NoError(t, err)

	files, err := filepath.Glob("../editions/*.overlay.yaml")
	require.NoError(t, err)
	editions := map[string]bool{}
	for _, path := range append([]string{"../rest.yaml"}, files...) {
		if strings.HasSuffix(path, ".queue.overlay.yaml") {
			continue
		}
		d := load(t, path)
		editions[d.Version()] = true
		unlisted, stale := diff.Check(diff.Compare(d, public), diff.Of(d.Version(), list))
		require.Empty(t, unlisted, d.Version())
		require.Empty(t, stale, d.Version())
	}
	for _, e := range list {
		for _, name := range e.Editions {
			require.Contains(t, editions, name, e.At)
		}
	}
}

func TestFacts_FormSaysWhatItsDocumentSays(t *testing.T) {
	t.Parallel()
	const facts = `
facts: boxes
version: 1.0.0
operations:
  GET /boxes/{id}:
    id: getBox
    parameters: {path.id: {type: string, required: true}, query.tags: {type: array, items: {type: string}, explode: false}}
    answers: {'200': {json: Box, limits: true}, '404': None}
  POST /boxes:
    id: makeBox
    body: Box
    answers: {'201': {events: {type: string}, headers: {Total: {type: integer}}}}
answers: {None: {problem: {type: object}}}
schemas: {Box: {type: object, properties: {inner: {$ref: Box}}, oneOf: [{$ref: Box}], discriminator: {propertyName: kind, mapping: {a: Box}}}}
`
	const openAPI = `
paths:
  /boxes/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getBox
      parameters: [{name: tags, in: query, style: form, explode: false, schema: {type: array, items: {type: string}}}]
      responses:
        '200': {headers: {RateLimit: {schema: {type: string}}, RateLimit-Policy: {schema: {type: string}}}, content: {application/json: {schema: {$ref: '#/components/schemas/Box'}}}}
        '404': {$ref: '#/components/responses/None'}
  /boxes:
    post:
      operationId: makeBox
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Box'}}}}
      responses: {'201': {headers: {Total: {schema: {type: integer}}}, content: {text/event-stream: {schema: {type: string}}}}}
components:
  responses: {None: {content: {application/problem+json: {schema: {type: object}}}}}
  schemas:
    Box:
      type: object
      properties: {inner: {$ref: '#/components/schemas/Box'}}
      oneOf: [{$ref: '#/components/schemas/Box'}]
      discriminator: {propertyName: kind, mapping: {a: '#/components/schemas/Box'}}
`
	a, err := diff.Parse([]byte(facts))
	require.NoError(t, err)
	require.Equal(t, "1.0.0", a.Version())
	b, err := diff.Parse([]byte(openAPI))
	require.NoError(t, err)
	require.Empty(t, diff.Compare(a, b))
	require.Empty(t, diff.Compare(b, a))

	for wrong, words := range map[string]string{
		"more: 1\noperations: {}":                               `unknown member "more" of the facts`,
		"operations: {GET: {}}":                                 "operations/GET: it is to be a method and a path",
		"operations: {GET /a: {query: 1}}":                      `operations/GET /a: unknown member "query" of an operation`,
		"operations: {GET /a: {parameters: {limit: {}}}}":       "parameters/limit: it is to be a place and a name",
		"operations: {GET /a: {answers: {'200': None}}}":        `answers/200: there is no answer "None"`,
		"operations: {GET /a: {answers: {'200': {xml: Box}}}}":  `answers/200: unknown member "xml"`,
		"operations: {GET /a: {answers: {'200': {json: Box}}}}": "#/components/schemas/Box leads nowhere",
		"operations: {}\nanswers: {None: 1}":                    "answers/None: it is to be an object, or a name",
	} {
		_, err := diff.Parse([]byte(wrong))
		require.ErrorContains(t, err, words, wrong)
	}
}

func TestLoad_ReadsAnOverlayWithWhatItExtends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	base := write("base.yaml", "info: {version: '1'}\npaths: {/a: {get: {responses: {'200': {}}}}}")
	over := write("over.yaml", "overlay: 1.0.0\nextends: base.yaml\nactions: [{target: $.info, update: {version: '2'}}, {target: $.paths, update: {/b: {get: {responses: {'200': {}}}}}}]")
	d := load(t, over)
	require.Equal(t, "2", d.Version())
	require.Equal(t, []diff.Difference{{At: "GET /b", A: "absent", B: "present"}}, diff.Compare(load(t, base), d))

	for text, words := range map[string]string{
		"overlay: 1.0.0\nextends: wrong.yaml\nactions: []":                           "extends itself",
		"overlay: 1.0.0\nextends: none.yaml\nactions: []":                            "extends: open",
		"overlay: 1.0.0\nextends: base.yaml\nactions: [{target: '$.*', update: {}}]": "action 1",
		"overlay: 1.0.0\nactions: []":                                                "no paths",
	} {
		_, err := diff.Load(write("wrong.yaml", text))
		require.ErrorContains(t, err, words, text)
	}
}
