package httpapi

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestCursors_LeadBackIntoTheirListAlone(t *testing.T) {
	t.Parallel()
	list := listed{"u", "listPods", "a"}
	for _, p := range []compute.Position{{At: 1_700_000_000_000, Seq: 7}, {At: -5, Seq: -6}, {Seq: 1}, {At: 1}, {At: 1 << 62, Seq: 1 << 62}} {
		cursor := list.cursor(p)
		got, err := list.position(cursor)
		require.NoError(t, err)
		require.Equal(t, p, got)
		text, err := base64.RawURLEncoding.DecodeString(cursor)
		require.NoError(t, err)
		require.EqualValues(t, 1, text[0], "the version, which servers of another one may have given")

		text[0] = 2
		wrong := []string{base64.RawURLEncoding.EncodeToString(text), cursor + "A", cursor[1:], cursor[:len(cursor)-1], "", "!!", "AQ"}
		for _, other := range []listed{{"v", "listPods", "a"}, {"u", "listTemplates", "a"}, {"u", "listPods", "b"}, {"u", "listPods"}, {"u", "listPods", "a", ""}, {"u", "listPodsa"}} {
			wrong = append(wrong, other.cursor(p))
		}
		for _, cursor := range wrong {
			got, err := list.position(cursor)
			require.Equal(t, compute.Invalid, compute.CodeOf(err), cursor)
			require.Zero(t, got)
		}
	}
	_, err := list.position(list.cursor(compute.Position{}))
	require.Equal(t, compute.Invalid, compute.CodeOf(err), "the beginning has no cursor")
}

func TestPages_HaveAThousandUnlessTheirRequestSaysOtherwise(t *testing.T) {
	t.Parallel()
	list := listed{"u", "listPods"}
	p, err := list.page(nil, nil)
	require.NoError(t, err)
	require.Equal(t, []any{1000, compute.Position{}}, []any{p.Limit, p.After})
	cursor, limit := list.cursor(compute.Position{At: 5}), int64(7)
	p, err = list.page(&cursor, &limit)
	require.NoError(t, err)
	require.Equal(t, []any{7, compute.Position{At: 5}}, []any{p.Limit, p.After})
	wrong := "none"
	_, err = list.page(&wrong, nil)
	require.Equal(t, compute.Invalid, compute.CodeOf(err))

	last := list.pagination(compute.Position{})
	require.False(t, last.HasNextPage)
	require.True(t, last.NextCursor.IsNull())
	more := list.pagination(compute.Position{At: 5})
	require.True(t, more.HasNextPage)
	require.Equal(t, cursor, more.NextCursor.MustGet())
}
