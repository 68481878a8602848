//go:build unix

// Package pgtest starts a PostgreSQL of its own for tests: in a temporary directory, on a Unix socket alone, from the programs that
// this machine has installed.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthdev/berth/impl/compute"
)

// ErrMissing says that this machine has no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is missing (Debian: apt-get install postgresql)")

// Cluster is a running PostgreSQL.
type Cluster struct {
	dir      string
	programs string
	as       *syscall.Credential // who runs it, if that is somebody else
	server   *exec.Cmd
	schemas  atomic.Int64
}

// Start makes a cluster and starts it. The settings, such as fsync=off, come on top of PostgreSQL's own. ErrMissing if there is none.
func Start(ctx context.Context, settings ...string) (_ *Cluster, err error) {
	programs, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "berth-pg-") // a short path: it is that of a socket, too
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, programs: programs}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()

	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		if err := c.runAs("postgres"); err != nil {
			return nil, err
		}
	}

	if out, err := c.command(ctx, "initdb", "-D", c.data(), "-U", "berth", "-A", "trust", "-N", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	return c, c.Up(ctx, settings...)
}

// find gives the folder of PostgreSQL's programs: the latest version of those that are installed.
func find() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return number(a) - number(b) })
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", ErrMissing
}

func number(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

func (c *Cluster) runAs(name string) error {
	u, err := user.Lookup(name)
	if err != nil {
		return fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(c.dir, uid, gid)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, program), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as, Setpgid: true}
	return cmd
}

// Up starts the server and waits until it answers.
func (c *Cluster) Up(ctx context.Context, settings ...string) error {
	args := []string{"-D", c.data(), "-k", c.dir, "-c", "listen_addresses=", "-c", "max_connections=200"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own

	c.server = c.command(context.WithoutCancel(ctx), "postgres", args...)
	c.server.Stdout, c.server.Stderr = log, log
	if err := c.server.Start(); err != nil {
		return err
	}

	for range 300 {
		connection, err := pgx.Connect(ctx, c.URL(""))
		if err == nil {
			return connection.Close(ctx)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		passed, _ := compute.SystemClock{}.After(100 * time.Millisecond) // until it listens
		<-passed
	}

	text, _ := os.ReadFile(filepath.Join(c.dir, "log"))
	return fmt.Errorf("PostgreSQL does not answer: %s", text)
}

// Down ends the server: by SIGTERM in order, by SIGINT without waiting for its clients, by SIGQUIT at once, as after a crash.
func (c *Cluster) Down(by syscall.Signal) error {
	if c.server == nil {
		return nil
	}
	if err := c.server.Process.Signal(by); err != nil {
		return err
	}
	_ = c.server.Wait() // how it ended was chosen
	c.server = nil
	return nil
}

// Stop ends the server and removes everything.
func (c *Cluster) Stop() error {
	return errors.Join(c.Down(syscall.SIGQUIT), os.RemoveAll(c.dir))
}

// Socket gives the path of the server's Unix socket.
func (c *Cluster) Socket() string { return filepath.Join(c.dir, ".s.PGSQL.5432") }

// URL gives what leads to a schema of the cluster; "" is the first one.
func (c *Cluster) URL(schema string) string {
	q := url.Values{"host": {c.dir}, "user": {"berth"}}
	if schema != "" {
		q.Set("search_path", schema)
	}
	return "postgres:///postgres?" + q.Encode()
}

// Schema makes a new schema, as good as a database of its own, and gives its URL.
func (c *Cluster) Schema(ctx context.Context) (string, error) {
	name := "s" + strconv.FormatInt(c.schemas.Add(1), 10)
	connection, err := pgx.Connect(ctx, c.URL(""))
	if err != nil {
		return "", err
	}
	_, err = connection.Exec(ctx, "CREATE SCHEMA "+name)
	return c.URL(name), errors.Join(err, connection.Close(ctx))
}
