package graphql

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestManifestOf_IsAsItWasSent(t *testing.T) {
	t.Parallel()
	manifest, err := manifestOf(nil)
	require.NoError(t, err)
	require.Nil(t, manifest, "there is none any more")
	manifest, err = manifestOf(map[string]any{"n": json.Number("12345678901234567890")})
	require.NoError(t, err)
	require.Equal(t, `{"n":12345678901234567890}`, string(manifest))
}

func TestAppView_HasEnvironmentsAndBuilds(t *testing.T) {
	t.Parallel()
	made := time.UnixMilli(1_700_000_000_000)
	app := appView(control.FlashDetails{
		FlashApp:     compute.FlashApp{ID: "a", Name: "mine"},
		Environments: []compute.FlashEnvironment{{ID: "e", Name: "production", BuildID: "b", CreatedAt: made}, {ID: "f", Name: "staging", CreatedAt: made}},
		Builds:       []compute.FlashBuild{{ID: "b", CreatedAt: made}},
	})
	require.Equal(t, []string{"a", "mine"}, []string{*app.ID, *app.Name})
	require.Len(t, app.FlashBuilds, 1)
	require.Equal(t, "b", *app.FlashBuilds[0].ID)

	active, pending := app.FlashEnvironments[0], app.FlashEnvironments[1]
	require.Equal(t, []string{"e", "ACTIVE", "b"}, []string{*active.ID, *active.State, *active.ActiveBuildID})
	require.Equal(t, []string{"f", "PENDING"}, []string{*pending.ID, *pending.State})
	require.Nil(t, pending.ActiveBuildID)
	require.NotNil(t, pending.NetworkVolumes)

	artifact, err := flashEnvironments{}.ActiveArtifact(t.Context(), pending)
	require.NoError(t, err)
	require.Nil(t, artifact, "none was deployed")
}
