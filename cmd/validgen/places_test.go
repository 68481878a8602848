package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// mostChangedLines is how many generated lines one changed range may change, those that go and those that come.
const mostChangedLines = 15

// ranges are the keywords of which each is a number.
var ranges = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}

func TestGenerate_ChangedRangeChangesItsOwnLines(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"rest", "queue", "worker", "controls"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, models := documented(t, name)
			before := code(t, doc, models)

			changed := 0
			walk(doc.root, func(n *yaml.Node) {
				for _, keyword := range ranges {
					bound := get(n, keyword)
					if n.Kind != yaml.MappingNode || bound == nil || bound.Kind != yaml.ScalarNode {
						continue
					}
					was := bound.Value
					number, err := strconv.ParseFloat(was, 64)
					require.NoError(t, err)

					bound.Value = strconv.FormatFloat(number+1, 'f', -1, 64)
					changed += few(t, before, code(t, doc, models), "%s of %s:%d", keyword, name, bound.Line)
					bound.Value = was
				}
			})

			require.Positive(t, changed)
		})
	}
}

func TestGenerate_NewRangeChangesItsOwnLines(t *testing.T) {
	t.Parallel()
	doc, models := documented(t, "rest")
	before := code(t, doc, models)

	for _, schema := range []string{"CreatePodRequest", "GpuConfig", "NetworkMount", "CreateTemplateRequest"} {
		of := get(doc.root, "components", "schemas", schema)
		require.NotNil(t, of, schema)
		changed := 0
		walk(of, func(n *yaml.Node) {
			if text(get(n, "type")) != "string" || get(n, "maxLength") != nil {
				return
			}
			was := n.Content
			n.Content = append(slices.Clone(was), &yaml.Node{Kind: yaml.ScalarNode, Value: "maxLength"}, &yaml.Node{Kind: yaml.ScalarNode, Value: "77"})
			changed += few(t, before, code(t, doc, models), "maxLength of rest:%d", n.Line)
			n.Content = was
		})

		require.Positive(t, changed, schema)
	}
}

func TestGenerate_OneMorePropertyMovesNoOther(t *testing.T) {
	t.Parallel()
	doc, models := documented(t, "rest")
	properties := get(doc.root, "components", "schemas", "CreatePodRequest", "properties")
	all := properties.Content
	properties.Content = all[2:]
	name := models["createpodrequest"].fields[all[0].Value].name
	require.Equal(t, "Name", name)

	required := get(doc.root, "components", "schemas", "CreatePodRequest", "required")
	required.Content = slices.DeleteFunc(slices.Clone(required.Content), func(n *yaml.Node) bool { return n.Value == all[0].Value })
	without := code(t, doc, models)

	properties.Content = all
	few(t, without, code(t, doc, models), "the first property of CreatePodRequest")
}

// documented gives a document of spec/ with its models.
func documented(t *testing.T, name string) (*document, models) {
	spec := "../../spec/" + name + ".yaml"
	content, err := os.ReadFile(spec)
	require.NoError(t, err)
	doc, err := parseDocument(spec, content)
	require.NoError(t, err)
	models, err := parseModels("../../gen/" + name + "/" + name + ".gen.go")
	require.NoError(t, err)
	return doc, models
}

// code gives the lines of the validators of a document.
func code(t *testing.T, doc *document, models models) []string {
	text, err := generate([]edition{{document: doc}}, models, "x", "x.yaml")
	require.NoError(t, err)
	return strings.Split(string(text), "\n")
}

// few fails if more lines differ than one range may change. It gives how many do.
func few(t *testing.T, before, after []string, what string, args ...any) int {
	n := differing(before, after)
	require.LessOrEqualf(t, n, mostChangedLines, what, args...)
	return n
}

// differing counts the lines that go and those that come, as diff does.
func differing(a, b []string) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}

	same := make([]int, len(b)+1) // the longest run of lines that both have so far
	for _, line := range a {
		above := 0
		for j := range b {
			here := same[j+1]
			if line == b[j] {
				same[j+1] = above + 1
			} else {
				same[j+1] = max(same[j], here)
			}
			above = here
		}
	}

	return len(a) + len(b) - 2*same[len(b)]
}

// walk calls f with every node.
func walk(n *yaml.Node, f func(*yaml.Node)) {
	f(n)
	for _, c := range n.Content {
		walk(c, f)
	}
}
