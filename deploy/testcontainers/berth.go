// Package berth starts a berth of the test's own in a container: the module for testcontainers-go.
package berth

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	port = "8765/tcp"
	kept = "/data" // the one directory that the image's user may write to
)

// Container is a running berth, which keeps nothing.
type Container struct {
	testcontainers.Container
	URL         string // base of all interfaces, without a slash at the end
	Key         string // of a key with every scope
	ControlsKey string // of the test controls, below URL/_berth/
}

// Run starts the image, such as berth:1.2.3, and waits until it is ready. Whoever called it ends the container, also where there is an error:
// testcontainers.CleanupContainer does for nil, too.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Container, error) {
	options = append([]testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(port),
		testcontainers.WithEnv(map[string]string{"TMPDIR": kept}),
		testcontainers.WithCmd("serve", "--json", "--ephemeral", "--test-controls", "--listen", "0.0.0.0:8765"),
		testcontainers.WithWaitStrategy(wait.ForLog(`"controlsKey"`), wait.ForHTTP("/readyz").WithPort(port)),
	}, options...)

	started, err := testcontainers.Run(ctx, image, options...)
	if started == nil {
		return nil, err
	}
	c := &Container{Container: started}
	if err != nil {
		return c, err
	}
	if c.URL, err = started.PortEndpoint(ctx, port, "http"); err != nil {
		return c, fmt.Errorf("where berth is published: %w", err)
	}
	return c, c.readKeys(ctx)
}

// readKeys reads the keys from the line that berth prints when it is ready.
func (c *Container) readKeys(ctx context.Context) error {
	printed, err := c.Logs(ctx)
	if err != nil {
		return fmt.Errorf("what berth printed: %w", err)
	}
	defer func() { _ = printed.Close() }()

	for lines := bufio.NewScanner(printed); lines.Scan(); {
		var ready struct{ Key, ControlsKey string }
		if json.Unmarshal(lines.Bytes(), &ready) == nil && ready.ControlsKey != "" {
			c.Key, c.ControlsKey = ready.Key, ready.ControlsKey
			return nil
		}
	}
	return errors.New("berth printed no line with its keys")
}

// WithArgs adds arguments of berth serve, such as --endpoint echo=.
func WithArgs(args ...string) testcontainers.CustomizeRequestOption {
	return testcontainers.WithCmdArgs(args...)
}

// WithSeed has the server have, from the start and after a reset, what is in the file of this machine.
func WithSeed(file string) testcontainers.CustomizeRequestOption {
	return func(r *testcontainers.GenericContainerRequest) error {
		inside := "/seed" + path.Ext(file)
		copied := testcontainers.ContainerFile{HostFilePath: file, ContainerFilePath: inside, FileMode: 0o444}
		return errors.Join(testcontainers.WithFiles(copied)(r), testcontainers.WithCmdArgs("--seed", inside)(r))
	}
}
