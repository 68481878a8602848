package ship

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/sqlite"
)

// sealed puts an object of a generation.
func (s shelf) sealed(t *testing.T, name, generation string, h header, content string) {
	t.Helper()
	h.Generation = generation
	object, _, err := seal(h, []byte(content))
	require.NoError(t, err)
	s[name] = object
}

func TestFetch_GivesOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := shelf{}
	s.sealed(t, "name", "g", header{Kind: kindPart, Number: 7}, "content")
	h, content, err := fetch(t.Context(), s, "name", "g", kindPart)
	require.NoError(t, err)
	require.Equal(t, 7, h.Number)
	require.Equal(t, "content", string(content))
	for _, c := range []struct{ generation, kind string }{{"other", kindPart}, {"g", kindKey}} {
		_, content, err = fetch(t.Context(), s, "name", c.generation, c.kind)
		require.ErrorIs(t, err, errDamaged)
		require.ErrorContains(t, err, "name: it is damaged: it is a part of generation g")
		require.Nil(t, content)
	}
	_, _, err = fetch(t.Context(), s, "none", "g", kindPart)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "none: ")
	s["name"] = []byte("half")
	_, _, err = fetch(t.Context(), s, "name", "g", kindPart)
	require.ErrorIs(t, err, errDamaged)
}

// parted has a base of two parts.
func parted(t *testing.T) (s shelf, g *Generation, b base) {
	t.Helper()
	s, g, b = shelf{}, &Generation{Name: "g"}, base{Number: 3, Parts: 2, Bytes: 7, First: 1, Whole: 1, At: at(3)}
	s.sealed(t, namePart("g", 3, 1), "g", header{Kind: kindPart, Number: 1}, "first")
	s.sealed(t, namePart("g", 3, 2), "g", header{Kind: kindPart, Number: 2}, "ly")
	return s, g, b
}

