// Package dockertest gives tests a real container engine and an image to run on it.
package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// required, set to anything, makes an engine that does not answer a failure and not a reason to skip.
const required = "BERTH_TEST_DOCKER"

const player = "github.com/berthdev/berth/impl/runtime/docker/dockertest/testdata/player"

// found is the engine and the name of the image in it.
type found struct {
	engine  *client.Client
	program []byte // the player
	image   string
}

// find looks once for an engine that answers, and makes the image there.
var find = sync.OnceValues(func() (f found, err error) {
	if f.engine, err = client.New(client.FromEnv); err != nil {
		return f, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, err = f.engine.Ping(ctx, client.PingOptions{}); err != nil {
		return f, err
	}
	if f.program, err = build(ctx, "player", player); err == nil {
		f.image, err = importProgram(ctx, f.engine, "player", f.program)
	}
	return f, err
})

// Image is the name of an image whose entrypoint carries out the steps of package play, and in which there is nothing else. It
// is made here, since no registry may be in reach.
func Image() string {
	f, _ := find()
	return f.image
}

// Need gives the engine, and a name for an owner. It skips the test if no engine answers, and removes what the owner has
// when the test has ended.
func Need(t testing.TB) (engine *client.Client, owner string) {
	t.Helper()
	f, err := find()
	if err != nil && os.Getenv(required) == "" {
		t.Skip("SKIPPED: no container engine:", err)
	}
	require.NoError(t, err)
	owner = strings.ToLower(rand.Text())[:10]
	t.Cleanup(func() { Sweep(t, owner) })
	return f.engine, owner
}

// Sweep removes all containers, volumes and networks of the owner.
func Sweep(t testing.TB, owner string) {
	f, err := find()
	require.NoError(t, err)
	sweep(t, f.engine, owner)
}

func sweep(t testing.TB, engine *client.Client, owner string) {
	ctx := context.Background()
	ours := make(client.Filters).Add("label", "dev.berth.owner="+owner)
	containers, err := engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	require.NoError(t, err)

	for _, one := range containers.Items {
		_, err := engine.ContainerRemove(ctx, one.ID, client.ContainerRemoveOptions{Force: true})
		require.NoError(t, err)
	}
	volumes, err := engine.VolumeList(ctx, client.VolumeListOptions{Filters: ours})
	require.NoError(t, err)

	for _, one := range volumes.Items {
		_, err := engine.VolumeRemove(ctx, one.Name, client.VolumeRemoveOptions{})
		require.NoError(t, err)
	}
	networks, err := engine.NetworkList(ctx, client.NetworkListOptions{Filters: ours})
	require.NoError(t, err)
	for _, one := range networks.Items {
		_, err := engine.NetworkRemove(ctx, one.ID, client.NetworkRemoveOptions{})
		require.NoError(t, err)
	}
}

// Program makes an image of the program of a package of this module, in which there is nothing else, and gives its name. Need
// comes first.
func Program(t testing.TB, name, path string) string {
	t.Helper()
	f, err := find()
	require.NoError(t, err)
	program, err := build(context.Background(), name, path)
	require.NoError(t, err)
	image, err := importProgram(context.Background(), f.engine, name, program)
	require.NoError(t, err)
	return image
}

// build builds a package of this module.
func build(ctx context.Context, name, path string) ([]byte, error) {
	dir, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, name)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, path)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(file)
}

// importProgram makes an image of the program, unless one of this very program is there.
func importProgram(ctx context.Context, c *client.Client, name string, program []byte) (image string, err error) {
	image = imageOf(name, program)
	if _, err := c.ImageInspect(ctx, image); err == nil {
		return image, nil
	}

	archive, err := pack(name, program)
	if err != nil {
		return "", err
	}
	answer, err := c.ImageImport(ctx, client.ImageImportSource{Source: archive, SourceName: "-"}, image,
		client.ImageImportOptions{Changes: []string{`ENTRYPOINT ["/` + name + `"]`}})
	if err != nil {
		return "", err
	}

	_, err = io.Copy(io.Discard, answer)
	return image, errors.Join(err, answer.Close())
}

// imageOf names the image of a program.
func imageOf(name string, program []byte) string {
	sum := sha256.Sum256(program)
	return "berth-test-" + name + ":" + hex.EncodeToString(sum[:6])
}

// pack makes the file system of the image.
func pack(name string, program []byte) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = w.Write(program)
	}
	if err == nil { // for what asks an engine which GPUs it has
		err = w.WriteHeader(&tar.Header{Name: "usr/bin/nvidia-smi", Typeflag: tar.TypeSymlink, Linkname: "/" + name, Mode: 0o777})
	}
	return &archive, errors.Join(err, w.Close())
}
