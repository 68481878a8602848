package seed_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/seed"
)

// write writes files, and gives their directory.
func write(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// one writes one file, and gives its path.
func one(t *testing.T, text string) string {
	return filepath.Join(write(t, map[string]string{"seed.yaml": text}), "seed.yaml")
}

// problems reads a seed that is refused, and gives its problems without the directory.
func problems(t *testing.T, path string) (lines []string) {
	_, err := seed.Read(path)
	var all seed.Problems
	require.ErrorAs(t, err, &all)
	for _, p := range all {
		lines = append(lines, strings.ReplaceAll(p.Error(), filepath.Dir(p.File)+"/", ""))
	}
	return lines
}

func TestRead_OrdersItemsSoThatEachComesAfterWhatItNames(t *testing.T) {
	t.Parallel()
	s, err := seed.Read(write(t, map[string]string{
		"b.yaml":    "pods:\n- {id: podofaseed0001, name: b, image: i, state: stopped, user: u}\nfaults:\n- {operation: run, status: 500}\n",
		"a.yml":     "pods:\n- {name: a, image: i}\nkeys:\n- {key: a-token-0123456789, scopes: [all], user: u}\n",
		"c.json":    `{"secrets": [{"name": "s", "value": "v"}], "quotas": {"minute": 1, "hour": 1, "day": 1}}`,
		"README.md": "pods: []",
	}))
	require.NoError(t, err)
	var order []string
	for _, i := range s.Items {
		order = append(order, i.List)
	}
	require.Equal(t, []string{"keys", "secrets", "pods", "pods", "quotas", "faults"}, order)

	require.Equal(t, "a-token-0123456789", s.Items[0].Token)
	require.Equal(t, "u", *s.Items[0].Body.(*controls.NewKey).User)
	require.Equal(t, "a", s.Items[2].Body.(*rest.CreatePodRequest).Name, "the file that comes first")
	second := s.Items[3]
	require.Equal(t, "podofaseed0001", second.ID)
	require.True(t, second.Off)
	require.Equal(t, compute.UserID("u"), second.User)
	require.Equal(t, 2, second.At.Line)
}

func TestRead_IDsFollowFromListUserAndName(t *testing.T) {
	t.Parallel()
	text := "templates:\n- {name: a, image: i}\n- {name: a, image: i}\n- {name: b, image: i}\n- {name: a, image: i, user: u}\npods:\n- {name: a, image: i}\n"
	ids := func(text string) (all []string) {
		s, err := seed.Read(one(t, text))
		require.NoError(t, err)
		for _, i := range s.Items {
			require.NoError(t, compute.CheckID(i.ID))
			all = append(all, i.ID)
		}
		return all
	}
	all := ids(text)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), 5)
	require.Equal(t, all, ids(text))
	require.Equal(t, all[:4], ids(strings.Replace(text, "templates:\n", "templates:\n- {name: first, image: i}\n", 1))[1:5], "whatever stands before")
}

func TestRead_DigestIsOfWhatItSays(t *testing.T) {
	t.Parallel()
	digest := func(text string) string {
		s, err := seed.Read(one(t, text))
		require.NoError(t, err)
		return s.Digest
	}
	first := digest("pods:\n- {name: a, image: i}\n")
	require.Equal(t, first, digest("# a comment\npods:\n  - name: a\n    image: i\n"))
	for _, other := range []string{"{name: b, image: i}", "{name: a, image: i, state: stopped}", "{name: a, image: i, user: u}", "{name: a, image: i, disk: 1}"} {
		require.NotEqual(t, first, digest("pods:\n- "+other+"\n"), other)
	}
}

