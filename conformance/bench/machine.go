package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// introduce prints what the page is, and the machine.
func (b *bench) introduce() error {
	disk, err := fsyncTime(b.tmp)
	if err != nil {
		return err
	}

	fmt.Fprintf(b.out, `# berth beside its references

`+"`make bench`"+` wrote this, in one run: reference and berth in turn, %d rounds of %v each. A ratio is that of what was measured to
its reference in the same round: the median of the rounds, with the smallest and the largest. Only ratios mean anything on
another machine; the numbers they come from are there as information. What could not run says SKIPPED. The load comes from the
same machine. An answer of berth to a submission, a take or a result comes after its commit is on disk.

%d processors, %s/%s, %s, %s; the median of fsync after 4 KB more of a file: %.0f µs.

`, b.rounds, b.length, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, system(), runtime.Version(), disk)

	return nil
}

// system names the operating system where it can.
func system() string {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	_, rest, _ := strings.Cut(string(text), "PRETTY_NAME=")
	name, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(name, `"`)
}

// fsyncTime is the median time in µs that fsync takes after 4 KB more were written to a file.
func fsyncTime(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0, err
	}
	took := make([]float64, 200)

	page := make([]byte, 4096)
	for i := range took {
		if _, err = f.Write(page); err != nil {
			break
		}
		start := time.Now()
		if err = f.Sync(); err != nil {
			break
		}
		took[i] = float64(time.Since(start).Nanoseconds()) / 1000
	}

	return median(took), errors.Join(err, f.Close())
}

// usage is the time of all processors so far, in any unit.
type usage struct{ all, taken float64 }

// processors reads it; zero where the system has no /proc.
func processors() (u usage) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return u
	}

	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line) {
		if n, err := strconv.ParseFloat(field, 64); err == nil && i <= 8 { // the guests after it are counted in others
			u.all += n
			if i == 8 {
				u.taken = n
			}
		}
	}

	return u
}

// diskWait is how long somebody has waited for the disk so far; zero where the system does not say.
func diskWait() time.Duration {
	text, err := os.ReadFile("/proc/pressure/io")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n") // of some, not of all
	_, total, _ := strings.Cut(line, "total=")
	waited, _ := strconv.ParseInt(total, 10, 64)
	return time.Duration(waited) * time.Microsecond
}

// stolen is the part of the time since that the machine below this one took for others.
func (u usage) stolen(now usage) float64 {
	if now.all == u.all {
		return 0
	}
	return (now.taken - u.taken) / (now.all - u.all)
}
