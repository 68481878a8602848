package ship

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shelf is a target in memory.
type shelf map[string][]byte

func (s shelf) String() string { return "the shelf" }

func (shelf) Begin(context.Context, string) error { return nil }

func (s shelf) Put(_ context.Context, name string, body []byte) error {
	s[name] = body
	return nil
}

func (s shelf) Get(_ context.Context, name string) ([]byte, error) {
	body, there := s[name]
	switch {
	case !there:
		return nil, fs.ErrNotExist
	case body == nil:
		return nil, errAway
	}
	return body, nil
}

func (s shelf) List(_ context.Context, prefix string) (all []Object, err error) {
	for name, body := range s {
		if strings.HasPrefix(name, prefix) {
			all = append(all, Object{name, int64(len(body))})
		}
	}
	slices.SortFunc(all, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (s shelf) Delete(_ context.Context, name string) error {
	delete(s, name)
	return nil
}

var errAway = errors.New("the target cannot be reached")

// at is a moment in hours.
func at(hour int) time.Time { return moment.Truncate(time.Hour).Add(time.Duration(hour) * time.Hour) }

func generationAt(hour int) string { return nameGeneration(at(hour), "x") }

// segments puts segments of a generation, each of an hour.
func (s shelf) segments(g string, first int, hours ...int) {
	for i, hour := range hours {
		s[nameSegment(g, first+i, at(hour))] = []byte("s")
	}
}

// base puts a base that needs the segments from one to another, with a part.
func (s shelf) base(t *testing.T, g string, number, first, whole, hour int) {
	t.Helper()
	object, _, err := seal(header{Kind: kindBase, Generation: g, Number: number, Base: &base{Number: number, Parts: 1, First: first, Whole: whole, At: at(hour)}}, nil)
	require.NoError(t, err)
	s[nameBase(g, number)] = object
	s[namePart(g, number, 1)] = []byte("p")
}

func listOf(t *testing.T, s Target) []*Generation {
	t.Helper()
	all, err := List(t.Context(), s)
	require.NoError(t, err)
	return all
}

func TestList_TellsWhatCanBeRestored(t *testing.T) {
	t.Parallel()
	s := shelf{}
	g := generationAt(0)
	s.segments(g, 1, 1, 2)    // 1 and 2
	s.segments(g, 5, 3, 4, 5) // 5 to 7
	s.base(t, g, 1, 1, 3, 2)
	s.base(t, g, 2, 2, 9, 6)
	s[nameBase(g, 3)] = []byte("half")
	s[nameKey(g)] = []byte("key")
	s[g+"/log/nonsense"] = []byte("n")
	s["lost+found/x"], s["file"], s[generationAt(9)] = []byte("l"), []byte("f"), []byte("a file, and no folder")
	all := listOf(t, s)
	require.Len(t, all, 1)
	size := int64(0)
	for name, body := range s {
		if strings.HasPrefix(name, g+"/") {
			size += int64(len(body))
		}
	}
	got := *all[0]
	require.Len(t, got.objects, 12)
	got.bases, got.segments, got.objects = nil, nil, nil
	require.Equal(t, Generation{
		Name: g, Began: at(0), Last: at(5), From: at(2), To: at(6), Bases: 2, Segments: 5, Bytes: size, Missing: []int{3, 4, 8, 9}, Damaged: []string{nameBase(g, 3)}, HasKey: true,
	}, got)

	s[nameBase(g, 2)] = nil
	_, err := List(t.Context(), s)
	require.ErrorIs(t, err, errAway)
	delete(s, nameBase(g, 2))
	require.Equal(t, at(5), listOf(t, s)[0].To, "that of the last segment")
	delete(s, nameBase(g, 1))
	bare := listOf(t, s)[0]
	require.Empty(t, bare.Missing, "without a base nobody knows")
	require.Zero(t, bare.From)
	require.Zero(t, bare.To)
	require.Equal(t, at(5), bare.Last)
}

func TestList_TakesNothingForABaseThatIsAnotherThing(t *testing.T) {
	t.Parallel()
	g := generationAt(0)
	for what, h := range map[string]header{
		"of another generation": {Kind: kindBase, Generation: "other", Base: &base{}},
		"of another kind":       {Kind: kindPart, Generation: g, Base: &base{}},
		"without what it says":  {Kind: kindBase, Generation: g},
	} {
		object, _, err := seal(h, nil)
		require.NoError(t, err)
		all := listOf(t, shelf{nameBase(g, 1): object})
		require.Zero(t, all[0].Bases, what)
		require.Equal(t, []string{nameBase(g, 1)}, all[0].Damaged, what)
	}
	require.Empty(t, listOf(t, shelf{}))
}

// pruned removes what need not be kept from a copy, and gives what is left of each generation, and what is logged.
func pruned(t *testing.T, s shelf, own string, before time.Time) (left map[string]int, logged string) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, prune(t.Context(), s, own, before, slog.New(slog.NewTextHandler(&b, nil))))
	left = map[string]int{}
	for name := range s {
		g, _, _ := strings.Cut(name, "/")
		left[g]++
	}
	return left, b.String()
}