func TestCopyBase_MakesTheFileOfItsParts(t *testing.T) {
	t.Parallel()
	s, g, b := parted(t)
	path := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, g.copyBase(t.Context(), s, b, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "firstly", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.ErrorIs(t, g.copyBase(t.Context(), s, b, path), fs.ErrExist, "what is there is nobody's to replace")

	fails := func(is error, says string) {
		t.Helper()
		err := g.copyBase(t.Context(), s, b, filepath.Join(t.TempDir(), "copy.db"))
		require.ErrorIs(t, err, is)
		require.ErrorContains(t, err, says)
	}
	b.Bytes = 8
	fails(errDamaged, "base 3 has 7 bytes, not 8")
	b.Bytes = 5
	fails(errDamaged, "base 3 has 7 bytes, not 5")
	s[namePart("g", 3, 2)] = s[namePart("g", 3, 1)]
	fails(errDamaged, "part 2 of base 3")
	s[namePart("g", 3, 2)] = nil
	fails(errAway, namePart("g", 3, 2))
	delete(s, namePart("g", 3, 1))
	fails(fs.ErrNotExist, namePart("g", 3, 1))
}

func TestCopyLast_GoesBackToABaseThatCanBeRead(t *testing.T) {
	t.Parallel()
	s, g, third := parted(t)
	first, second := third, third
	first.Number, first.At, second.Number, second.At = 1, at(1), 2, at(2)
	g.bases = []base{first, second, third}
	for _, n := range []int{1, 2} {
		for part := 1; part <= 2; part++ {
			s[namePart("g", n, part)] = s[namePart("g", 3, part)]
		}
	}
	taken := func(upto time.Time) (base, []string, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "copy.db")
		b, damaged, err := g.copyLast(t.Context(), s, upto, path)
		if err == nil {
			require.FileExists(t, path)
		} else {
			require.True(t, errors.Is(err, errAway) || !exists(path), "nothing is left that is no base")
		}
		return b, damaged, err
	}
	for hour, want := range map[int]base{1: first, 2: second, 3: third, 9: third} {
		b, damaged, err := taken(at(hour))
		require.NoError(t, err)
		require.Empty(t, damaged)
		require.Equal(t, want, b)
	}

	s[namePart("g", 3, 2)] = []byte("half")
	delete(s, namePart("g", 2, 2))
	b, damaged, err := taken(at(9))
	require.NoError(t, err)
	require.Equal(t, first, b)
	require.Equal(t, []string{nameBase("g", 3), nameBase("g", 2)}, damaged)
	s[namePart("g", 1, 1)] = []byte("half")
	_, _, err = taken(at(9))
	require.ErrorIs(t, err, errDamaged)
	require.ErrorContains(t, err, namePart("g", 3, 2), "it is of the one that was to be taken")
	s[namePart("g", 3, 2)] = nil
	_, damaged, err = taken(at(9))
	require.ErrorIs(t, err, errAway, "who cannot be reached may have all of it")
	require.Empty(t, damaged)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestReplay_StopsWhereSomethingIsMissing(t *testing.T) {
	t.Parallel()
	replayed := func(s shelf, b base, upto time.Time) (n int, until time.Time, err error) {
		t.Helper()
		g := &Generation{Name: "g", Last: at(9)}
		all, err := s.List(t.Context(), "g/log/")
		require.NoError(t, err)
		for _, o := range all {
			one, ok := readSegment(o)
			require.True(t, ok)
			g.segments = append(g.segments, one)
		}
		return g.replay(t.Context(), s, b, upto, sqlite.NewReplay(filepath.Join(t.TempDir(), "copy.db")))
	}
	gaps := func(s shelf, b base, segment int, upto time.Time, says string) {
		t.Helper()
		_, _, err := replayed(s, b, time.Time{})
		gap, is := errors.AsType[*Gap](err)
		require.True(t, is, err)
		require.Equal(t, "g", gap.Generation)
		require.Equal(t, segment, gap.Segment)
		require.Equal(t, upto, gap.Upto)
		require.Equal(t, at(9), gap.Lost)
		require.ErrorContains(t, err, says)
	}

	b := base{Number: 1, First: 3, Whole: 4, At: at(4)}
	s := shelf{}
	gaps(s, b, 3, time.Time{}, "it is missing")
	s.segments("g", 1, 1, 2) // before those that it needs
	gaps(s, b, 3, time.Time{}, "it is missing")
	s.segments("g", 4, 4)
	gaps(s, b, 3, time.Time{}, "it is missing")
	s.segments("g", 3, 3)
	gaps(s, b, 3, time.Time{}, "it is damaged, or none of ours")
	name := nameSegment("g", 3, at(3))
	for _, h := range []header{{Kind: kindPart, Number: 3}, {Kind: kindSegment, Number: 4}} {
		s.sealed(t, name, "g", h, "content")
		gaps(s, b, 3, time.Time{}, "it is another one")
	}
	s.sealed(t, name, "other", header{Kind: kindSegment, Number: 3}, "content")
	gaps(s, b, 3, time.Time{}, "it is another one")
	s.sealed(t, name, "g", header{Kind: kindSegment, Number: 3, Log: "x"}, "content")
	gaps(s, b, 3, time.Time{}, "has not its header")
	s[name] = nil
	_, _, err := replayed(s, b, time.Time{})
	require.ErrorIs(t, err, errAway)
	_, is := errors.AsType[*Gap](err)
	require.False(t, is, "it may be there")

	// Beyond what makes the base whole there is a moment up to which it can go.
	whole := base{Number: 1, First: 3, Whole: 2, At: at(4)}
	later := shelf{}
	later.segments("g", 4, 5)
	gaps(later, whole, 3, at(4), "it is missing")
	n, until, err := replayed(later, whole, at(4))
	require.NoError(t, err, "none is needed for what was before")
	require.Zero(t, n)
	require.Equal(t, at(4), until)
	n, until, err = replayed(shelf{}, whole, time.Time{})
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, at(4), until)
}
