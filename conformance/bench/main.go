// Command bench measures berth beside its references, in interleaved rounds of one run. A row is a ratio: the median of the
// rounds with the smallest and the largest, and what is asked of it. Only ratios mean anything on another machine, and
// nothing here fails for being slow. What cannot run here is printed as SKIPPED, with the reason.
//
// A run of everything writes BENCH.md; a run of some parts or rows only prints.
//
// With -base it measures the program of a commit in turn with berth's instead, and says what moved: it exits with 1 if anything is
// worse, and with 2 if it could not compare.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run.
type bench struct {
	berth  string // program
	page   string // file to write; none if empty
	cache  string // directory of the references' packages
	tmp    string // directory of everything else that the run makes
	rounds int
	length time.Duration // of one measurement
	mixed  time.Duration // of the mixed load on each server
	lasts  time.Duration // the part long
	jobs   int           // of the backlog
	// testCount is how many tests with a server each are run over all rounds in Go, and how many in pytest.
	testCount int
	only      string   // rows whose names contain it
	base      string   // commit whose program the rows are held against, instead of references
	seq       int      // data directories made so far
	part      part     // that runs
	missed    []missed // rows that do not hold
	out       io.Writer
}

// part is a group of measurements.
type part struct {
	name, about string
	alone       bool // its rows can be measured one by one
	run         func(*bench) error
	note        string // what a reader of its rows must know
}

