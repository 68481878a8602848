// Command crash kills the server in the middle of a burst of submissions and checks, after a restart, that nothing
// acknowledged is gone: every acknowledged id is there, ends once, with its own output, and stays as it ended.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	connections = 32
	ready       = 30 * time.Second // for the server to say that it is ready
	settle      = 3 * time.Minute  // for the acknowledged jobs to end after the restart
)

func main() {
	berth := flag.String("berth", "bin/berth", "the server's program")
	rounds := flag.Int("rounds", 3, "how often to kill it")
	burst := flag.Int("burst", 10_000, "submissions in a round")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the moments of the kills")
	flag.Parse()
	fmt.Printf("seed %d\n", *seed)
	random := rand.New(rand.NewPCG(*seed, 0)) //nolint:gosec // moments, not secrets
	for round := range *rounds {
		// Neither at the very start nor at the very end: a kill with next to nothing acknowledged shows next to nothing.
		if err := run(*berth, *burst, 0.05+0.9*random.Float64()); err != nil {
			fmt.Fprintf(os.Stderr, "round %d: %v\n", round+1, err)
			os.Exit(1)
		}
	}
}

// server is a running berth.
type server struct {
	cmd       *exec.Cmd
	killed    atomic.Bool
	URL       string            `json:"url"`
	Key       string            `json:"key"`
	Endpoints map[string]string `json:"endpoints"`
}

// start starts berth on the data directory and waits until it is ready. What it logs goes to the end of a file beside the
// data, which log reads.
func start(berth, data, listen string) (*server, error) {
	berth, err := filepath.Abs(berth)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(berth, "serve", "--json", "--data", data, "--listen", listen, "--endpoint", "echo="+berth+" worker --handler echo --concurrency 8")}
	logs, err := os.OpenFile(data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = logs.Close() }()
	s.cmd.Stderr = logs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(ready, s.kill) // ends the read below
	line, err := bufio.NewReader(out).ReadBytes('\n')
	late.Stop()
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err != nil {
		s.kill()
		_ = s.cmd.Wait()
		return nil, fmt.Errorf("the server did not say that it is ready: %w", err)
	}
	return s, nil
}

// kill sends SIGKILL, once; the process is reaped by Wait.
func (s *server) kill() {
	if s.killed.CompareAndSwap(false, true) {
		_ = s.cmd.Process.Kill()
	}
}

// stop ends the server and waits until it is gone, so that its port and its data are free.
func (s *server) stop() {
	s.kill()
	_ = s.cmd.Wait()
}

// log gives the end of what the servers of a data directory logged.
func log(data string) string {
	text, err := os.ReadFile(data + ".log")
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// job is the part of a status document that is checked.
type job struct {
	ID     string          `json:"id"`
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
}

// run is one round on a new data directory; an error comes with the end of the server's log.
func run(berth string, burst int, share float64) error {
	tmp, err := os.MkdirTemp("", "berth-crash-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	data := filepath.Join(tmp, "data")
	if err := round(berth, data, burst, share); err != nil {
		return fmt.Errorf("%w\nthe server's log ends:\n%s", err, log(data))
	}
	return nil
}

// round is a burst, a kill when that share of it was acknowledged, a restart, the checks.
func round(berth, data string, burst int, share float64) error {
	s, err := start(berth, data, "127.0.0.1:0")
	if err != nil {
		return err
	}
	killAfter := int64(share * float64(burst))
	acknowledged, err := s.submit(burst, killAfter)
	s.stop()
	if err != nil {
		return fmt.Errorf("before the kill: %w", err)
	}
	key, endpoint, listen := s.Key, s.Endpoints["echo"], s.URL[len("http://"):]
	if s, err = start(berth, data, listen); err != nil {
		return fmt.Errorf("after the kill: %w", err)
	}
	defer s.stop()
	if s.Endpoints["echo"] != endpoint {
		return fmt.Errorf("the endpoint was %q and is %q after the restart", endpoint, s.Endpoints["echo"])
	}
	s.Key = key
	fmt.Printf("killed after %d of %d were acknowledged; ", len(acknowledged), burst)
	ends, err := s.await(acknowledged)
	if err != nil {
		return err
	}
	for id, first := range ends { // a final status never changes
		again, err := s.status(id)
		if err != nil {
			return err
		}
		if again.Status != first.Status || !bytes.Equal(again.Output, first.Output) {
			return fmt.Errorf("job %s was %s %s and is now %s %s", id, first.Status, first.Output, again.Status, again.Output)
		}
	}
	fmt.Printf("all of them COMPLETED once with their own output\n")
	return nil
}

// client has a connection for each submitter.
var client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: connections}}

// submit sends the burst, kills the server once more than killAfter were acknowledged, and gives the acknowledged ids with the
// inputs that they came from. What fails after the kill was never promised; what fails before it is an error, since a server
// that acknowledges nothing would lose nothing.
func (s *server) submit(burst int, killAfter int64) (map[string]string, error) {
	var next, done atomic.Int64
	var mu sync.Mutex
	acknowledged := map[string]string{}
	var early error
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for {
				n := next.Add(1)
				if n > int64(burst) {
					return
				}
				input := fmt.Sprintf(`{"n":%d}`, n)
				j, err := s.call("POST", "run", `{"input":`+input+`}`)
				if err != nil {
					mu.Lock()
					if early == nil && !s.killed.Load() {
						early = err
					}
					mu.Unlock()
					return
				}
				mu.Lock()
				if _, twice := acknowledged[j.ID]; twice && early == nil {
					early = fmt.Errorf("the id %q was given twice", j.ID)
				}
				acknowledged[j.ID] = input
				mu.Unlock()
				if done.Add(1) > killAfter {
					s.kill()
				}
			}
		})
	}
	wg.Wait()
	return acknowledged, early
}

// await reads every job until it has ended, and checks how.
func (s *server) await(acknowledged map[string]string) (map[string]job, error) {
	ends := map[string]job{}
	deadline := time.Now().Add(settle)
	for id, input := range acknowledged {
		for {
			j, err := s.status(id)
			if err != nil {
				return nil, fmt.Errorf("acknowledged job is lost: %w", err)
			}
			if j.Status == "COMPLETED" {
				if string(j.Output) != input {
					return nil, fmt.Errorf("job %s has the output %s, its input was %s", id, j.Output, input)
				}
				ends[id] = j
				break
			}
			if j.Status != "IN_QUEUE" && j.Status != "IN_PROGRESS" {
				return nil, fmt.Errorf("job %s is %s", id, j.Status)
			}
			if time.Now().After(deadline) {
				return nil, fmt.Errorf("job %s is still %s; %d of %d have ended", id, j.Status, len(ends), len(acknowledged))
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return ends, nil
}

func (s *server) status(id string) (job, error) { return s.call("GET", "status/"+id, "") }

func (s *server) call(method, operation, body string) (job, error) {
	var j job
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+"/v2/"+s.Endpoints["echo"]+"/"+operation, bytes.NewBufferString(body))
	if err != nil {
		return j, err
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return j, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return j, err
	}
	if res.StatusCode != http.StatusOK {
		return j, fmt.Errorf("%s: %s: %s", operation, res.Status, text)
	}
	return j, json.Unmarshal(text, &j)
}
