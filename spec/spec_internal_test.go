package spec

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// The version of an overlay says which edition it makes. The name of its file only begins with it: so may that of another edition's.
func TestConvert_TakesTheOverlaysOfItsEdition(t *testing.T) {
	t.Parallel()
	overlay := func(version, extends string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("info: {version: '" + version + "'}\nextends: ../" + extends + "\nactions: [{target: $.info, update: {of " + version + ": true}}]\n")}
	}
	files := fstest.MapFS{
		"rest.yaml":                          {Data: []byte("info: {}\n")},
		"queue.yaml":                         {Data: []byte("info: {}\n")},
		"editions/acme.overlay.yaml":         overlay("acme", "rest.yaml"),
		"editions/acme.queue.overlay.yaml":   overlay("acme", "queue.yaml"),
		"editions/acme.2.overlay.yaml":       overlay("acme.2", "rest.yaml"),
		"editions/acme.2.queue.overlay.yaml": overlay("acme.2", "queue.yaml"),
	}

	for _, document := range []string{"rest", "queue"} {
		for edition, want := range map[string]map[string]bool{"": {}, "none": {}, "acme": {"of acme": true}, "acme.2": {"of acme.2": true}} {
			text, err := convert(files, document, edition)
			require.NoError(t, err)
			var got struct{ Info map[string]bool }
			require.NoError(t, json.Unmarshal(text, &got))
			require.Equal(t, want, got.Info, "%s in edition %q", document, edition)
		}
	}
}