var parts = []part{
	{"start", "cold start, memory and size beside a bare echo + SQLite program", true, (*bench).start,
		"Each start is on a new database; the answer is that to `GET /healthz`. Memory is read a moment after it."},
	{"requests", "requests beside a bare echo server", true, (*bench).requests,
		"The reference reads the body and answers as many bytes as `/run` does. berth checks the key and the body, and stores. " +
			"There is one store, SQLite: data in memory means the same server with its database on a file system in memory."},
	{"lists", "a list of 100 pods, over GraphQL beside over REST, and that beside the same list ready-made", true, (*bench).lists,
		"The document asks for what the Python SDK's `get_pods` asks for. REST gives all of each pod. What is ready-made is in the memory of a bare " +
			"echo server, which knows no keys: as Go values, which encoding/json encodes each time, and as the bytes of the answer."},
	{"proxy", "requests to a server in a pod, beside a bare proxy and beside its port", true, (*bench).proxy,
		"All lead to one server of net/http, which answers 64 bytes; the bare proxy is that of net/http/httputil with nothing around it. In the rows " +
			"of times requests come at a constant rate, and a time counts from the moment that a request was due."},
	{"shipping", "/run with continuous backup beside the same server without", true, (*bench).shipping,
		"The folder is on the same disk, and what is compressed for it is on the same processors. No write waits for either."},
	{"console", "submissions while a console is open", true, (*bench).console,
		"Every open console follows the changes of its server; a browser reads them elsewhere, so here a client does that only reads. What happens to a thing within 0.1 s is one event."},
	{"peers", "jobs beside queues of others, each behind a bare HTTP front", true, (*bench).peers,
		"The front is echo for asynq and River, and Node's own for BullMQ. `/run` is without workers. In the other rows the workers of " +
			"the peers are in the front, and berth's come over HTTP. asynq looks for jobs every 5 ms and River every ms; by default " +
			"it is every second and every 100 ms. The CPU of a reference is that of its front without its store."},
	{"replicas", "replicas on PostgreSQL beside the same server on SQLite", true, (*bench).replicas,
		"PostgreSQL runs on the same machine with its own settings, over TCP; far away means that each way to it and back takes 0.5 ms more. " +
			"Its processor time is not in the CPU of the server, but in a line of its own. The workers of River are in its front."},
	{"kubernetes", "pods on a Kubernetes cluster, beside a bare client of its API server that makes the same objects", true, (*bench).kubernetes,
		"The cluster is that of `make cluster`: its programs are real, its node is simulated, and a Pod takes a second there to come up. All of it is on " +
			"the same processors. Both clients ask every 20 ms."},
	{"prism", "createPod and the start beside Prism mocking the same document", true, (*bench).prism,
		"Prism is one thread of Node; it checks bodies by the document that berth serves, and stores nothing. createPod is on 64 connections."},
	{"tests", "tests with a server each, in Go and in pytest, beside servers of moto and the start of stripe-mock", true, (*bench).tests,
		"A test of berth starts a server with a seed, has a fault met, makes a pod and a job, holds the journal against them, and ends the server; " +
			"it fails if anything is left. A test of moto makes a bucket and an object, and reads both: it has no faults, and its journal is off. " +
			"Both are run two at a time, in Go each server is in the process of the tests, and a time is that of one test from its start to its " +
			"end. The first answer of stripe-mock is that to any request."},
	{"sdk", "a Python handler beside the Python SDK's own local API server", true, (*bench).sdk,
		"That server calls the handler in its own process, and stores nothing. berth has the same handler in one unmodified worker of " +
			"the SDK, which looks only every 0.1 s at the jobs that it took while it works on none, and takes more than one at a time."},
	{"workers", "an unmodified worker of the Python SDK, through berth beside a server that always has a job for it", true, (*bench).workers,
		"The stub stores nothing and knows no keys. With a concurrency of 1 the SDK looks once a second whether it may take another job."},
	{"cores", "a server on one processor and on two, the load on the other one as far as there is one", true, (*bench).cores,
		"`taskset` holds the server to its processors. The same server is the reference, on one."},
	{"mixed", "60 % /run, 30 % /status, 10 % createPod at a tenth and at half of the rate that saturates berth", false, (*bench).load,
		"Requests come at a constant rate, whether the last ones are answered or not, to both servers in turns; a time counts from the moment " +
			"that a request was due. Meanwhile jobs come to the end of their time to live, results are deleted, and the log is checkpointed. " +
			"A rate is a part of what berth answers on 64 connections while all of that goes on. The last rows are the same load to servers without a disk " +
			"and without the garbage collector, beside one as it comes: what either takes of the times."},
	{"fsync", "group commit on a disk whose fsync takes 1 ms, and that no answer leaves before its commit", false, (*bench).fsync,
		"`strace` makes each fsync of the server longer, so its own cost is in these numbers."},
	{"backlog", "memory, speed and restart with very many jobs waiting", false, (*bench).backlog, "A job is 1 KB."},
	{"large", "fifty inputs of 20 MB at once, and one of a byte more", false, (*bench).large, "Each input has a worker and a waiting `/runsync`."},
	{"shrink", "the file and the longest pause while very many results expire", false, (*bench).shrink,
		"The results are of `/runsync`, which are kept for a minute. `/run` comes on one connection, one after the other."},
	{"changes", "what somebody waits for who changes berth", true, (*bench).changes,
		"In a clone of the last commit. The tests are those that a run just before has passed, so that all that did not change is cached; the rules " +
			"are all of them, beside a server of their own."},
	{"long", "a third of the rate that saturates berth, for long: only where it is named", false, (*bench).long,
		"The mix is that of the part `mixed`, but for pods, which are renamed, not created: only jobs come. They come to the end of their time to live after a minute and are deleted 30 minutes later, all the while. -long says for how long it goes on."},
}

