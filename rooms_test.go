package berth

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// TestArchitecture_PicturesAreUpToDate holds the pictures of docs/architecture.md against what they are drawn from; make rules writes them.
func TestArchitecture_PicturesAreUpToDate(t *testing.T) {
	t.Parallel()
	const page = "docs/architecture.md"
	before, err := os.ReadFile(page)
	require.NoError(t, err)

	after := string(before)
	for name, draw := range map[string]func(io.Writer) error{"rooms": drawRooms, "pods": compute.PodMachine.WriteMermaid, "jobs": compute.JobMachine.WriteMermaid} {
		var picture strings.Builder
		require.NoError(t, draw(&picture))
		place := regexp.MustCompile(`(?s)(<!-- ` + name + `: [^\n]*\n).*?(<!-- end -->)`)
		require.Regexp(t, place, after)
		after = place.ReplaceAllString(after, "${1}```mermaid\n"+picture.String()+"```\n${2}")
	}

	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile(page, []byte(after), 0o600))
		return
	}
	assert.Equal(t, string(before), after, "%s is not what it is drawn from: run make rules", page)
}

// drawRooms draws what the program is made of as a Mermaid flowchart, without what only tests import. An arrow that follows
// from others is left out.
func drawRooms(w io.Writer) error {
	if _, err := fmt.Fprintln(w, "flowchart TD"); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		if strings.HasSuffix(name, "test") || strings.Contains(name, "test/") {
			continue
		}

		may := rooms[name].may
		for _, to := range slices.Sorted(slices.Values(may)) {
			if slices.ContainsFunc(may, func(other string) bool { return leadsTo(other, to) }) {
				continue
			}
			if _, err := fmt.Fprintf(w, "  %s --> %s\n", node(name), node(to)); err != nil {
				return err
			}
		}
	}

	return nil
}

// leadsTo reports whether a room may import another, by way of others or not.
func leadsTo(from, to string) bool {
	return slices.ContainsFunc(rooms[from].may, func(next string) bool { return next == to || leadsTo(next, to) })
}

// node is a room in the picture. Its id has a prefix: graph and the like are words of Mermaid.
func node(name string) string {
	if name == "" {
		name = "berth"
	}
	return fmt.Sprintf("r_%s[%q]", strings.ReplaceAll(name, "/", "_"), strings.TrimPrefix(name, "impl/"))
}

func TestDrawRooms_OmitsArrowsThatFollowFromOthers(t *testing.T) {
	t.Parallel()
	var picture strings.Builder
	require.NoError(t, drawRooms(&picture))
	require.Contains(t, picture.String(), `r_impl_control["control"] --> r_store["store"]`)
	require.NotContains(t, picture.String(), `r_impl_control["control"] --> r_impl_compute["compute"]`, "it follows from the store's")
}