func TestPrune_KeepsGenerationsAsLongAsOneMayGoBackToThem(t *testing.T) {
	t.Parallel()
	first, second, failed, own := generationAt(0), generationAt(10), generationAt(20), generationAt(30)
	made := func() shelf {
		s := shelf{}
		s.segments(first, 1, 1, 9)
		s.base(t, first, 1, 1, 1, 1)
		s.segments(second, 1, 11, 19)
		s.base(t, second, 1, 1, 1, 11)
		s.segments(failed, 1, 21) // it never had a base
		s.segments(own, 1, 31, 39)
		s.base(t, own, 1, 1, 1, 31)
		return s
	}
	for hour, want := range map[int]map[string]int{
		9: {first: 4, second: 4, failed: 1, own: 4}, 10: {first: 4, second: 4, failed: 1, own: 4}, 11: {second: 4, failed: 1, own: 4},
		21: {second: 4, failed: 1, own: 4}, 22: {second: 4, own: 4}, 30: {second: 4, own: 4}, 31: {own: 4}, 99: {own: 4},
	} {
		left, logged := pruned(t, made(), own, at(hour))
		require.Equal(t, want, left, "back to hour %d", hour)
		require.Empty(t, logged)
	}

	s := made()
	s.segments(second, 3, 30)
	left, logged := pruned(t, s, own, at(99))
	require.Equal(t, map[string]int{own: 4}, left)
	require.Empty(t, logged)
	s = made()
	s.segments(second, 3, 32)
	left, logged = pruned(t, s, own, at(99))
	require.Equal(t, map[string]int{second: 5, own: 4}, left, "somebody writes there still")
	require.Contains(t, logged, "another server ships to the same target")
	require.Contains(t, logged, second)
	require.NotContains(t, logged, "generation="+first)

	delete(s, nameBase(own, 1))
	before := len(s)
	left, _ = pruned(t, s, own, at(99))
	require.Len(t, s, before, "without a base of one's own all is needed")
	require.Equal(t, 3, left[own])
	pruned(t, s, "unknown", at(99))
	require.Len(t, s, before)
}

func TestPrune_KeepsOfOnesOwnWhatTheLastBaseBeforeNeeds(t *testing.T) {
	t.Parallel()
	g := generationAt(0)
	made := func() shelf {
		s := shelf{nameKey(g): []byte("k"), g + "/log/nonsense": []byte("n")}
		s.segments(g, 1, 1, 2, 3, 4, 5, 6)
		s.base(t, g, 1, 1, 1, 1)
		s.base(t, g, 2, 3, 3, 3)
		s.base(t, g, 3, 5, 5, 5)
		return s
	}
	for hour, want := range map[int]struct{ base, segment int }{0: {1, 1}, 2: {1, 1}, 3: {2, 3}, 4: {2, 3}, 5: {3, 5}, 9: {3, 5}} {
		s := made()
		pruned(t, s, g, at(hour))
		var left []string
		for n := want.base; n <= 3; n++ {
			left = append(left, nameBase(g, n), namePart(g, n, 1))
		}
		for n := want.segment; n <= 6; n++ {
			left = append(left, nameSegment(g, n, at(n)))
		}
		left = append(left, nameKey(g), g+"/log/nonsense")
		var names []string
		for name := range s {
			names = append(names, name)
		}
		require.ElementsMatch(t, left, names, "back to hour %d", hour)
	}
}

// chosen gives what a restore begins with: generation, base and those that began later.
func chosen(t *testing.T, s shelf, w Wish) string {
	t.Helper()
	g, b, later, err := choose(s, listOf(t, s), w)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(g.Name, " ", b.Number, " ", later)
}

