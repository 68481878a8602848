package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// peers measures how many jobs a second go from enqueue to done, enqueued over HTTP on 64 connections while 64 workers take
// them. berth's workers come over HTTP, too; the peers' are goroutines of the front, which favours the peers.
func (b *bench) peers() error {
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()
	ours := func() (reading, error) {
		return withWorkers(berth, connections, func() (reading, error) {
			return b.through(berth, berth.post("run", kilobyte), func() (int64, error) {
				body, err := berth.once(berth.get("health"))
				if err != nil {
					return 0, err
				}
				return numberOf(body, `"completed":`)
			})
		})
	}
	front, err := b.build("peer")
	if err != nil {
		return err
	}
	header()
	for _, p := range []struct {
		name, kind string
		start      func() (address string, stop func(), err error)
	}{
		{"berth beside asynq, Redis appendfsync everysec", "asynq", func() (string, func(), error) { return b.redis("everysec") }},
		{"berth beside asynq, Redis appendfsync always", "asynq", func() (string, func(), error) { return b.redis("always") }},
		{"berth beside River, PostgreSQL as it comes", "river", b.postgres},
	} {
		address, stop, err := p.start()
		if err != nil {
			skipped(p.name, err.Error())
			continue
		}
		err = func() error {
			defer stop()
			peer, err := run(front, p.kind, address)
			if err != nil {
				return err
			}
			defer peer.stop()
			theirs := func() (reading, error) {
				return b.through(peer, request(http.MethodPost, "/", "", kilobyte), func() (int64, error) {
					body, err := peer.once(request(http.MethodGet, "/", "", nil))
					if err != nil {
						return 0, err
					}
					return strconv.ParseInt(string(body), 10, 64)
				})
			}
			return row{p.name, theirs, ours, "jobs/s, enqueue to done"}.print(b)
		}()
		if err != nil {
			return err
		}
	}
	return nil
}

// through enqueues for a while and waits until everything is done.
func (b *bench) through(s *server, enqueue []byte, done func() (int64, error)) (reading, error) {
	before, err := done()
	if err != nil {
		return reading{}, err
	}
	return s.reading(func() (int64, error) {
		start := time.Now()
		enqueued, err := s.rate(connections, b.length, http.StatusOK, forever(enqueue))
		if err != nil {
			return 0, err
		}
		for ; ; time.Sleep(time.Millisecond) {
			now, err := done()
			if err != nil || now-before >= enqueued.units {
				return enqueued.units, err
			}
			if time.Since(start) > time.Minute+b.length {
				return 0, fmt.Errorf("%d of %d jobs are done after a minute", now-before, enqueued.units)
			}
		}
	})
}

// freeAddress gives an address that nobody listens on.
func freeAddress() (host, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	host, port, err = net.SplitHostPort(l.Addr().String())
	return host, port, errors.Join(err, l.Close())
}

// listening waits until somebody listens on the address.
func listening(address string) error {
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Since(start) > 20*time.Second {
			return err
		}
	}
}

// redis starts a Redis server that keeps what it is told.
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
	cmd := exec.Command(path, "--bind", host, "--port", port, "--dir", dir, "--appendonly", "yes", "--appendfsync", appendfsync, "--save", "")
	return begun(cmd, net.JoinHostPort(host, port), syscall.SIGTERM)
}

// begun starts a server and waits until it listens.
func begun(cmd *exec.Cmd, address string, end syscall.Signal) (string, func(), error) {
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop := func() {
		_ = cmd.Process.Signal(end)
		_ = cmd.Wait()
	}
	if err := listening(address); err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
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
	dir, err := os.MkdirTemp("", "berth-bench-postgres-") // the run's own directory is closed to other users
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	as, err := owner(dir)
	if err == nil {
		cmd := exec.Command(initdb, "--pgdata", filepath.Join(dir, "data"), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8")
		cmd.SysProcAttr, cmd.Dir = as, dir
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	host, port := "", ""
	if err == nil {
		host, port, err = freeAddress()
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	cmd := exec.Command(postgres, "-D", filepath.Join(dir, "data"), "-h", host, "-p", port, "-k", dir)
	cmd.SysProcAttr, cmd.Dir = as, dir
	_, end, err := begun(cmd, net.JoinHostPort(host, port), syscall.SIGINT)
	if err != nil {
		remove()
		return "", nil, err
	}
	url = fmt.Sprintf("postgres://postgres@%s:%s/postgres", host, port)
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(50 * time.Millisecond) { // it listens before it answers
		if ready, err := postgresProgram("pg_isready"); err != nil || exec.Command(ready, "-h", host, "-p", port).Run() == nil {
			break
		}
	}
	return url, func() { end(); remove() }, nil
}

// postgresProgram finds a program of PostgreSQL, which Debian keeps out of the path.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return path, nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("there is no %s here", name)
	}
	return found[len(found)-1], nil
}
