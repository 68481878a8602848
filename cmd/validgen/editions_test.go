package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/cmd/validgen/testdata/editions"
	"github.com/berthdev/berth/impl/validate"
)

// The editions of testdata/editions, in their order.
const (
	one = iota
	three
	two
)

// refused gives what an edition says of a body.
func refused(t *testing.T, edition int, body string) (lines []string) {
	_, violations, err := editions.Editions[edition].Ops["makeThing"].Decode([]byte(body))
	require.NoError(t, err)
	for _, v := range violations {
		lines = append(lines, v.Of(editions.Editions[edition].Name))
	}
	return lines
}

func TestEdition_RefusesAMemberOfAnother(t *testing.T) {
	const colored, lidded = `{"name":"a","parts":[{"id":"b","color":"red"}]}`, `{"name":"a","parts":[],"box":{"lid":true}}`
	how := " (--contract, or the header Berth-Contract)"
	require.Empty(t, refused(t, two, colored))
	require.Empty(t, refused(t, three, lidded))
	for edition, name := range map[int]string{one: "1", three: "three"} {
		require.Equal(t, []string{"/parts/0/color: is not a known member of edition " + name + "; two has it" + how}, refused(t, edition, colored))
	}
	for edition, name := range map[int]string{one: "1", two: "two"} {
		require.Equal(t, []string{"/box/lid: is not a known member of edition " + name + "; three has it" + how}, refused(t, edition, lidded))
	}
	require.Equal(t, []string{"/box/led: is not a known member"}, refused(t, one, `{"name":"a","parts":[],"box":{"led":true}}`))
	require.Equal(t, []string{"/parts: is required"}, refused(t, one, `{"name":"a"}`))
	require.Empty(t, refused(t, two, `{"name":"a"}`))
}

func TestEdition_RefusesAValueOfAnother(t *testing.T) {
	const huge = `{"name":"a","parts":[],"box":{"size":"huge"}}`
	require.Empty(t, refused(t, two, huge))
	for edition, name := range map[int]string{one: "1", three: "three"} {
		require.Equal(t, []string{"/box/size: is not a known value of edition " + name + "; two has it (--contract, or the header Berth-Contract)"}, refused(t, edition, huge))
	}
	require.Equal(t, []string{"/box/size: must be one of small, large"}, refused(t, one, `{"name":"a","parts":[],"box":{"size":"tiny"}}`))
	query := editions.Editions[one].Ops["listThings"].Params(nil, "size=huge", nil)
	require.Equal(t, "query.size: is not a known value of edition 1; two has it (--contract, or the header Berth-Contract)", query[0].Of("1"))
	require.Empty(t, editions.Editions[two].Ops["listThings"].Params(nil, "size=huge", nil))
}

func TestEdition_RefusesAParameterOfAnother(t *testing.T) {
	query := func(edition int) validate.Violations {
		return editions.Editions[edition].Ops["listThings"].Params(nil, "color=red&other=1", nil)
	}
	require.Equal(t, []string{"two"}, query(one)[0].In)
	require.Equal(t, "query.color: is not a known parameter of edition 1; two has it (--contract, or the header Berth-Contract)", query(one)[0].Of("1"))
	require.Nil(t, query(one)[1].In)
	require.Len(t, query(two), 1)
	require.Contains(t, editions.Editions[two].Ops, "deleteThing")
	require.NotContains(t, editions.Editions[one].Ops, "deleteThing")
}

func TestEdition_AnswerHasItsMembers(t *testing.T) {
	price, color, lid := 2.5, "red", true
	thing := editions.Thing{Name: "a", Price: &price, Parts: []editions.Part{{ID: "b", Color: &color}}, Box: &editions.Box{Lid: &lid}}
	require.JSONEq(t, `{"name":"a","parts":[{"id":"b"}],"box":{}}`, string(thing.AppendJSON(nil)))
	require.JSONEq(t, `{"name":"a","parts":[{"id":"b","color":"red"}],"box":{},"price":2.5}`, string(thing.AppendEdition(nil, two)))
	require.JSONEq(t, `{"name":"a","parts":[{"id":"b"}],"box":{"lid":true}}`, string(thing.AppendEdition(nil, three)))
	require.JSONEq(t, `{"things":[{"name":"a","parts":[{"id":"b"}],"box":{"lid":true}}]}`, string(editions.Things{Things: []editions.Thing{thing}}.AppendEdition(nil, three)))
}