func TestChoose_TakesTheLastBaseUpToTheMoment(t *testing.T) {
	t.Parallel()
	first, second, failed := generationAt(0), generationAt(10), generationAt(20)
	s := shelf{}
	require.Equal(t, "the shelf has no backup", chosen(t, s, Wish{}))
	s.segments(first, 1, 1, 9)
	s.base(t, first, 1, 1, 1, 1)
	s.base(t, first, 2, 1, 1, 5)
	s.segments(second, 1, 11, 19)
	s.base(t, second, 1, 1, 1, 12)
	s.segments(failed, 1, 21)
	const firstRange = "from 2026-03-01T13:00:00Z to 2026-03-01T21:00:00Z"
	const secondRange = "from 2026-03-02T00:00:00Z to 2026-03-02T07:00:00Z"
	for _, c := range []struct {
		wish Wish
		want string
	}{
		{Wish{}, second + " 1 [" + failed + "]"},
		{Wish{At: at(99)}, second + " 1 [" + failed + "]"},
		{Wish{At: at(20)}, second + " 1 []"},
		{Wish{At: at(12)}, second + " 1 []"},
		{Wish{At: at(11)}, first + " 2 [" + second + "]"},
		{Wish{At: at(10)}, first + " 2 []"},
		{Wish{At: at(5)}, first + " 2 []"},
		{Wish{At: at(4)}, first + " 1 []"},
		{Wish{At: at(0)}, "the shelf has no copy of the database from 2026-03-01T12:00:00Z or before; what can be restored is as it was " + firstRange + ", or " + secondRange},
		{Wish{Generation: first}, first + " 2 []"},
		{Wish{Generation: second, At: at(11)}, "generation " + second + " of the shelf has no copy of the database from 2026-03-01T23:00:00Z or before; what can be restored is as it was " + secondRange},
		{Wish{Generation: failed}, "generation " + failed + " of the shelf has no copy of the database that is whole"},
		{Wish{Generation: "none"}, "the shelf has no generation none"},
	} {
		require.Equal(t, c.want, chosen(t, s, c.wish), "%+v", c.wish)
	}

	s.segments(first, 3, 10)
	require.Equal(t, second+" 1 ["+failed+"]", chosen(t, s, Wish{}), "one ended as the other began")
	s.segments(first, 4, 11)
	require.Contains(t, chosen(t, s, Wish{}), "two servers shipped to the shelf at once")
	require.Equal(t, second+" 1 []", chosen(t, s, Wish{Generation: second}), "it is said which one")
}

func TestChoose_NamesTheDamagedCopies(t *testing.T) {
	t.Parallel()
	g := generationAt(0)
	s := shelf{}
	s.segments(g, 1, 1)
	s[nameBase(g, 1)] = []byte{}
	for _, w := range []Wish{{}, {At: at(5)}} {
		require.Equal(t, "the shelf has no copy of the database that is whole; damaged: "+nameBase(g, 1), chosen(t, s, w))
	}
	later := generationAt(10)
	s.base(t, g, 2, 1, 1, 3)
	s[nameBase(later, 1)] = []byte{}
	refused := "generation " + later + " of the shelf began later, and its copy of the database is damaged: " + nameBase(later, 1) + "; name generation " + g + " to restore what was before it"
	require.Equal(t, refused, chosen(t, s, Wish{}))
	require.Equal(t, refused, chosen(t, s, Wish{At: at(11)}))
	require.Equal(t, g+" 2 []", chosen(t, s, Wish{At: at(9)}), "it had not begun")
	require.Equal(t, g+" 2 []", chosen(t, s, Wish{Generation: g}))
	delete(s, nameBase(later, 1))
	require.Equal(t, "the shelf has no copy of the database from 2026-03-01T14:00:00Z or before; what can be restored is as it was from 2026-03-01T15:00:00Z to 2026-03-01T15:00:00Z; damaged: "+
		nameBase(g, 1), chosen(t, s, Wish{At: at(2)}))
}

func TestGap_SaysHowFarItCanGo(t *testing.T) {
	t.Parallel()
	gap := &Gap{Generation: "g", Segment: 7, Base: 1, Lost: at(5), Err: errAway}
	require.ErrorContains(t, gap, "segment 7 of generation g: the target cannot be reached; nothing of the generation can be restored from g/base/000001, and its last segment is of 2026-03-01T17:00:00Z")
	require.ErrorIs(t, gap, errAway)
	gap.Upto = at(4)
	require.ErrorContains(t, gap, "the generation can be restored up to 2026-03-01T16:00:00Z (--at), and its last segment is of 2026-03-01T17:00:00Z")
}
