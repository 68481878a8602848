package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	ready = 2 * time.Minute // for the server to say that it is ready
	leave = time.Minute     // for it to end after SIGTERM
)

// server is a running berth.
type server struct {
	cmd       *exec.Cmd
	URL       string            `json:"url"`
	Key       string            `json:"key"` // of the first start of a data directory
	Controls  string            `json:"controlsKey"`
	Endpoints map[string]string `json:"endpoints"`
}

// settings are what a server is started with.
type settings struct {
	berth     string // the program
	data      string
	listen    string
	runtime   string // of pods
	store     string // URL of a database that several servers share; empty: a file in the data directory
	endpoints []string
	more      []string // further arguments
}

// launch starts berth on the data directory. What it logs goes to the end of a file beside the data, which log reads.
func (c settings) launch() (*server, io.Reader, error) {
	args := []string{
		"serve", "--json", "--private-webhooks", "--process-accept", "args", "--process-accept", "env:SECRET", "--data", c.data, "--listen", c.listen, "--runtime", c.runtime,
		"--quota-minute", "100000000", "--quota-hour", "100000000", "--quota-day", "100000000",
	}
	if c.store != "" {
		args = append(args, "--store", c.store)
	}
	for _, e := range c.endpoints {
		args = append(args, "--endpoint", e)
	}
	s := &server{cmd: exec.Command(c.berth, append(args, c.more...)...)}
	logs, err := os.OpenFile(c.data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}

	defer func() { _ = logs.Close() }()
	s.cmd.Stderr = logs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}

	return s, out, s.cmd.Start()
}

// start is launch, and waits until the server is ready.
func (c settings) start() (*server, error) {
	s, out, err := c.launch()
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(ready, func() { _ = s.cmd.Process.Kill() }) // ends the read below
	line, err := bufio.NewReader(out).ReadBytes('\n')
	late.Stop()
	if err == nil {
		err = json.Unmarshal(line, s)
	}

	if err != nil {
		s.kill()
		logged, _ := os.ReadFile(c.data + ".log")
		return nil, fmt.Errorf("the server did not say that it is ready: %w; its log ends:\n%s", err, logged[max(0, len(logged)-1000):])
	}

	return s, nil
}

// lastingAddress gives an address that a server can come back to after it was killed: the system gives ports of this range to nobody
// who asks for any, neither to listen nor to call from.
func lastingAddress() string {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000))) //nolint:gosec // G404: any port will do
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	return "127.0.0.1:0"
}

// kill sends SIGKILL and waits until the server is gone, so that its port and its data are free.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// terminate sends SIGTERM and waits until the server is gone.
func (s *server) terminate() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.AfterFunc(leave, func() { _ = s.cmd.Process.Kill() })
	err := s.cmd.Wait()
	if !late.Stop() {
		err = fmt.Errorf("the server did not end within %s of its SIGTERM", leave)
	}
	return err
}

// log gives the end of what the servers of a data directory logged.
func log(data string) string {
	text, err := os.ReadFile(data + ".log")
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// service is where a server is, up or down.
type service struct {
	url, key  string
	endpoints map[string]string // ids by name
	http      *http.Client
	spread    *spread // over several replicas; nil: there is one server
}

func (s *server) service() *service {
	return &service{
		url: s.URL, key: s.Key, endpoints: s.Endpoints,
		http: &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
}

// call makes a request of an endpoint's queue. Status 0 means that no answer came: what was asked may have been done or not.
func (s *service) call(ctx context.Context, method, endpoint, operation, body string) (status int, answer []byte) {
	return s.rest(ctx, s.key, method, "/v2/"+s.endpoints[endpoint]+"/"+operation, body)
}

// rest makes a request with the key.
func (s *service) rest(ctx context.Context, key, method, path, body string) (status int, answer []byte) {
	if s.spread != nil {
		return s.spread.rest(ctx, key, method, path, body)
	}
	status, _, answer, err := send(ctx, s.http, key, method, s.url+path, body)
	if err != nil {
		return 0, nil
	}
	return status, answer
}

// send makes a request with the key, and reads the whole answer.
func send(ctx context.Context, by *http.Client, key, method, url, body string) (status int, header http.Header, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		panic(err) // the address is ours
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := by.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}

	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, res.Header, bytes.TrimSpace(answer), err
}
