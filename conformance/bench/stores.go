package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// redis starts a Redis server that keeps what it is given.
func (b *bench) redis(appendfsync string) (address string, stop func(), err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, errors.New("there is no redis-server here")
	}
	host, port, err := freeAddress()
	if err != nil {
		return "", nil, err
	}

	dir := b.directory()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, err
	}
	cmd := exec.Command(path, "--bind", host, "--port", port, "--dir", dir, "--appendonly", "yes", "--appendfsync", appendfsync, "--save", "",
		"--auto-aof-rewrite-percentage", "0") // no rewriting while it is measured

	return begun(cmd, net.JoinHostPort(host, port), syscall.SIGTERM)
}

// begun starts a server that the signal ends, and waits until it listens.
func begun(cmd *exec.Cmd, address string, end syscall.Signal) (string, func(), error) {
	s, err := external(cmd, address)
	if err != nil {
		return "", nil, err
	}
	return address, func() {
		_ = cmd.Process.Signal(end)
		s.stop()
	}, nil
}

// postgres starts a PostgreSQL server on a new cluster. It refuses to run as root, so root hands it to the user postgres.
func (b *bench) postgres() (url string, stop func(), err error) {
	initdb, err := postgresProgram("initdb")
	if err != nil {
		return "", nil, err
	}
	postgres, err := postgresProgram("postgres")
	if err != nil {
		return "", nil, err
	}

	dir := b.directory()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, err
	}
	as, err := owner(dir)
	if err != nil {
		return "", nil, err
	}

	initialize := exec.Command(initdb, "--pgdata", filepath.Join(dir, "data"), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-sync")
	initialize.SysProcAttr, initialize.Dir = as, dir
	if out, err := initialize.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}

	host, port, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(postgres, "-D", filepath.Join(dir, "data"), "-h", host, "-p", port, "-k", dir)
	cmd.SysProcAttr, cmd.Dir = as, dir
	_, end, err := begun(cmd, net.JoinHostPort(host, port), syscall.SIGINT)
	if err != nil {
		return "", nil, err
	}

	url = fmt.Sprintf("postgres://postgres@%s:%s/postgres", host, port)
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(50 * time.Millisecond) { // it listens before it answers
		if ready, err := postgresProgram("pg_isready"); err != nil || exec.Command(ready, "-h", host, "-p", port).Run() == nil {
			break
		}
	}

	return url, end, nil
}

// postgresProgram finds a program of PostgreSQL, which Debian keeps out of the path: what it has there is a wrapper.
func postgresProgram(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err == nil && len(found) > 0 {
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no %s here", name)
	}
	return filepath.EvalSymlinks(path)
}