// editionOf generates from the small document, with an object without a name in it, and one more overlay, whose actions are given.
func editionOf(t *testing.T, actions string) error {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/editions")))
	things, err := os.ReadFile(filepath.Join(dir, "things.yaml"))
	require.NoError(t, err)
	const before, page = "required: [things], properties: {", "page: {type: object, properties: {next: {type: string}, last: {type: string}}}, "
	require.Contains(t, string(things), before)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "things.yaml"), []byte(strings.Replace(string(things), before, before+page, 1)), 0o600))
	text := "overlay: 1.0.0\ninfo: {title: t, version: four}\nextends: ../things.yaml\nactions:\n" + actions
	require.NoError(t, os.WriteFile(filepath.Join(dir, "editions", "four.overlay.yaml"), []byte(text), 0o600))
	t.Chdir(dir)
	return checkFiles([]string{"things.yaml"}, "editions")
}

func TestEdition_StopsGenerationAtWhatTwoCannotShare(t *testing.T) {
	const schemas, answers = "$.components.schemas.", "$.paths['/things'].get.responses"
	update := func(target, value string) string { return "  - target: " + target + "\n    update: " + value + "\n" }
	remove := func(target string) string { return "  - target: " + target + "\n    remove: true\n" }
	for actions, want := range map[string]string{
		update(schemas+"Box.properties", "{color: {type: string}}"):                                                                              "",
		remove(schemas+"Part.properties.id.type") + update(schemas+"Part.properties.id", "{type: integer}"):                                      "editions/four.overlay.yaml:8: #/components/schemas/Part/properties/id: type integer in edition four, and otherwise in things.yaml:37: both would have one Go type",
		remove(schemas+"Box.properties.size") + update(schemas+"Box.properties", "{size: {type: string}}"):                                       "editions/four.overlay.yaml:8: #/components/schemas/Box/properties/size: it is described here in edition four, and otherwise in things.yaml:38: both would have one Go type",
		update(schemas+"Part.properties.id", "{format: date-time}"):                                                                              "editions/four.overlay.yaml:6: #/components/schemas/Part/properties/id: format date-time in edition four, and otherwise in things.yaml:37: both would have one Go type",
		update(schemas+"Part.properties", "{lid: {type: string, multipleOf: 2}}"):                                                                `editions/four.overlay.yaml:6: #/components/schemas/Part/properties/lid: unknown keyword "multipleOf"`,
		update(schemas+"Part", "{required: [weight]}"):                                                                                           `editions/four.overlay.yaml:6: action 1: keyword "required": "weight" is no property in things.yaml:37`,
		remove(schemas + "Part.properties.id"):                                                                                                   `things.yaml:37: #/components/schemas/Part: keyword "required": "id" is no property`,
		update(schemas+"Bin", "{required: [id]}"):                                                                                                `editions/four.overlay.yaml:5: action 1: target $.components.schemas.Bin: no document has "Bin" there`,
		update("$.paths['/things'].post.requestBody.content['application/json']", "{schem: {}}"):                                                 `editions/four.overlay.yaml:6: #/paths/~1things/post/requestBody/content/application~1json: keyword "schem", here in the media type, would have no effect`,
		remove(answers+"['404'].description") + update(answers+"['404']", "{$ref: '#/components/responses/Gone'}"):                               "",
		update(answers+"['200']", "{$ref: '#/components/responses/One'}"):                                                                        "editions/four.overlay.yaml:6: #/paths/~1things/get/responses/200: it is #/components/responses/One in edition four, and otherwise in things.yaml:11: both would have one Go type",
		update(answers+"['200']", "{$ref: '#/components/responses/Gone'}"):                                                                       "editions/four.overlay.yaml:6: #/paths/~1things/get/responses/200: it is #/components/responses/Gone in edition four, and otherwise in things.yaml:11: both would have one Go type",
		remove(answers+"['404'].description") + update(answers+"['404']", "{$ref: '#/components/responses/One'}"):                                "editions/four.overlay.yaml:8: #/paths/~1things/get/responses/404: it is #/components/responses/One in edition four, and otherwise in things.yaml:12: both would have one Go type",
		remove("$.paths['/things'].get.parameters") + update("$.paths['/things'].get", "{parameters: [{$ref: '#/components/parameters/Size'}]}"): "editions/four.overlay.yaml:8: #/paths/~1things/get/parameters: it is #/components/parameters/Size in edition four, and otherwise in things.yaml:9: both would have one Go type",
		remove(schemas + "Things.properties.page"):                                                                                               "",
		update(schemas+"Things.properties.page.properties", "{x: {type: string}}"):                                                               "editions/four.overlay.yaml:6: #/components/schemas/Things/properties/page/properties/x: a property of edition four in an object without a name: give the object one, under components",
		remove(schemas + "Things.properties.page.properties.last"):                                                                               "things.yaml:42: #/components/schemas/Things/properties/page/properties/last: a property that edition four lacks in an object without a name: give the object one, under components",
		"  - target: " + schemas + "Box\n":                                                                                                       `editions/four.overlay.yaml:5: action 1: it needs a target, and one of update and remove`,
	} {
		t.Run(want, func(t *testing.T) {
			err := editionOf(t, actions)
			if want == "" {
				require.NoError(t, err, actions)
			} else {
				require.EqualError(t, err, want, actions)
			}
		})
	}
}

