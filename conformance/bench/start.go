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

// program is one of the two that are measured.
type program struct {
	name string
	path string
	args func(data string) []string
}

// sample is one start.
type sample struct {
	start  time.Duration // to the first answer
	memory int64         // resident bytes
}

// start starts each program several times on new databases.
func (b *bench) start() error {
	bare, err := b.build("bare")
	if err != nil {
		return err
	}
	programs := []program{
		{"bare echo + SQLite", bare, func(data string) []string { return []string{data + ".db"} }},
		{"berth", b.berth, func(data string) []string {
			return []string{"serve", "--json", "--listen", "127.0.0.1:0", "--data", data}
		}},
	}
	samples := make([][]sample, len(programs))
	for range b.rounds {
		for i, p := range programs {
			s, err := p.measure(b.directory())
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			samples[i] = append(samples[i], s)
		}
	}
	return report(programs, samples)
}

// measure starts the program on a new database, asks it once, and ends it.
func (p program) measure(data string) (s sample, err error) {
	cmd := exec.Command(p.path, p.args(data)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return s, err
	}
	var ready struct{ URL string }
	if err := json.Unmarshal(line, &ready); err != nil {
		return s, err
	}
	res, err := http.Get(ready.URL + "/healthz")
	if err != nil {
		return s, err
	}
	s.start = time.Since(start)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return s, fmt.Errorf("it answered %s", res.Status)
	}
	s.memory, err = resident(cmd.Process.Pid)
	return s, err
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

func report(programs []program, samples [][]sample) error {
	fmt.Printf("Medians of %d interleaved starts on a new database.\n\n", len(samples[0]))
	fmt.Println("| | first answer, ms | ratio | resident, MB | ratio | program, MB | ratio |\n|---|---|---|---|---|---|---|")
	var first [3]float64
	for i, p := range programs {
		stat, err := os.Stat(p.path)
		if err != nil {
			return err
		}
		row := [3]float64{
			middle(samples[i], func(s sample) float64 { return float64(s.start.Microseconds()) / 1000 }),
			middle(samples[i], func(s sample) float64 { return float64(s.memory) / 1e6 }),
			float64(stat.Size()) / 1e6,
		}
		if i == 0 {
			first = row
		}
		fmt.Printf("| %s | %.1f | %.2f | %.1f | %.2f | %.1f | %.2f |\n", p.name,
			row[0], row[0]/first[0], row[1], row[1]/first[1], row[2], row[2]/first[2])
	}
	return nil
}

func middle(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	return median(values)
}
