package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// start starts berth and the bare program in turn, each time on a new database.
func (b *bench) start() error {
	path, err := b.build("bare")
	if err != nil {
		return err
	}

	bare := func() *exec.Cmd { return exec.Command(path, b.directory()+".db") }
	first := func(program func() *exec.Cmd) func() (reading, error) {
		return func() (reading, error) {
			took, _, err := firstAnswer(program(), 0)
			return reading{value: took}, err
		}
	}

	memory := func(program func() *exec.Cmd) func() (reading, error) {
		return func() (reading, error) {
			_, bytes, err := firstAnswer(program(), b.length)
			return reading{value: float64(bytes) / 1e6}, err
		}
	}

	b.heading()
	for _, r := range []row{
		{name: "first answer after the start", reference: first(bare), measured: first(b.fresh), unit: "ms", asked: atMost(1.8)},
		{name: "memory when idle", reference: memory(bare), measured: memory(b.fresh), unit: "MB", asked: atMost(26), absolute: true},
	} {
		if err := r.print(b); err != nil {
			return err
		}
	}

	size, err := os.Stat(b.berth)
	if err != nil {
		return err
	}
	b.number("size of the program", "MB", atMost(32), float64(size.Size())/1e6)
	return nil
}

// fresh is the command that starts berth on a new database, without endpoints.
func (b *bench) fresh() *exec.Cmd {
	return exec.Command(b.berth, "serve", "--json", "--listen", "127.0.0.1:0", "--data", b.directory())
}

// firstAnswer starts a program, asks it once, waits, and ends it: the time to the answer in milliseconds, and the resident
// memory in bytes at the end.
func firstAnswer(cmd *exec.Cmd, wait time.Duration) (took float64, memory int64, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}

	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return 0, 0, err
	}

	var ready struct{ URL string }
	if err := json.Unmarshal(line, &ready); err != nil {
		return 0, 0, err
	}
	res, err := http.Get(ready.URL + "/healthz")
	if err != nil {
		return 0, 0, err
	}

	took = milliseconds(time.Since(start))
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("it answered %s", res.Status)
	}

	time.Sleep(wait)
	memory, err = resident(cmd.Process.Pid)
	return took, memory, err
}

// resident reads the resident memory of a process in bytes; 0 where the system has no /proc.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}

	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10, err
		}
	}

	return 0, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
