package app_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// itselfAsImage makes an image of the test binary, and gives what a pod or an endpoint says to run it with an environment.
func itselfAsImage(t *testing.T, env map[string]string) string {
	itself, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(env)
	require.NoError(t, err)
	args := fmt.Sprintf(`{"entrypoint":["/usr/bin/%s"]}`, filepath.Base(itself))
	return fmt.Sprintf(`"image":%q,"args":%q,"env":%s`, dockertest.Tools(t, itself, "sleep"), args, text)
}

// TestShown_FromAContainer has a pod that is a container do what the others do as processes.
func TestShown_FromAContainer(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	data := t.TempDir()
	own(t, data, owner)
	s := start(t, app.Config{Data: data, Runtime: "docker", Domain: "pods.example"})
	p := &webPod{T: t, client: trusting(t, s, x509.NewCertPool()), base: "http://POD.pods.example"}
	p.call = func(method, path, body string) (int, map[string]any) {
		return call(t, method, s.URL()+path, s.FirstKey(), body)
	}
	p.kill = func(int) {
		_, err := engine.ContainerKill(context.WithoutCancel(t.Context()), "berth-"+owner+"-"+p.id, client.ContainerKillOptions{Signal: "KILL"})
		require.NoError(t, err)
	}
	p.make("8080", itselfAsImage(t, map[string]string{asWeb: ":8080"}))

	p.echoes()
	p.sendsEvents()
	p.takesAndGives()
	p.isKilled()
	status, _ := p.call("DELETE", "/v2/pods/"+p.id, "")
	require.Equal(t, 204, status)
	shore := &shore{T: t, engine: engine, owner: owner}
	shore.nothingLeft()
	require.NoError(t, s.Close())
}

// TestBalance_ContainersComeWithRequestsAndGoWithoutThem goes from no worker to two and back.
func TestBalance_ContainersComeWithRequestsAndGoWithoutThem(t *testing.T) {
	t.Parallel()
	engine, owner := dockertest.Need(t)
	data := t.TempDir()
	own(t, data, owner)
	s := start(t, app.Config{Data: data, Runtime: "docker"})
	b := &balanced{T: t, Server: s, key: s.FirstKey()}
	b.make(itselfAsImage(t, map[string]string{asServing: "first", servingOn: "0.0.0.0"}), "2", `{"min":0,"max":2,"idleTimeout":1}`)
	r, err := b.ask(t.Context(), "/a/b") // held until there is a worker
	require.NoError(t, err)
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, `first `+r.worker+` "" /a/b`, r.body)

	over := b.under(4, "/?takes=50ms")
	require.Eventually(t, func() bool { return strings.Join(b.workers(), " ") == "RUNNING RUNNING" }, time.Minute, 20*time.Millisecond)
	_, workers := over()
	require.Len(t, workers, 2)
	require.Eventually(t, func() bool { return len(b.workers()) == 0 }, time.Minute, 50*time.Millisecond)
	shore := &shore{T: t, engine: engine, owner: owner}
	shore.nothingLeft()
	require.NoError(t, b.Close())
}
