package berth

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestOptions_AreTheSettingsOfTheServer(t *testing.T) {
	t.Parallel()
	options := Options{
		Runtime: RuntimeDocker, Lease: 5 * time.Second, ProcessEnv: []string{"A", "B"}, QuotaDay: 7, Docs: true, Pull: "never", GraphQLDepth: 9,
	}
	c, err := app.NewConfig(options.values())
	require.NoError(t, err)
	require.Equal(t, RuntimeDocker, c.Runtime)
	require.Equal(t, 5*time.Second, c.Lease)
	require.EqualValues(t, 7, c.Quotas.Day)
	require.EqualValues(t, 1000, c.Quotas.Minute)
	require.Equal(t, 9, c.GraphQL.Limits.Depth)
	require.True(t, c.Docs)
	require.False(t, c.PrivateWebhooks)
	require.Equal(t, "127.0.0.1:0", c.Listen)
	require.Equal(t, []string{"A", "B"}, c.RuntimeSettings.List("process-env"))
	require.Equal(t, "never", c.RuntimeSettings.Text("pull"))

	c, err = app.NewConfig(Options{}.values())
	require.NoError(t, err)
	require.False(t, c.Docs, "a switch that is not set is off")
	require.Equal(t, RuntimeSim, c.Runtime)

	_, err = app.NewConfig(Options{Lease: time.Second}.values())
	require.EqualError(t, err, `lease "1s": it must be at least 3s`)
}

func TestOptions_RuntimesAreThoseThatExist(t *testing.T) {
	t.Parallel()
	var names []string
	for _, k := range app.Runtimes() {
		names = append(names, k.Name)
	}
	require.ElementsMatch(t, []string{RuntimeSim, RuntimeProcess, RuntimeDocker, RuntimeKubernetes}, names)
	require.True(t, app.Simulates(""))
	require.False(t, app.Simulates(RuntimeDocker))
}