func TestRead_AllThatIsWrongIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`seed.yaml:1:1: /podz: is not a known member; is pods meant?`,
		`seed.yaml:3:13: /pods/0/imgae: is not a known member; is image meant?`,
		`seed.yaml:3:3: /pods/0/image: is required`,
		`seed.yaml:6:5: /pods/1/env/A: must be a string`,
		`seed.yaml:7:3: /pods/2/id: "short" is no id: it has 14 lower-case letters and digits`,
		`seed.yaml:7:3: /pods/2/state: must be running or stopped`,
		`seed.yaml:9:3: /pods/4/id: is that of /pods/3 in line 8 of seed.yaml, too`,
		`seed.yaml:11:3: /keys/0/key: is required: a seed has the token of each key`,
		`seed.yaml:12:35: /keys/1/key: a token has from 16 to 200 characters`,
		`seed.yaml:13:10: /secrets: must be an array`,
	}, squeezed(problems(t, one(t, `podz: []
pods:
- {name: a, imgae: i}
- name: a
  env:
    A: 1
- {name: a, image: i, id: short, state: gone}
- {name: a, image: i, id: podofaseed0001}
- {name: a, image: i, id: podofaseed0001}
keys:
- {scopes: [all]}
- {name: b, scopes: [all],        key: short}
secrets: {}
`))))

	public := problems(t, one(t, "pods:\n- {name: a, image: i, startSsh: true}\n"))
	require.Len(t, public, 1)
	require.Contains(t, public[0], "which seeds are of; only public-2026-10 has it")
	require.NotContains(t, public[0], "meant", "there is no other one")
}

// squeezed leaves out what a validator says besides, of items that lack more, and columns that do not matter.
func squeezed(lines []string) (kept []string) {
	for _, l := range lines {
		if !strings.Contains(l, "/pods/1/image") {
			kept = append(kept, regexp.MustCompile(`^(seed\.yaml:7):\d+:`).ReplaceAllString(l, "$1:3:"))
		}
	}
	return kept
}

func TestRead_RefusesWhatIsNoSeed(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"keys:\n- {name: a, key: hunter2222222222, scopes: [all]}\n- {name: b, key: hunter2222222222, scopes: ['rest:read']}": "seed.yaml:3:3: /keys/1/key: is that of /keys/0 in line 2",
		"users:\n- {name: a}\n- {name: b}\n- {name: a, role: reader}":                                                         "seed.yaml:4:3: /users/2/name: is that of /users/0 in line 2",
		"users:\n- {name: owner}":                              "/users/0/role: must be admin: owner is the owner of the server",
		"users:\n- {name: owner, role: admin, disabled: true}": "/users/0/disabled: must be false",
		"users:\n- {name: a, disabled: 1}":                     "/users/0/disabled: must be true or false",
		"users:\n- {name: a, rol: reader}":                     "is role meant?",
		"pods: [":                                              "cannot be read: yaml: line 1",
		"- a":                                                  "must be an object with lists",
		"pods: []\npods: 1":                                    "appears twice",
		"pods: [1]":                                            "must be an object",
		"pods:\n- {name: a, image: i, disk: .inf}":             "a number that JSON has not",
		"pods:\n- {name: a, image: i, name: b}":                "appears twice",
		"quotas: {minute: 1, hour: 1, day: 1}\n---\nquotas: {minute: 1, hour: 1, day: 1}":               "is there twice",
		"keys:\n- {id: 0123456789, key: brt_abcdefghij_" + strings.Repeat("x", 40) + ", scopes: [all]}": "is not the id that the token has in it",
	} {
		require.Contains(t, strings.Join(problems(t, one(t, text)), "\n"), says, text)
	}

	_, err := seed.Read(t.TempDir())
	require.ErrorContains(t, err, "has no file")
	_, err = seed.Read(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	s, err := seed.Read(one(t, "# nothing yet\n"))
	require.NoError(t, err)
	require.Empty(t, s.Items)
}

