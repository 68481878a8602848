package compute

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShare_IsOfAllAndOfOne(t *testing.T) {
	t.Parallel()
	var s Share[UserID]
	enter := func(who UserID) bool { return s.Enter(who, 3, 2) }
	require.True(t, enter("a"))
	require.True(t, enter("a"))
	require.False(t, enter("a"), "one has as many as one may")
	require.True(t, enter("b"))
	require.False(t, enter("c"), "there are as many as there may be")

	s.Leave("a")
	require.True(t, enter("c"))
	for _, who := range []UserID{"a", "b", "c"} {
		s.Leave(who)
	}
	require.Zero(t, s.all)
	require.Empty(t, s.of, "who has none takes no memory")
}
