//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMutants_EachPlaceHasItsOwn(t *testing.T) {
	t.Parallel()
	const source = `package a

import "errors"

const limit = 10 * 2

func f(n int, ok bool) (err error) {
	if n < limit && !ok {
		n++
	}
	for i := range n {
		if i == 3 {
			continue
		}
		println(i)
	}
	err = errors.New("x")
	return err
}
`

	mutants, err := mutantsIn("a.go", []byte(source))
	require.NoError(t, err)
	var changes []string
	for _, m := range mutants {
		require.Equal(t, m.context, strings.TrimSpace(strings.Split(source, "\n")[m.line-1]))
		changed := string(m.apply([]byte(source)))
		require.NotEqual(t, source, changed)
		changes = append(changes, m.change())
	}

	require.ElementsMatch(t, []string{
		"10 → 11", "10 → 9", "* → /", "2 → 3", "2 → 1", // the constant
		"n < limit && !ok → (n < limit && !ok) && false", "n < limit && !ok → (n < limit && !ok) || true", "< → <=", "< → >=", "&& → ||", "! → nothing",
		"++ → --", "n++ → nothing",
		"i == 3 → (i == 3) && false", "i == 3 → (i == 3) || true", "== → !=", "3 → 4", "3 → 2", "continue → break",
		"println(i) → nothing", `err = errors.New("x") → _ = errors.New("x")`, "err → nil",
	}, changes)
}

// module writes a module with a package whose test sees some changes.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"a/a.go": `package a

// Sum adds what is positive, up to n numbers.
func Sum(list []int, n int) (sum int) {
	for i := 0; i < n; i++ {
		if list[i] > 0 {
			sum += list[i]
		}
	}
	return sum
}
`,
		"a/a.gen.go": "package a\n\nvar generated = 1 + 1\n",
		"a/a_test.go": `package a

import "testing"

func TestSum(t *testing.T) {
	if Sum([]int{2, 0, 4, 7}, 3) != 6 {
		t.Fatal()
	}
}
`,
		"b/b_test.go": `package b

import (
	"testing"

	"example.com/m/a"
)

func TestNothing(t *testing.T) {
	if a.Sum(nil, 0) != 0 {
		t.Fatal()
	}
}
`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}

	return dir
}

func TestCampaign_MutantsAreKilledOrSurvive(t *testing.T) {
	t.Parallel()
	dir := module(t)
	before, err := os.ReadFile(filepath.Join(dir, "a/a.go"))
	require.NoError(t, err)

	var out bytes.Buffer
	c := campaign{root: dir, rooms: []string{"a"}, seed: 1, count: 100, grace: time.Second, then: "./b", out: &out}
	require.NoError(t, c.run(t.Context()))
	printed := regexp.MustCompile(`(?m)^ *\d+ | +\d+ s`).ReplaceAllString(out.String(), "")
	require.NotContains(t, printed, "a.gen.go")

	for _, want := range []string{
		"killed by its package  a/a.go:7: += → -=", "killed by its package  a/a.go:5: 0 → 1", "SURVIVED  a/a.go:6: > → >=", "SURVIVED  a/a.go:6: 0 → 1",
		"killed: it does not end  a/a.go:5: i++ → nothing", "SURVIVED  a/a.go:6: list[i] > 0 → (list[i] > 0) || true",
		"survived: a/a.go:6: > → >=\n          if list[i] > 0 {\n",
	} {
		require.Contains(t, strings.Join(strings.Fields(printed), " "), strings.Join(strings.Fields(want), " "))
	}

	after, err := os.ReadFile(filepath.Join(dir, "a/a.go"))
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the tree is not touched")
}

func TestCopies_EveryKindOfFunctionLeavesItsWorkToThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26\n"), 0o600))
	const source = `package m

type list[T any] struct{ of []T }

// most is of the package.
const most = 3

func (list[T]) size(_ int, more ...T) (n int, err error) {
	n, s := len(more)+1, ""
	_ = s
	return n, err
}

func pair[K comparable, V any](K, V) int { return 1 + 1 }

func (l *list[T]) add(one T) { l.of = append(l.of, one) }

