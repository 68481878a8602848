package graphql

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// asking is the context of a request with a key, in whose document a field is resolved that has nothing below it.
func asking(ctx context.Context) (context.Context, *call) {
	c := &call{key: &compute.Key{ID: "k", UserID: "u"}}
	ctx = graphql.WithFieldContext(graphql.WithOperationContext(ctx, &graphql.OperationContext{}), &graphql.FieldContext{})
	return context.WithValue(ctx, callKey{}, c), c
}

// allLists is the memory that the lists of all documents have, in bytes, and listsOfOne what one key has of it.
const (
	allLists   = 32_000_000
	listsOfOne = 20_000_000
)

// requireFree asserts that another key can have so many bytes for its lists, and not one more.
func requireFree(t *testing.T, answers *limit.Answers, bytes int64) {
	t.Helper()
	_, more := answers.List("somebody", bytes+1)
	require.False(t, more, "more than %d bytes are free", bytes)
	leave, free := answers.List("somebody", bytes)
	require.True(t, free, "%d bytes are not free", bytes)
	leave()
}

func TestLists_HaveSomeForNothingAndThenAPieceAtATime(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	first, ok := answers.List("first", listsOfOne)
	require.True(t, ok)
	_, ok = answers.List("second", allLists-listsOfOne)
	require.True(t, ok)

	var l lists
	require.NoError(t, l.add(1<<20, answers, "k"), "for nothing, while others have everything")
	err := l.add(1, answers, "k")
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.ErrorIs(t, err, limit.ErrBusy)

	first()
	requireFree(t, answers, listsOfOne)
	require.NoError(t, l.add(1, answers, "k"))
	requireFree(t, answers, listsOfOne-1<<20)
	require.NoError(t, l.add(1<<20-1, answers, "k"), "the rest of the piece")
	requireFree(t, answers, listsOfOne-1<<20)
	require.NoError(t, l.add(1, answers, "k"))
	requireFree(t, answers, listsOfOne-2<<20)

	l.leave()
	requireFree(t, answers, listsOfOne)
}

func TestLists_HaveAMostToTheByte(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	_, ok := answers.List("other", allLists-listsOfOne)
	require.True(t, ok)
	var l lists
	require.NoError(t, l.add(16<<20, answers, "k"))
	requireFree(t, answers, listsOfOne-15<<20)
	require.Equal(t, compute.Rejected, compute.CodeOf(l.add(1, answers, "k")))
	require.NoError(t, l.add(0, answers, "k"))

	var once lists
	require.Equal(t, compute.Rejected, compute.CodeOf(once.add(16<<20+1, answers, "k")))
	requireFree(t, answers, listsOfOne-15<<20)
	l.leave()
	requireFree(t, answers, listsOfOne)
}

func TestListed_CountsWhatARowAdds(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	ctx, c := asking(t.Context())
	all, err := listed(ctx, answers, "/v2/pods", func(_ context.Context, user compute.UserID, room compute.Room) ([]string, error) {
		require.Equal(t, compute.UserID("u"), user)
		for _, bytes := range []int{100, 250, 400} {
			require.True(t, room(bytes))
		}
		return []string{"a"}, nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, all)
	require.Equal(t, 400, c.lists.bytes)

	stopped := errors.New("the list was not read to its end")
	_, err = listed(ctx, answers, "/v2/pods", func(_ context.Context, _ compute.UserID, room compute.Room) ([]string, error) {
		require.True(t, room(200))
		require.False(t, room(17<<20))
		require.False(t, room(300), "once there was none there is none")
		return nil, stopped
	})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "the lists of the document have over 16777216 bytes: ask for fewer, or read this one in pages, with GET /v2/pods")
	require.Equal(t, 600, c.lists.bytes)

	all, err = listed(ctx, answers, "/v2/pods", func(context.Context, compute.UserID, compute.Room) ([]string, error) { return nil, stopped })
	require.ErrorIs(t, err, stopped)
	require.Nil(t, all)
}

func TestCounted_CountsTheEnvironmentAndTheTexts(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	ctx, c := asking(t.Context())
	require.NoError(t, counted(ctx, answers, "/v2/pods/p", map[string]string{"ab": "cde", "f": "gh"}, "ijkl", "m"))
	require.Equal(t, 8+5, c.lists.bytes)

	c.lists.bytes = 16<<20 - 2
	require.NoError(t, counted(ctx, answers, "/v2/pods/p", nil, "n"))
	err := counted(ctx, answers, "/v2/pods/p", nil, "op")
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "read this one with GET /v2/pods/p")

	first, ok := answers.List("first", listsOfOne-1)
	require.False(t, ok, "the document has fifteen pieces")
	require.Nil(t, first)
	c.lists.leave()
	_, ok = answers.List("first", listsOfOne)
	require.True(t, ok)
	_, ok = answers.List("second", allLists-listsOfOne)
	require.True(t, ok)
	ctx, _ = asking(t.Context())
	err = counted(ctx, answers, "/v2/pods/p", map[string]string{"a": string(make([]byte, 1<<20))})
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
}