func TestRead_IsBounded(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("x-0: &a0 {a: 1, b: 2}\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&bomb, "x-%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1)
	}
	lines := problems(t, one(t, bomb.String()+"pods:\n- {name: a, image: i, ports: *a39}\n- {name: a, image: i, ports: *a39}\n"))
	require.Contains(t, lines[0], "is too much")
	require.LessOrEqual(t, len(lines), 100)

	require.Len(t, problems(t, one(t, "pods:\n"+strings.Repeat("- {}\n", 500))), 100, "the first problems")
	lines = problems(t, one(t, "sshKeys:\n"+strings.Repeat("- {keys: []}\n", 10_001)))
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "at most 10000 items")
}

func TestRead_MergesAnchors(t *testing.T) {
	t.Parallel()
	s, err := seed.Read(one(t, "x-env: &env {A: one, B: two}\npods:\n- &p {name: a, image: i, env: {<<: *env, B: own}, id: podofaseed0001}\n- {<<: *p, id: podofaseed0002}\n"))
	require.NoError(t, err)
	for i, id := range []string{"podofaseed0001", "podofaseed0002"} {
		require.Equal(t, id, s.Items[i].ID)
		require.Equal(t, map[string]string{"A": "one", "B": "own"}, s.Items[i].Body.(*rest.CreatePodRequest).Env)
	}
}

func TestRead_MergesAreBounded(t *testing.T) {
	t.Parallel()
	wide := "x-0: &a0 {A: one}\n"
	for i := 1; i < 60; i++ {
		wide += fmt.Sprintf("x-%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i, i, i-1, i-1, i-1)
	}
	s, err := seed.Read(one(t, wide+"pods:\n- {name: a, image: i, env: *a59}\n"))
	require.NoError(t, err, "what merges the same again and again is put together once")
	require.Equal(t, map[string]string{"A": "one"}, s.Items[0].Body.(*rest.CreatePodRequest).Env)

	var deep, long strings.Builder
	deep.WriteString("x-0: &a0 {A: one}\n")
	long.WriteString("x-0: &a0 {A: one}\n")
	for i := 1; i < 2000; i++ {
		fmt.Fprintf(&deep, "x-%d: &a%d {<<: *a%d}\n", i, i, i-1)
		fmt.Fprintf(&long, "x-%d: &a%d {<<: *a0, B%d: b}\n", i, i, i)
	}
	require.Contains(t, problems(t, one(t, deep.String()+"pods:\n- {name: a, image: i, env: *a1999}\n"))[0], "100 deep")
	_, err = seed.Read(one(t, long.String()+"pods:\n- {name: a, image: i, env: *a1999}\n"))
	require.NoError(t, err)

	self := problems(t, one(t, "pods:\n- &a {name: a, <<: *a}\n"))
	require.Contains(t, self[0], "image")
}

// examples are files that are seeds.
func examples(t *testing.T) (paths []string) {
	docs, err := os.ReadFile("../../docs/contract.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(docs), "### design: Seeds")
	require.True(t, found)
	_, text, _ = strings.Cut(text, "```yaml\n")
	text, _, found = strings.Cut(text, "```\n")
	require.True(t, found)
	return []string{one(t, text), "../../conformance/seed.yaml", "../../examples/python/seed.yaml"}
}

func TestSchema_DescribesWhatIsRead(t *testing.T) {
	t.Parallel()
	text, err := seed.Schema()
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("seed.json", document))
	schema, err := c.Compile("seed.json")
	require.NoError(t, err)

	valid := func(text string) error {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(text), &v))
		asJSON, err := json.Marshal(v)
		require.NoError(t, err)
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
		require.NoError(t, err)
		return schema.Validate(instance)
	}
	for _, path := range examples(t) {
		_, err := seed.Read(path)
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, valid(string(text)), path)
	}
	for _, wrong := range []string{"podz: []", "pods: [{name: a}]", "pods: [{name: a, image: i, state: gone}]", "keys: [{scopes: [all]}]", "pods: [{name: a, image: i, id: short}]", "users: [{name: a, disabled: 1}]"} {
		require.Error(t, valid(wrong), wrong)
	}
}
