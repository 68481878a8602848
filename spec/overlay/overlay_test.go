package overlay_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

func parse(t *testing.T, text string) *yaml.Node {
	var whole yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &whole))
	return whole.Content[0]
}

const document = `
a: &a {x: 1, list: [1, 2]}
b: {<<: *a, x: 2}
c: *a
`

func TestMembers_OfAMappingThatMergesItselfAreItsOwn(t *testing.T) {
	t.Parallel()
	var all []string
	for _, m := range overlay.Members(overlay.Get(parse(t, "a: &a {x: 1, <<: *a, y: 2}"), "a")) {
		all = append(all, m.Key.Value)
	}
	require.Equal(t, []string{"x", "y"}, all)
}

func TestApply_UpdatesOrRemovesWhatTheTargetSelects(t *testing.T) {
	t.Parallel()
	for actions, want := range map[string]string{
		"{target: $.a, update: {x: 3, y: {z: 1}}}":                      "{a: {x: 3, list: [1, 2], y: {z: 1}}, b: {x: 2, list: [1, 2]}, c: {x: 1, list: [1, 2]}}",
		"{target: $.a, update: {list: [3]}}":                            "{a: {x: 1, list: [1, 2, 3]}, b: {x: 2, list: [1, 2]}, c: {x: 1, list: [1, 2]}}",
		"{target: $.a.list, update: 3}":                                 "{a: {x: 1, list: [1, 2, 3]}, b: {x: 2, list: [1, 2]}, c: {x: 1, list: [1, 2]}}",
		"{target: $.a.list, update: {y: 1}}":                            "{a: {x: 1, list: [1, 2, {y: 1}]}, b: {x: 2, list: [1, 2]}, c: {x: 1, list: [1, 2]}}",
		"{target: $.c, remove: True}, {target: $.b, remove: TRUE}":      "{a: {x: 1, list: [1, 2]}}",
		"{target: \"$['a','b'].list\", remove: true}":                   "{a: {x: 1}, b: {x: 2}, c: {x: 1, list: [1, 2]}}",
		"{target: \"$['a', 'c']\", update: {x: {y: 1}}}":                "{a: {x: {y: 1}, list: [1, 2]}, b: {x: 2, list: [1, 2]}, c: {x: {y: 1}, list: [1, 2]}}",
		"{target: $.none, update: {x: 1}}, {target: $, update: {d: 1}}": "{a: {x: 1, list: [1, 2]}, b: {x: 2, list: [1, 2]}, c: {x: 1, list: [1, 2]}, d: 1}",
	} {
		root := overlay.Plain(parse(t, document))
		require.NoError(t, overlay.Apply(root, parse(t, "actions: ["+actions+"]")), actions)
		var got, expected any
		require.NoError(t, root.Decode(&got))
		require.NoError(t, yaml.Unmarshal([]byte(want), &expected))
		require.Equal(t, expected, got, actions)
	}
}

func TestApply_RefusesAnActionItDoesNotHandle(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		"{target: $..a, update: {}}":               "action 1: target $..a: only $, .name and ['name', 'name'] are handled",
		"{target: '$.a[0]', update: {}}":           "action 1: target $.a[0]: only $, .name and ['name', 'name'] are handled",
		"{target: $.a, remove: false}":             "action 1: remove: it must be true, and of a part of the document",
		"{target: $, remove: true}":                "action 1: remove: it must be true, and of a part of the document",
		"{target: $.a}":                            "action 1: it needs a target, and one of update and remove",
		"{target: $.a, copy: $.b, update: {x: 1}}": `action 1: unknown member "copy"`,
	} {
		require.EqualError(t, overlay.Apply(parse(t, document), parse(t, "actions: ["+action+"]")), want)
	}
}