func TestEdition_RefusesAnOverlayThatMakesNone(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"version: two}", "version: 2}"}:      "editions/two.overlay.yaml:2: #/info: the version is the name of the edition, with which the name of the file must begin: \"2\"",
		{"extends: ../things.yaml\n", ""}:     `editions/two.overlay.yaml:2: #: "extends" is missing`,
		{"x-alias: newest", "x-alia: newest"}: `editions/two.overlay.yaml:5: #: unknown member "x-alia"`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/editions")))
		file := filepath.Join(dir, "editions", "two.overlay.yaml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o600))

		t.Run(change[1], func(t *testing.T) {
			t.Chdir(dir)
			require.EqualError(t, checkFiles([]string{"things.yaml"}, "editions"), want)
		})
	}
}

// An overlay of which nothing would be made stops generation: one that extends nothing, and one of a document without editions.
func TestEdition_RefusesAnOverlayThatIsForNoDocument(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/editions")))
	things, err := os.ReadFile(filepath.Join(dir, "things.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fixed.yaml"), things, 0o600))
	t.Chdir(dir)

	for extends, want := range map[string]string{
		"../things.yaml": "",
		"../thing.yaml":  "editions/four.overlay.yaml:3: #: extends ../thing.yaml: there is no such document",
		"things.yaml":    "editions/four.overlay.yaml:3: #: extends things.yaml: there is no such document",
		"../fixed.yaml":  "editions/four.overlay.yaml:3: #: extends ../fixed.yaml: it is generated without editions",
	} {
		text := "overlay: 1.0.0\ninfo: {title: t, version: four}\nextends: " + extends + "\nactions: [{target: $.info, update: {version: four}}]\n"
		require.NoError(t, os.WriteFile("editions/four.overlay.yaml", []byte(text), 0o600))
		err := checkFiles([]string{"things.yaml", "fixed.yaml"}, "editions", "other.yaml", "fixed.yaml")
		if want == "" {
			require.NoError(t, err, extends)
		} else {
			require.EqualError(t, err, want, extends)
		}
	}
}
