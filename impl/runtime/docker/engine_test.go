package docker_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

const (
	patience = 20 * time.Second
	look     = 10 * time.Millisecond
)

// role makes the test binary play a berth of that owner: it starts an allocation and waits to be killed.
const role = "BERTH_TEST_OWNER"

func TestMain(m *testing.M) {
	if owner := os.Getenv(role); owner != "" {
		host, err := docker.New(docker.Config{Owner: owner, Clock: compute.SystemClock{}})
		if err == nil {
			err = host.Start(context.Background(), kept())
		}

		for err == nil {
			var state runtime.State
			if state, err = host.Inspect(context.Background(), "a"); state.Phase == runtime.Up {
				fmt.Println("up")
				select {}
			}
		}

		fmt.Println(err)
		os.Exit(1)
	}

	os.Exit(m.Run())
}

// open gives a runtime of the owner, and removes at the end what the owner has.
func open(t *testing.T, c docker.Config) *docker.Runtime {
	t.Helper()
	c.Clock = compute.SystemClock{}
	host, err := docker.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	return host
}

func playing(id string, steps ...string) runtime.Allocation {
	return runtime.Allocation{ID: id, Image: dockertest.Image(), Args: shellquote.Join(steps...), Env: map[string]string{}}
}

func logs(t *testing.T, h *docker.Runtime, id string) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, h.Logs(t.Context(), id, runtime.LogQuery{}, func(l runtime.Line) error {
		text.WriteString(l.Text + "\n")
		return nil
	}))
	return text.String()
}

func await(t *testing.T, h *docker.Runtime, id string, phase runtime.Phase) (state runtime.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		state, err = h.Inspect(t.Context(), id)
		require.NoError(t, err)
		return state.Phase == phase
	}, patience, look)
	return state
}

// BenchmarkStart measures from Start until the container is up, and the removal.
func BenchmarkStart(b *testing.B) {
	_, owner := dockertest.Need(b)
	host, err := docker.New(docker.Config{Owner: owner, Clock: compute.SystemClock{}})
	require.NoError(b, err)
	defer func() { require.NoError(b, host.Close()) }()
	a := playing("a", "serve 8080", "stay")
	a.Ports = []string{"8080/http"}

	var starts, removals []time.Duration
	for b.Loop() {
		begin := time.Now()
		require.NoError(b, host.Start(b.Context(), a))
		for state := (runtime.State{}); state.Phase != runtime.Up; {
			<-time.After(look)
			state, err = host.Inspect(b.Context(), "a")
			require.NoError(b, err)
		}

		up := time.Now()
		require.NoError(b, host.Remove(b.Context(), "a"))
		starts, removals = append(starts, up.Sub(begin)), append(removals, time.Since(up))
	}

	slices.Sort(starts)
	slices.Sort(removals)
	b.ReportMetric(starts[len(starts)/2].Seconds()*1000, "ms-up-p50")
	b.ReportMetric(removals[len(removals)/2].Seconds()*1000, "ms-removed-p50")
}
