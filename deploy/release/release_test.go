package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What an archive has beside the program works where there is nothing else of the checkout: it compiles nothing.
func TestArchive_HasNothingThatNeedsTheSources(t *testing.T) {
	t.Parallel()
	needs := regexp.MustCompile(`(?m)^\s+build:|^\s+context:`)
	for _, of := range targets {
		for _, name := range beside(of) {
			text, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			if line := needs.Find(text); line != nil {
				t.Errorf("%s is in the archive for %s, and says %q", name, of, line)
			}
		}
	}
}

// The service of Homebrew writes its logs for everybody to read: the first key, which is on standard output, must not be in one.
func TestFormula_KeepsTheFirstKeyOutOfTheLog(t *testing.T) {
	t.Parallel()
	dist := t.TempDir()
	r := &release{dist: dist, builds: []build{{target: target{"darwin", "arm64"}, archive: "berth.tar.gz", sum: "0"}}}
	if err := r.writeFormula(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dist, "berth.rb"))
	if err != nil {
		t.Fatal(err)
	}

	if line := regexp.MustCompile(`(?m)^\s+log_path .*$`).Find(text); line != nil {
		t.Errorf("standard output is logged: %s", line)
	}
	for _, want := range []string{`(?m)^\s+error_log_path var/"log/berth\.log"$`, `berth keys create --data #\{var\}/berth`} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("the formula has no %s:\n%s", want, text)
		}
	}
}
