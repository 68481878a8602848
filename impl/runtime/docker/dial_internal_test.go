package docker

import (
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestDial_TheEngineOfTheEnvironmentMayBeReachedBySSH(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no program is run
	t.Setenv(client.EnvOverrideHost, "ssh://berth@box")
	address, err := Address("")
	require.NoError(t, err)
	require.Equal(t, "ssh://berth@box", address)
	h, err := New(Config{Owner: "o", Clock: compute.SystemClock{}})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	require.Equal(t, "ssh://berth@box", h.config.Host, "its ports are reached as those of --docker-host are")
	require.NotContains(t, h.engine.DaemonHost(), "ssh://", "the program speaks to it, and not the client")

	t.Setenv(client.EnvOverrideHost, "ssh://box:port")
	_, err = New(Config{Owner: "o", Clock: compute.SystemClock{}})
	require.ErrorContains(t, err, "docker: ")
}
