package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// changes measures what somebody waits for who changes berth.
func (b *bench) changes() error {
	b.heading()
	tree := filepath.Join(b.tmp, "tree")
	if out, err := exec.Command("git", "clone", "--quiet", "../..", tree).CombinedOutput(); err != nil {
		return fmt.Errorf("git clone: %w: %s", err, out)
	}
	takes := func(name string, args ...string) (float64, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = tree
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w: %s", name, err, failure(out))
		}
		return time.Since(start).Seconds(), err
	}

	for _, r := range []struct {
		name  string
		asked bound
		times int
		once  func(i int) (float64, error)
	}{
		{"berth conformance, all rules", atMost(8), b.rounds, func(int) (float64, error) { return takes(b.berth, "conformance") }},
		{"make generate after one changed property", atMost(5), b.rounds, func(i int) (float64, error) {
			if err := changeProperty(filepath.Join(tree, "spec", "rest.yaml"), i); err != nil {
				return 0, err
			}
			return takes("make", "generate")
		}},
		{"make test from a warm cache", atMost(60), 1, func(int) (float64, error) {
			if _, err := takes("git", "checkout", "--quiet", "."); err != nil { // without the changed property
				return 0, err
			}
			return takes("make", "test")
		}},
	} {
		if !b.wants(r.name) {
			continue
		}

		took := make([]float64, r.times)
		for i := range r.times + 1 { // the first one warms the caches
			seconds, err := r.once(i)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if i > 0 {
				took[i-1] = seconds
			}
		}
		b.number(r.name, "s", r.asked, took...)
	}

	return nil
}

// failed begins the lines of a test that failed, with what it says up to the next line of go test itself.
var failed = regexp.MustCompile(`(?m)^ *--- FAIL: .*\n(?: +.*\n)*`)

// failure is what the output of a command says of why it failed: its tests that did, and its end.
func failure(out []byte) []byte {
	tests := bytes.Join(failed.FindAll(out, 20), nil)
	return append(tests[:min(len(tests), 8000)], out[max(0, len(out)-2000):]...)
}

// changeProperty writes another range into the first property of a document that has one.
func changeProperty(document string, i int) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	const name = "maxLength: "
	head, rest, found := bytes.Cut(text, []byte(name))
	_, tail, ended := bytes.Cut(rest, []byte("\n"))
	if !found || !ended {
		return fmt.Errorf("%s: no property has a %s", document, name)
	}
	return os.WriteFile(document, fmt.Appendf(nil, "%s%s%d\n%s", head, name, 190+i, tail), 0o644)
}
