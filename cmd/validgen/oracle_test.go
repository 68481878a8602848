package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/cmd/validgen/testdata/keywords"
	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/validate"
	"github.com/berthdev/berth/spec"
)

// documents are all that have generated validators.
var documents = map[string]map[string]validate.Op{
	"rest": rest.Ops, "queue": queue.Ops, "worker": worker.Ops, "controls": controls.Ops, "keywords": keywords.Ops,
}

// documentOf gives a document, with numbers as json.Number.
func documentOf(t testing.TB, name string) map[string]any {
	var text []byte
	var err error
	if name == "keywords" {
		var tree any
		text, err = os.ReadFile("testdata/keywords/keywords.yaml")
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &tree))
		text, err = json.Marshal(tree)
	} else {
		text, err = spec.JSON(name, "")
	}
	require.NoError(t, err)

	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return parsed.(map[string]any)
}

// body is what one operation, or several, read.
type body struct {
	document, schema string
	op               validate.Op
	root             map[string]any // the document
	oracle           *jsonschema.Schema
}

// bodiesOf gives every body of a document once, in the order of the names of their schemas. The oracle is an independent
// validator of JSON Schema 2020-12.
func bodiesOf(t testing.TB, document string) (all []body) {
	root := documentOf(t, document)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("d.json", root))

	seen := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(documents[document])) {
		op := documents[document][id]
		if !op.HasBody {
			continue
		}
		place := []string{"paths", op.Path, strings.ToLower(op.Method), "requestBody", "content", "application/json", "schema", "$ref"}
		var at any = root
		for _, step := range place {
			at = at.(map[string]any)[step]
		}

		ref := at.(string)
		if seen[ref] {
			continue
		}
		seen[ref] = true
		oracle, err := compiler.Compile("d.json" + ref)
		require.NoError(t, err)
		all = append(all, body{document, ref[strings.LastIndex(ref, "/")+1:], op, root, oracle})
	}

	return all
}

// stricter are the faults that only our validators find: what a model's int64 or float64 cannot hold or JSON's other readers
// would not agree on, and URIs and times where the oracle's notion is wider.
var stricter = []string{"must be an integer of 64 bits", "must be a number of 64 bits"}

var alsoStricter = []string{"must be an absolute URI", "must be an RFC 3339 date-time", "appears twice"}

// disagreement says how our verdict on a text differs from the oracle's, or that of encoding/json from ours, or nothing.
func (b body) disagreement(text []byte, stricter []string) (accepted bool, difference string) {
	model, violations, err := b.op.Decode(text)
	instance, notJSON := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return false, "" // what is no JSON is the scanner's matter
	}
	if notJSON != nil {
		return false, fmt.Sprintf("ours reads what is no JSON: %v", notJSON)
	}

	want := b.oracle.Validate(instance)
	if len(violations) > 0 {
		if want == nil {
			for _, v := range violations {
				if v.Message == "appears twice" && slices.Contains(stricter, v.Message) {
					return false, "" // of the two members, the oracle saw the other one
				}
			}

			for _, v := range violations {
				if !slices.Contains(stricter, v.Message) {
					return false, fmt.Sprintf("only ours refuses: %v", violations)
				}
			}
		}

		return false, ""
	}

	if want != nil {
		return true, fmt.Sprintf("only the oracle refuses: %v", want)
	}
	return true, b.sameModel(text, model)
}

// sameModel compares the model with the one that encoding/json makes. That takes names for others without regard to case, which
// shows where members that are not listed are ignored.
func (b body) sameModel(text []byte, model any) string {
	other := reflect.New(reflect.TypeOf(model).Elem()).Interface()
	err := json.Unmarshal(text, other)
	if err == nil && reflect.DeepEqual(other, model) {
		return ""
	}

	var tree any
	if json.Unmarshal(text, &tree) == nil && hasFolded(tree, listed(b.root)) {
		return ""
	}

	if plain := plainIntegers(text); !bytes.Equal(plain, text) { // encoding/json reads no integer from 5.0
		if again, violations, err := b.op.Decode(plain); err == nil && len(violations) == 0 {
			return b.sameModel(plain, again)
		}
	}

	return fmt.Sprintf("encoding/json reads another model: %v\n%+v\n%+v", err, model, other)
}

// writtenNumber finds the texts and the numbers of a JSON document, so that no digits within a text are taken for a number.
var writtenNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)

// plainIntegers writes the numbers of a document that are integers of at most 64 bits without fraction and exponent.
func plainIntegers(text []byte) []byte {
	return writtenNumber.ReplaceAllFunc(text, func(number []byte) []byte {
		if number[0] == '"' || len(number) > 40 {
			return number
		}
		value, ok := new(big.Rat).SetString(string(number))
		if !ok || !value.IsInt() || !value.Num().IsInt64() {
			return number
		}
		return []byte(value.Num().String())
	})
}

// listed gives the names of all properties under a node of a document.
func listed(node any) (names []string) {
	switch n := node.(type) {
	case map[string]any:
		if properties, ok := n["properties"].(map[string]any); ok {
			names = slices.Collect(maps.Keys(properties))
		}
		for _, v := range n {
			names = append(names, listed(v)...)
		}
	case []any:
		for _, v := range n {
			names = append(names, listed(v)...)
		}
	}

	return names
}

// hasFolded reports whether a member's name differs from one of the names in case only.
func hasFolded(tree any, names []string) bool {
	switch n := tree.(type) {
	case map[string]any:
		for name, v := range n {
			folded := func(other string) bool { return name != other && strings.EqualFold(name, other) }
			if slices.ContainsFunc(names, folded) || hasFolded(v, names) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(n, func(v any) bool { return hasFolded(v, names) })
	}
	return false
}
