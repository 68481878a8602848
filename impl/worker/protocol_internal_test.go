package worker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithQuery(t *testing.T) {
	t.Parallel()
	require.Equal(t, "http://x/?a=1", withQuery("http://x/", "a=1"))
	require.Equal(t, "http://x/?b=2&a=1", withQuery("http://x/?b=2", "a=1"))
}
