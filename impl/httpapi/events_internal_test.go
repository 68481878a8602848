package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestStreams_AreBoundedOfAKeyAndInAll(t *testing.T) {
	t.Parallel()
	s := newStreams("logs that are followed", 2, 3)
	var ends []func()
	for _, key := range []compute.KeyID{"a", "a", "b"} {
		end, err := s.begin(key)
		require.NoError(t, err)
		ends = append(ends, end)
	}
	for key, says := range map[compute.KeyID]string{"a": "the key has 2 logs that are followed already", "b": "there are 3 logs that are followed already"} {
		_, err := s.begin(key)
		require.Equal(t, compute.TooMany, compute.CodeOf(err))
		require.ErrorContains(t, err, says)
	}
	for _, end := range ends {
		end()
	}
	require.Empty(t, s.of)
	require.Zero(t, s.all)
	end, err := s.begin("a")
	require.NoError(t, err)
	end()
}