func text(a, b string) string { return a + b }
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.go"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m_test.go"), []byte(`package m

import "testing"

func TestAll(t *testing.T) {
	l := &list[int]{}
	l.add(1)
	n, err := l.size(0, 1, 2)
	if n != 3 || err != nil || pair("a", 1) != 2 || len(l.of) != 1 || most != 3 || text("a", "b") != "ab" {
		t.Fatal()
	}
}
`), 0o600))

	var out bytes.Buffer
	c := campaign{root: dir, rooms: []string{"."}, seed: 1, count: 100, grace: time.Second, beside: 2, out: &out}
	require.NoError(t, c.run(t.Context()))
	printed := strings.Join(strings.Fields(regexp.MustCompile(`(?m)^ *\d+ | +\d+ s`).ReplaceAllString(out.String(), "")), " ")
	require.NotContains(t, printed, "m.go:10:", "nothing is changed")
	require.NotContains(t, printed, "m.go:18", "the compiler refuses to subtract texts")
	for _, want := range []string{
		"killed by its package m.go:6: 3 → 4", "killed by its package m.go:9: + → -", "SURVIVED m.go:11: err → nil",
		"killed by its package m.go:14: + → -", "killed by its package m.go:16: l.of = append(l.of, one) → _ = append(l.of, one)",
	} {
		require.Contains(t, printed, want)
	}
}

func TestCampaign_TestThatFailsOnceKillsNoMutant(t *testing.T) {
	t.Parallel()
	dir := module(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a/a_test.go"), []byte(`package a

import (
	"os"
	"testing"
)

func TestFirstTime(t *testing.T) {
	if os.Getenv("BERTH_MUTANT") != "0" && os.Mkdir("first", 0o700) == nil {
		t.Fatal("it fails the first time that there is a mutant")
	}
}
`), 0o600))

	var out bytes.Buffer
	c := campaign{root: dir, rooms: []string{"a"}, seed: 1, count: 1, grace: time.Second, out: &out}
	require.NoError(t, c.run(t.Context()))
	require.Contains(t, out.String(), "0 of 1 killed")
	require.DirExists(t, filepath.Join(dir, "a/first"))
}

func TestCampaign_GoesOnWhereAnotherEnded(t *testing.T) {
	t.Parallel()
	dir := module(t)
	places := func(from int) (places []string) {
		var out bytes.Buffer
		c := campaign{root: dir, rooms: []string{"a"}, seed: 1, count: 2, grace: time.Second, from: from, out: &out}
		require.NoError(t, c.run(t.Context()))
		for _, line := range regexp.MustCompile(`(?m)^ *(\d+) \S+.*  a/a.go:.*$`).FindAllStringSubmatch(out.String(), -1) {
			places = append(places, line[1])
		}
		return places
	}

	whole := places(0)
	require.Len(t, whole, 2)
	second, err := strconv.Atoi(whole[1])
	require.NoError(t, err)
	require.Equal(t, whole[1], places(second)[0])
}

func TestCampaign_FailsIfTooFewAreKilled(t *testing.T) {
	t.Parallel()
	c := campaign{least: 90, out: io.Discard}
	require.NoError(t, c.report(10, 9, 0, nil))
	require.ErrorContains(t, c.report(10, 8, 0, make([]mutant, 2)), "80.0 % were killed, less than 90 %")
	require.Error(t, c.report(0, 0, 0, nil))
}

func TestMutants_EquivalentOnesAreListedWithTheReason(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := filepath.Join(dir, filepath.FromSlash(equivalentIn))
	require.NoError(t, os.MkdirAll(filepath.Dir(list), 0o700))

	m := mutant{file: "a/a.go", context: "if n > 0 {", old: ">", new: ">="}
	for text, want := range map[string]map[string]bool{
		"# known\n\n" + m.key() + " | adding 0 changes nothing\n": {m.key(): true},
		m.key() + "\n":     nil,
		m.key() + " |  \n": nil,
	} {
		require.NoError(t, os.WriteFile(list, []byte(text), 0o600))
		known, err := readEquivalent(dir)
		require.Equal(t, want, known)
		if want == nil {
			require.ErrorContains(t, err, "reason")
		}
	}

	known, err := readEquivalent("../..")
	require.NoError(t, err)
	all, err := mutantsOf("../..", strings.Split(rooms, ","))
	require.NoError(t, err)

	keys := map[string]bool{}
	for _, m := range all {
		keys[m.key()] = true
	}
	for key := range known {
		require.True(t, keys[key], "there is no such mutant any more: %s", key)
	}
}

func TestMutants_AreOfWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	all, err := mutantsOf("../..", strings.Split(rooms, ","))
	require.NoError(t, err)
	require.Greater(t, len(all), 5_000)
	for _, m := range all {
		require.NotContains(t, m.file, "_test.go")
		require.NotContains(t, m.file, ".gen.go")
		require.NotContains(t, m.file, "storetest/")
	}
}