func main() {
	b := bench{}
	flag.StringVar(&b.berth, "berth", "../../bin/berth", "berth's program")
	flag.IntVar(&b.rounds, "rounds", 0, "interleaved rounds of each measurement; without it 5, and 12 with -base")
	flag.DurationVar(&b.length, "length", 500*time.Millisecond, "of one measurement")
	flag.DurationVar(&b.mixed, "mixed", time.Minute, "length of the mixed load on each server")
	flag.StringVar(&b.only, "row", "", "only the rows whose names contain this, in parts whose rows can be measured one by one")
	flag.DurationVar(&b.lasts, "long", 45*time.Minute, "length of the part long, 5 minutes at least")
	flag.StringVar(&b.base, "base", "", "commit whose program is measured in turn with berth's: what moved beyond its noise; fails if anything is worse")
	flag.IntVar(&b.jobs, "jobs", 1_000_000, "jobs of the backlog")
	flag.IntVar(&b.testCount, "tests", 1000, "tests with a server each, over all rounds: so many in Go, and so many in pytest")
	flag.StringVar(&b.cache, "cache", "", "directory to keep the references' packages in; without it one in the user's cache")
	flag.StringVar(&b.page, "out", "", "file to write; without it a run of everything writes ../../BENCH.md")

	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "bench [flags] [part ...]")
		for _, p := range parts {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-10s %s\n", p.name, p.about)
		}
		fmt.Fprintf(flag.CommandLine.Output(), "With -base the parts are %s.\n", strings.Join(comparedNames(), ", "))
		flag.PrintDefaults()
	}

	flag.Parse()
	if err := b.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if b.base != "" && !errors.Is(err, errWorse) {
			os.Exit(2) // what could not be compared is not worse
		}
		os.Exit(1)
	}
}

// run measures what the flags and the named parts ask for.
func (b *bench) run(names []string) (err error) {
	if b.berth, err = filepath.Abs(b.berth); err != nil {
		return err
	}
	if b.tmp, err = os.MkdirTemp("", "berth-bench-"); err != nil {
		return err
	}
	if err := os.Chmod(b.tmp, 0o711); err != nil { // a reference may run as another user
		return err
	}

	defer b.remove()
	go b.interrupted()
	if b.base != "" {
		b.rounds = cmp.Or(b.rounds, 12)
		return b.compare(names)
	}
	b.rounds = cmp.Or(b.rounds, 5)
	return b.besideReferences(names)
}

// besideReferences measures some parts or all beside their references.
func (b *bench) besideReferences(names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	if b.page == "" && len(names) == 0 && b.only == "" {
		b.page = "../../BENCH.md"
	}

	var page bytes.Buffer
	b.out = io.MultiWriter(os.Stdout, &page)
	if err := b.introduce(); err != nil {
		return err
	}

	before := processors()
	var failed []error
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.name) || len(names) == 0 && p.name == "long" {
			continue
		}
		b.part = p
		fmt.Fprintf(b.out, "## %s: %s\n\n%s\n\n", p.name, p.about, p.note)
		start := time.Now()
		if err := p.run(b); err != nil { // the others were not measured in vain
			b.skipped("the rest of "+p.name, "it failed: "+err.Error())
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
		}

		fmt.Fprintln(b.out)
		failed = append(failed, b.write(page.Bytes())) // what was measured is kept, whatever becomes of the rest
		fmt.Fprintf(os.Stderr, "%s took %.0f s\n", p.name, time.Since(start).Seconds())
	}

	fmt.Fprintf(b.out, "While this ran, the machine below took %.1f %% of the processors' time.\n", 100*before.stolen(processors()))
	failed = append(failed, b.accounts("why.md"))
	failed = append(failed, b.write(page.Bytes()))
	return errors.Join(failed...)
}

// write writes the page, if there is to be one.
func (b *bench) write(page []byte) error {
	if b.page == "" {
		return nil
	}
	return os.WriteFile(b.page, page, 0o644)
}

// build builds a reference program of this module.
func (b *bench) build(name string) (string, error) {
	path := filepath.Join(b.tmp, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./"+name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return path, nil
}

// inMemory is the directory of data on a file system in memory, which Linux has there.
func (b *bench) inMemory() string { return filepath.Join("/dev/shm", filepath.Base(b.tmp)) }

// remove removes what the run made.
func (b *bench) remove() {
	if b.base != "" {
		b.removeSource()
	}
	_ = os.RemoveAll(b.tmp)
	_ = os.RemoveAll(b.inMemory())
}

// directory makes a new path for data; whoever uses it makes the directory.
func (b *bench) directory() string {
	b.seq++
	return filepath.Join(b.tmp, fmt.Sprintf("data-%d", b.seq))
}
