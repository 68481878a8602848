package limit_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

func TestText_ComesAsItIsFromMemoryAndFromAFile(t *testing.T) {
	t.Parallel()
	b, dir := bodies(t)
	full, err := b.Text("full", make([]byte, 20_000_000))
	require.NoError(t, err)
	for _, size := range []int{0, 1, limit.FreeText, limit.FreeText + 1, 1_000_000, 20_000_000} {
		want := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		for _, key := range []compute.KeyID{"free", "full"} { // of which one has no memory left, and needs a file
			if key == "free" && size > 12_000_000 {
				continue // nor has anybody so much
			}
			text, err := b.Text(key, bytes.Clone(want))
			require.NoError(t, err)
			require.Equal(t, size, text.Size())

			var got bytes.Buffer
			require.NoError(t, text.Write(&got))
			require.True(t, bytes.Equal(want, got.Bytes()), "%d bytes for %s", size, key)
			text.Close()
		}
	}

	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, names, "no file has a name")
	full.Close()
	again, err := b.Text("full", make([]byte, 20_000_000))
	require.NoError(t, err)
	again.Close()
}

func TestText_OfManyWhoDoNotReadIsInFiles(t *testing.T) {
	t.Parallel()
	b, _ := bodies(t)
	var kept []*limit.Text
	inMemory := 0
	for range 40 {
		one, err := b.Text("k", make([]byte, 1_000_000))
		require.NoError(t, err)
		kept = append(kept, one)
		if one.InMemory() {
			inMemory++
		}
	}
	require.Equal(t, 20, inMemory, "as many as a key may have")
	for _, one := range kept {
		one.Close()
	}
}

func TestText_IsRefusedWhereThereIsNoRoomForAFileEither(t *testing.T) {
	t.Parallel()
	b, _ := bodies(t)
	var kept []*limit.Text
	var err error
	for err == nil && len(kept) < 10_000 {
		var one *limit.Text
		if one, err = b.Text("k", make([]byte, limit.FreeText+1)); err == nil {
			kept = append(kept, one)
		}
	}
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.ErrorIs(t, err, limit.ErrBusy)
	for _, one := range kept {
		one.Close()
	}
}
