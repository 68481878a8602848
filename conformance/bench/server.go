package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// server is a running program that printed where it listens.
type server struct {
	cmd     *exec.Cmd
	address string // host:port
	ready   ready
	key     string // of berth: not limited in its rate
	data    string
	inPod   *server      // who listens on the port of each of its pods; nil but where that is measured
	said    bytes.Buffer // to standard error, complete once it has ended
}

// ready is what a program prints when it listens.
type ready struct {
	URL        string
	MetricsURL string
	Key        string
	Endpoints  map[string]string
}

// run starts a program and waits until it listens.
func run(path string, args ...string) (*server, error) {
	s := &server{cmd: exec.Command(path, args...)}
	s.cmd.Stderr = io.MultiWriter(os.Stderr, &s.said)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, err
	}

	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.ready)
	}
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w: %s", path, err, bytes.TrimSpace(s.said.Bytes()))
	}

	s.address = strings.TrimPrefix(s.ready.URL, "http://")
	return s, nil
}

// started has the servers that run.
var started sync.Map

func (s *server) start() error {
	err := s.cmd.Start()
	if err == nil {
		started.Store(s, nil)
	}
	return err
}

// interrupted ends every server, and the run, when it is asked to end itself.
func (b *bench) interrupted() {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	<-interrupts
	started.Range(func(s, _ any) bool { // at once: one may wait for another
		_ = s.(*server).cmd.Process.Signal(syscall.SIGTERM)
		return true
	})
	started.Range(func(s, _ any) bool {
		s.(*server).stop()
		return true
	})
	b.remove()
	os.Exit(1)
}

// stop ends the program and waits for it.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	ended := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	ended.Stop()
	started.Delete(s)
	if s.inPod != nil {
		s.inPod.stop()
	}
}

// cpu gives the processor time that the program has used; 0 where the system has no /proc.
func (s *server) cpu() time.Duration {
	if t, ok := ranFor(s.cmd.Process.Pid); ok {
		return t
	}
	fields := statOf(strconv.Itoa(s.cmd.Process.Pid))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11]) // fields 14 and 15 of proc(5), in hundredths of a second
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// allocations gives how many objects the program has allocated; 0 where it does not tell.
func (s *server) allocations() float64 {
	if s.ready.MetricsURL == "" {
		return 0
	}
	res, err := http.Get(s.ready.MetricsURL)
	if err != nil {
		return 0
	}
	defer func() { _ = res.Body.Close() }()

	all := 0.0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if count, ok := strings.CutPrefix(lines.Text(), "go_memstats_mallocs_total "); ok {
			all, _ = strconv.ParseFloat(count, 64)
		}
	}
	return all
}

// external starts a program that does not report when it listens, and waits until it does.
func external(cmd *exec.Cmd, address string) (*server, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	s := &server{cmd: cmd, address: address}
	if err := s.start(); err != nil {
		return nil, err
	}
	if err := listening(address); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, stderr.String())
	}
	return s, nil
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
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Since(start) > time.Minute {
			return err
		}
	}
}

// bare starts the bare server, on echo or on net/http alone.
func (b *bench) bare(kind ...string) (*server, error) {
	path, err := b.build("bare")
	if err != nil {
		return nil, err
	}
	return run(path, append([]string{b.directory() + ".db"}, kind...)...)
}

// serve starts berth on a data directory with one endpoint, whose workers are ours, and makes a key without rate limits.
// Before the program's path come the words of a tracer, if any.
func (b *bench) serve(data string, tracer ...string) (*server, error) {
	return b.serveWorkers(data, "", tracer...)
}

// serveWorkers is serve for an endpoint whose workers are processes of the command.
func (b *bench) serveWorkers(data, command string, tracer ...string) (*server, error) {
	s, err := b.launch(data, command, tracer)
	if err != nil {
		return nil, err
	}
	return b.withKey(s)
}

// counted is serve for a server that counts its allocations, on new data.
func (b *bench) counted() (*server, error) {
	s, err := b.launch(b.directory(), "", nil, "--log-level", "warn", "--metrics-listen", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return b.withKey(s)
}

// serveOver is serve for a replica over the PostgreSQL database at the URL.
func (b *bench) serveOver(store, data string) (*server, error) {
	s, err := b.launch(data, "", nil, "--store", store)
	if err != nil {
		return nil, err
	}
	return b.withKey(s, "--store", store)
}

// withKey gives a server a key without rate limits.
func (b *bench) withKey(s *server, store ...string) (*server, error) {
	create := exec.Command(b.berth, append([]string{"keys", "create", "--data", s.data, "--name", "bench", "--exempt"}, store...)...)
	create.Stderr = os.Stderr
	key, err := create.Output()
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("keys create: %w", err)
	}

	s.key = strings.TrimSpace(string(key))
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the server looks for new keys now and then
		if _, err = s.once(s.get("health")); err == nil || time.Since(start) > 10*time.Second {
			break
		}
	}
	if err != nil {
		s.stop()
	}

	return s, err
}

// restart starts berth again on the data directory of a server that serve started, with its key.
func (b *bench) restart(before *server) (*server, error) {
	s, err := b.launch(before.data, "", nil)
	if err == nil {
		s.key = before.key
	}
	return s, err
}

func (b *bench) launch(data, command string, tracer []string, more ...string) (*server, error) {
	words := append(tracer, b.berth, "serve", "--json", "--listen", "127.0.0.1:0", "--data", data, "--endpoint", "bench="+command)
	words = append(words, more...)
	s, err := run(words[0], words[1:]...)
	if err == nil {
		s.data = data
	}
	return s, err
}

// path gives a path of the endpoint's queue.
func (s *server) path(rest string) string { return "/v2/" + s.ready.Endpoints["bench"] + "/" + rest }

// post and get make requests to the endpoint's queue.
func (s *server) post(rest string, body []byte) []byte {
	return request(http.MethodPost, s.path(rest), s.key, body)
}

func (s *server) get(rest string) []byte { return request(http.MethodGet, s.path(rest), s.key, nil) }

// once asks on a connection of its own.
func (s *server) once(req []byte) (body []byte, err error) {
	err = each(s.address, 1, func(_ int, c *conn) error {
		body, err = c.ask(req, http.StatusOK)
		return err
	})
	return body, err
}

// purge empties the queue, so that one measurement does not leave its jobs to the next.
func (s *server) purge() error {
	_, err := s.once(s.post("purge-queue", nil))
	return err
}
