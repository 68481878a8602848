package dockertest

import (
	"context"
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

// Machine is an engine that knows nothing of the others, as on a machine of its own, and how it is done harm.
type Machine struct {
	*testing.T
	Address string // of the engine
	Gateway string // address of this machine for its containers
	dir     string
	Client  *client.Client
}

// machines are the engines that .ci/with-engines starts, each with the image of the player.
var machines = sync.OnceValues(func() (all []Machine, err error) {
	program, err := build(context.Background(), "player", player)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(os.Getenv("BERTH_TEST_ENGINES")) {
		fields := strings.Fields(line)
		m := Machine{Address: fields[0], Gateway: fields[1], dir: fields[2]}
		if m.Client, err = client.New(client.WithHost("unix://" + filepath.Join(m.dir, "docker.sock"))); err != nil {
			return nil, err
		}
		if _, err = importProgram(context.Background(), m.Client, "player", program); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
})

// Machines gives three engines, and the directory with the certificates for the second one. It skips the test where there are none.
func Machines(t *testing.T) (all []Machine, certs string) {
	t.Helper()
	if os.Getenv("BERTH_TEST_ENGINES") == "" {
		t.Skip("SKIPPED: no engines: run it by make engines")
	}
	found, err := machines()
	require.NoError(t, err)
	for _, m := range found {
		m.T = t
		all = append(all, m)
	}
	return all, os.Getenv("BERTH_TEST_CERTS")
}

// Player is the name of the image of the player on all Machines.
func Player(t *testing.T) string {
	t.Helper()
	program, err := build(t.Context(), "player", player)
	require.NoError(t, err)
	return imageOf("player", program)
}

// Import makes an image of a program of this module on the machine, and gives its name.
func (m Machine) Import(name, path string) string {
	m.Helper()
	program, err := build(m.Context(), name, path)
	require.NoError(m, err)
	image, err := importProgram(m.Context(), m.Client, name, program)
	require.NoError(m, err)
	return image
}

// Kill ends the engine and all that runs on it, as a power cut does.
func (m Machine) Kill() { m.run("kill") }

// Start starts the engine that was killed.
func (m Machine) Start() { m.run("start") }

// Stun has the engine answer nobody, while what runs on it goes on, until Wake.
func (m Machine) Stun() { m.run("stun") }

// Wake undoes Stun.
func (m Machine) Wake() { m.run("wake") }

func (m Machine) run(name string) {
	m.Helper()
	out, err := exec.Command(filepath.Join(m.dir, name)).CombinedOutput()
	require.NoError(m, err, "%s %s: %s", name, m.Address, out)
}

// Sweep removes what the engine has of the owner.
func (m Machine) Sweep(owner string) { sweep(m.T, m.Client, owner) }

// Up gives the names of the containers that run and are of owners whose name begins so; none if the engine does not answer.
func (m Machine) Up(owner string) (names []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	containers, err := m.Client.ContainerList(ctx, client.ContainerListOptions{})
	if err != nil {
		return nil
	}
	for _, one := range containers.Items {
		if strings.HasPrefix(one.Labels["dev.berth.owner"], owner) {
			names = append(names, one.Names...)
		}
	}
	return names
}

// Left gives the names of what the engine has of owners whose name begins so.
func (m Machine) Left(owner string) (names []string) {
	m.Helper()
	ours := func(label string) bool { return strings.HasPrefix(label, owner) }
	containers, err := m.Client.ContainerList(context.Background(), client.ContainerListOptions{All: true})
	require.NoError(m, err)
	for _, one := range containers.Items {
		if ours(one.Labels["dev.berth.owner"]) {
			names = append(names, one.Names...)
		}
	}
	volumes, err := m.Client.VolumeList(context.Background(), client.VolumeListOptions{})
	require.NoError(m, err)
	for _, one := range volumes.Items {
		if ours(one.Labels["dev.berth.owner"]) {
			names = append(names, one.Name)
		}
	}
	return names
}
