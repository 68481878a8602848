package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/setting"
)

// role makes the test binary play a berth of these settings: it says where it is, and waits to be killed.
const role = "BERTH_TEST_ROLE"

// part is what the test binary is to play with.
type part struct {
	Data, Listen, WorkerURL, Fleet string
	Settings                       setting.Values // of the runtime, which is docker
	Web                            string         // a port: the runtime is process, with a web server
	KilledAt                       string         // a step of a load: it is simulated, and has test controls, whose key it says instead of that for hosts
}

// play says where the berth is, the first key, and a key for the hosts, if there is a first key.
func (p part) play() error {
	c := app.Config{
		Data: p.Data, Listen: p.Listen, WorkerURL: p.WorkerURL, Fleet: p.Fleet, Runtime: "docker", RuntimeSettings: p.Settings,
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	if p.KilledAt != "" {
		c.Runtime, c.TestControls = "sim", true
		c = c.KilledAt(p.KilledAt)
	}

	if p.Web != "" {
		c.Runtime, c.Endpoints = "process", []app.Endpoint{webEndpoint(p.Web)}
	}

	s, err := app.Start(context.Background(), c)
	if err != nil {
		return err
	}
	if p.KilledAt != "" {
		fmt.Println(s.URL(), s.ControlsKey())
		select {}
	}
	admin := ""
	if s.FirstKey() != "" {
		if _, admin, err = s.CreateKey(context.Background(), control.NewKey{UserID: "owner", Scopes: []compute.Scope{compute.ScopeAdmin}}); err != nil {
			return err
		}
	}
	fmt.Println(s.URL(), s.FirstKey(), admin)
	select {}
}

// berth is a server in a process of its own.
type berth struct {
	process         *exec.Cmd
	url, key, admin string
}

func serve(t *testing.T, dir string) *berth {
	return servePart(t, part{Data: dir, Listen: "127.0.0.1:0"})
}

func servePart(t *testing.T, p part) *berth {
	b := &berth{process: exec.Command(os.Args[0])}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	b.process.Env = append(os.Environ(), role+"="+string(text))
	if testing.Verbose() {
		b.process.Stderr = os.Stderr
	}
	out, err := b.process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, b.process.Start())
	t.Cleanup(func() { b.kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	words := append(strings.Fields(line), "", "")
	b.url, b.key, b.admin = words[0], words[1], words[2]
	require.True(t, strings.HasPrefix(b.url, "http://"), line)
	return b
}

// kill sends SIGKILL.
func (b *berth) kill() {
	_ = b.process.Process.Kill()
	_ = b.process.Wait()
}
