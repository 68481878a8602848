package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
)

// required, set to anything, makes an engine that does not answer a failure and not a reason to skip.
const required = "BERTH_TEST_DOCKER"

// image holds the player. It is made here, since no registry may be in reach.
const image = "berth-test-player:latest"

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

// engine gives the engine, once it answers and has the image.
var engine = sync.OnceValues(func() (*client.Client, error) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := c.Ping(ctx, client.PingOptions{}); err != nil {
		return nil, err
	}
	return c, importPlayer(ctx, c)
})

// importPlayer makes an image of the player and nothing else.
func importPlayer(ctx context.Context, c *client.Client) error {
	dir, err := os.MkdirTemp("", "player")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "player"), "./testdata/player")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(dir, "player"))
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "player", Mode: 0o755, Size: int64(len(program))}); err != nil {
		return err
	}
	if _, err := w.Write(program); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	answer, err := c.ImageImport(ctx, client.ImageImportSource{Source: &archive, SourceName: "-"}, image,
		client.ImageImportOptions{Changes: []string{`ENTRYPOINT ["/player"]`}})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer)
	return errors.Join(err, answer.Close())
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

func needEngine(t *testing.T) (*client.Client, string) {
	t.Helper()
	c, err := engine()
	if err != nil && os.Getenv(required) == "" {
		t.Skip("no container engine: ", err)
	}
	require.NoError(t, err)
	owner := strings.ToLower(rand.Text())[:10]
	t.Cleanup(func() { sweep(t, c, owner) })
	return c, owner
}

// sweep removes all containers and volumes of the owner.
func sweep(t testing.TB, c *client.Client, owner string) {
	ctx := context.Background()
	ours := make(client.Filters).Add("label", "dev.berth.owner="+owner)
	containers, err := c.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	require.NoError(t, err)
	for _, one := range containers.Items {
		_, err := c.ContainerRemove(ctx, one.ID, client.ContainerRemoveOptions{Force: true})
		require.NoError(t, err)
	}
	volumes, err := c.VolumeList(ctx, client.VolumeListOptions{Filters: ours})
	require.NoError(t, err)
	for _, one := range volumes.Items {
		_, err := c.VolumeRemove(ctx, one.Name, client.VolumeRemoveOptions{})
		require.NoError(t, err)
	}
}

func playing(id string, steps ...string) runtime.Allocation {
	return runtime.Allocation{ID: id, Image: image, Args: shellquote.Join(steps...), Env: map[string]string{}}
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
	c, err := engine()
	if err != nil {
		b.Skip("no container engine: ", err)
	}
	owner := strings.ToLower(rand.Text())[:10]
	b.Cleanup(func() { sweep(b, c, owner) })
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
