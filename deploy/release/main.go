// Command release makes the files of a release from a checkout: archives, packages of Debian and of RPM, wheels, packages of npm, a formula
// for Homebrew, the chart, a list of what each program is made of, and the checksums of all. The same commit, version and Go give the
// same bytes, wherever and whenever it is run: every time in them is the commit's. It is a module of its own, so that what packs the
// program is not among what the program needs.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// project is where releases are downloaded from.
const project = "https://github.com/berthdev/berth"

// summary is the one line about the program in every package.
const summary = "Self-hosted pod and serverless compute service"

// target is a system that the program is built for, by Go's names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the file of the program.
func (t target) program() string {
	if t.os == "windows" {
		return "berth.exe"
	}
	return "berth"
}

// targets are those of a release.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// build is a program that was compiled.
type build struct {
	target
	path    string // the program
	archive string // its archive's name in the directory of the release
	sum     string // SHA-256 of the archive, in hexadecimal
}

// release is what is made.
type release struct {
	root, dist, work string    // the checkout; where the files go; what is removed at the end
	version          version   // of what is made
	time             time.Time // of the commit
	builds           []build
	extras           []file // of every archive: the manual, and the completions of shells
}

func main() {
	root := flag.String("root", ".", "the checkout")
	dist := flag.String("dist", "dist", "the directory to make, which is replaced")
	named := flag.String("version", "", "the version, such as v1.2.3, v1.2.3-rc.1 or v0.0.0-dev.7")
	chosen := flag.String("targets", "", "the systems, such as linux/amd64,darwin/arm64; all without it")
	epoch := flag.Int64("time", 0, "the time of the commit, in seconds since 1970")
	proxy := flag.String("module", "", "instead of a release write the commit as a proxy of Go modules has it to this directory")
	flag.Parse()

	if err := run(*root, *dist, *named, *chosen, *epoch, *proxy); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root, dist, named, chosen string, epoch int64, proxy string) (err error) {
	r := &release{root: root, time: time.Unix(epoch, 0).UTC()}
	if epoch <= 0 {
		return errors.New("-time: the time of the commit is needed: what is made has no other")
	}
	if r.version, err = parseVersion(named); err != nil {
		return err
	}
	if proxy != "" {
		return r.writeModule(proxy)
	}
	wanted, err := parseTargets(chosen)
	if err != nil {
		return err
	}
	if r.root, err = filepath.Abs(root); err != nil {
		return err
	}
	if r.dist, err = filepath.Abs(dist); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "berth-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()

	if err := errors.Join(os.RemoveAll(r.dist), os.MkdirAll(r.dist, 0o755)); err != nil {
		return err
	}
	if err := r.writeNotes(); err != nil {
		return err
	}
	for _, t := range wanted {
		path, err := r.compile(t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		r.builds = append(r.builds, build{target: t, path: path})
	}

	for _, step := range []func() error{r.writeManual, r.writeCompletions, r.writeArchives, r.writeLinuxPackages, r.writeWheels, r.writeNpm, r.writeFormula, r.writeChart, r.writeSums} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// parseTargets gives the systems that are named, in the order of targets; all of them if none is.
func parseTargets(named string) ([]target, error) {
	if named == "" {
		return targets, nil
	}
	asked := strings.Split(named, ",")
	for _, name := range asked {
		if !slices.ContainsFunc(targets, func(t target) bool { return t.String() == name }) {
			return nil, fmt.Errorf("-targets: a release has none for %q; it has %v", name, targets)
		}
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return !slices.Contains(asked, t.String()) }), nil
}

// host is the program for this machine, which a release for others compiles too.
func (r *release) host() (string, error) {
	here := target{runtime.GOOS, runtime.GOARCH}
	for _, b := range r.builds {
		if b.target == here {
			return b.path, nil
		}
	}
	return r.compile(here)
}
