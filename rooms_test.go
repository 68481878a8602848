package berth

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// roomsFile shows which room imports which, drawn from the list that decides it.
const roomsFile = "docs/rooms.md"

// TestRoomsPictures is written by make rules.
func TestRoomsPictures(t *testing.T) {
	t.Parallel()
	picture := drawRooms()
	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile(roomsFile, []byte(picture), 0o600))
	}
	want, err := os.ReadFile(roomsFile)
	require.NoError(t, err)
	require.Equal(t, string(want), picture, "%s is not what architecture_test.go says: run make rules", roomsFile)
}

// drawRooms draws what the program is made of, without what only tests import. Of the imports those are left out that follow
// from others: an arrow stands for "may import, and what that one may".
func drawRooms() string {
	var b strings.Builder
	b.WriteString("# The rooms\n\nDrawn by `make rules` from the list in [`architecture_test.go`](../architecture_test.go), which says for each room which\n" +
		"others it may import. An arrow that follows from others is left out.\n\n```mermaid\nflowchart TD\n")
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		if strings.HasSuffix(name, "test") || strings.Contains(name, "test/") {
			continue
		}
		may := rooms[name].may
		for _, to := range slices.Sorted(slices.Values(may)) {
			if !slices.ContainsFunc(may, func(other string) bool { return other != to && leadsTo(other, to) }) {
				fmt.Fprintf(&b, "  %s --> %s\n", node(name), node(to))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// leadsTo tells whether a room may import another, by way of others or not.
func leadsTo(from, to string) bool {
	return slices.ContainsFunc(rooms[from].may, func(next string) bool { return next == to || leadsTo(next, to) })
}

// node is a room in the picture: graph, style and the like are words of Mermaid, so each has an id that is none.
func node(name string) string {
	if name == "" {
		name = "berth"
	}
	return fmt.Sprintf("r_%s[%q]", strings.ReplaceAll(name, "/", "_"), strings.TrimPrefix(name, "impl/"))
}

func TestImpliedArrowsAreLeftOutOfThePicture(t *testing.T) {
	t.Parallel()
	picture := drawRooms()
	require.Contains(t, picture, `r_impl_control["control"] --> r_store["store"]`)
	require.NotContains(t, picture, `r_impl_control["control"] --> r_impl_compute["compute"]`, "the store imports it")
}
