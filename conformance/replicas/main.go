//go:build unix

// Command replicas stands in for berth's program: `replicas serve` starts three servers over one PostgreSQL of its own behind one address,
// each connection to any of them, and what it prints is what one server does. So scripts that start a server can have several of them:
// BERTH=replicas. Every other command is berth's, about the database of the directory that --data names.
//
// BERTH_PROGRAM is berth's program, and BERTH_REPLICAS how many servers there are.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/berthdev/berth/conformance/spread"
	"github.com/berthdev/berth/store/pgtest"
)

// storeFile is the file of the directory that --data names which has the URL of its database.
const storeFile = "store.url"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "replicas:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	program := os.Getenv("BERTH_PROGRAM")
	if program == "" {
		return errors.New("BERTH_PROGRAM is missing: berth's program")
	}
	if len(args) > 0 && args[0] == "serve" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		return serve(ctx, program, args)
	}

	if data, _ := taken(args, "--data"); data != "" {
		store, err := os.ReadFile(filepath.Join(data, storeFile)) //nolint:gosec // G304: the caller's
		if err == nil {
			args = append(args, "--store", string(store))
		}
	}
	return syscall.Exec(program, slices.Concat([]string{program}, args), os.Environ()) //nolint:gosec // G204: the caller's
}

// taken gives the value of a flag, and the arguments without it.
func taken(args []string, flag string) (value string, rest []string) {
	for i, a := range args {
		if a == flag && i+1 < len(args) {
			return args[i+1], slices.Concat(args[:i], args[i+2:])
		}
		if v, is := strings.CutPrefix(a, flag+"="); is {
			return v, slices.Concat(args[:i], args[i+1:])
		}
	}
	return "", args
}

// serve runs the servers until ctx ends.
func serve(ctx context.Context, program string, args []string) (err error) {
	data, args := taken(args, "--data")
	listen, args := taken(args, "--listen")
	args = slices.DeleteFunc(args, func(a string) bool { return a == "--json" })
	count, _ := strconv.Atoi(cmp.Or(os.Getenv("BERTH_REPLICAS"), "3"))
	if data == "" || listen == "" || count < 1 {
		return errors.New("serve needs --data, --listen, and at least one of BERTH_REPLICAS")
	}

	cluster, err := pgtest.Start(context.WithoutCancel(ctx), "fsync=off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := os.MkdirAll(data, 0o700); err != nil { //nolint:gosec // G703: the caller's
		return err
	}
	if err := os.WriteFile(filepath.Join(data, storeFile), []byte(cluster.URL("")), 0o600); err != nil { //nolint:gosec // G703: the caller's
		return err
	}
	front, err := spread.Listen(listen)
	if err != nil {
		return err
	}
	defer func() { _ = front.Close() }()

	failed := make(chan error, count)
	var servers []*exec.Cmd
	defer func() {
		for _, s := range servers {
			_ = s.Process.Signal(syscall.SIGTERM)
		}
		for range servers {
			<-failed
		}
	}()
	key := filepath.Join(data, "0", "secret.key")
	var first map[string]any
	for n := range count {
		more := []string{"--json", "--listen", "127.0.0.1:0", "--data", filepath.Join(data, strconv.Itoa(n)), "--store", cluster.URL(""), "--public-url", front.URL()}
		if n > 0 { // all have the key of the first one
			more = append(more, "--secret-key", key)
		}
		s, ready, err := start(program, slices.Concat(args, more))
		if err != nil {
			return err
		}
		servers = append(servers, s)
		go func() { failed <- s.Wait() }()

		front.Add(ready["url"].(string))
		if n == 0 {
			first = ready
		}
	}

	first["url"], first["queueUrl"] = front.URL(), front.URL()
	if err := json.NewEncoder(os.Stdout).Encode(first); err != nil {
		return err
	}

	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		failed <- err
		return fmt.Errorf("a server ended: %w", err)
	}
}

// start starts a server and waits for what it prints when it is ready.
func start(program string, args []string) (*exec.Cmd, map[string]any, error) {
	s := exec.Command(program, args...) //nolint:gosec // G204: the caller's
	s.Stderr = os.Stderr
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for this program, which ends them in order
	out, err := s.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := s.Start(); err != nil {
		return nil, nil, err
	}

	var ready map[string]any
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		_ = s.Process.Kill()
		return nil, nil, fmt.Errorf("a server does not come up: %w", errors.Join(err, s.Wait()))
	}
	return s, ready, nil
}
