package control_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func newSealer(t *testing.T, key byte) *control.Sealer {
	t.Helper()
	s, err := control.NewSealer(bytes.Repeat([]byte{key}, control.SecretKeySize))
	require.NoError(t, err)
	return s
}

func TestSealer_OpensForItsOwnerAloneAndWithItsKeyAlone(t *testing.T) {
	t.Parallel()
	s := newSealer(t, 1)
	sealed := s.Seal([]byte("the text"), "owner")
	require.NotContains(t, string(sealed), "the text")
	require.NotEqual(t, sealed, s.Seal([]byte("the text"), "owner"), "nobody sees that two are the same")
	text, err := newSealer(t, 1).Open(sealed, "owner")
	require.NoError(t, err)
	require.Equal(t, "the text", string(text))

	_, err = s.Open(sealed, "another")
	require.ErrorIs(t, err, control.ErrSecretKey)
	_, err = newSealer(t, 2).Open(sealed, "owner")
	require.ErrorIs(t, err, control.ErrSecretKey)
	_, err = s.Open(sealed[:3], "owner")
	require.ErrorIs(t, err, control.ErrSecretKey)
}

func TestSealer_NeedsAKeyOfItsLength(t *testing.T) {
	t.Parallel()
	require.Equal(t, 32, control.SecretKeySize)
	for _, size := range []int{0, 16, 31, 33} {
		_, err := control.NewSealer(make([]byte, size))
		require.ErrorContains(t, err, "bytes, not 32", size)
	}
}

func TestSealer_KeysOfPodsLastAsLongAsTheSecretKey(t *testing.T) {
	t.Parallel()
	pod := compute.Pod{ID: "k3m9x2m4p6q8r1"}
	token := newSealer(t, 1).PodKeys().Token(pod)
	id, _, ok := newSealer(t, 1).PodKeys().Parse(token)
	require.True(t, ok)
	require.Equal(t, pod.ID, id)
	_, _, ok = newSealer(t, 2).PodKeys().Parse(token)
	require.False(t, ok)
	require.NotEqual(t, compute.NewPodKeys(bytes.Repeat([]byte{1}, control.SecretKeySize)).Token(pod), token, "nor is the secret key itself what makes them")
}
