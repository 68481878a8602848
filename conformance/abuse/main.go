// Command abuse does to a server what clients can do that mean it ill, or have lost their network: bodies made to be costly,
// connections that say nothing, uploads that stall, readers that never read, oversized documents. It speaks HTTP and TCP alone
// to a berth that it starts, and measures that one's memory. Meanwhile a well-behaved client works. It fails if the memory goes
// over its bound, if a request of the well-behaved client fails or takes too long, or if what made no progress is not ended.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The bounds.
const (
	mostMemory = 300 << 20       // bytes resident
	slowest    = time.Second     // that a request of the well-behaved client takes
	slowestToo = 5 * time.Second // with -quick, which runs beside other things, and on slow machines; and twice what it takes a berth that is not abused
)

// How long the server may take to end what makes no progress: it waits 20 s for the next 64 KB, or a little longer, and an upload may have
// waited for as long for its place.
const (
	patience    = 50 * time.Second
	patienceToo = 150 * time.Second // with -quick
)

// settings say how much of everything.
type settings struct {
	idle, half, uploads, readers int // connections
	each                         time.Duration
	together                     bool
}

func main() {
	berth := flag.String("berth", "bin/berth", "the server's program")
	quick := flag.Bool("quick", false, "less of everything, in about a minute")
	only := flag.String("only", "", "one abuse alone, by its name")
	flag.Parse()
	if err := run(*berth, *quick, *only); err != nil {
		fmt.Fprintln(os.Stderr, "abuse:", err)
		os.Exit(1)
	}
}

func run(berth string, quick bool, only string) error {
	s := settings{idle: 10_000, half: 3_000, uploads: 1_000, readers: 200, each: 3 * time.Second, together: true}
	if quick {
		s = settings{idle: 10_000, half: 1_000, uploads: 1_000, readers: 200, each: 300 * time.Millisecond}
	}
	s.fit(openFiles())

	program, err := filepath.Abs(berth)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "berth-abuse-")
	if err != nil {
		return err
	}

	defer func() { _ = os.RemoveAll(tmp) }()
	server, err := start(program, filepath.Join(tmp, "data"))
	if err != nil {
		return err
	}

	defer server.kill()
	server.bound, server.patience = slowest, patience
	if quick {
		server.bound, server.patience = slowestToo, patienceToo
		if server.beside, err = start(program, filepath.Join(tmp, "beside")); err != nil {
			return err
		}
		defer server.beside.kill()
	}

	fmt.Printf("%-34s %9s %9s %9s %8s  %s\n", "abuse", "resident", "requests", "slowest", "failed", "what became of it")
	var errs []error
	for _, a := range abuses(server, s) {
		if only != "" && a.name != only {
			continue
		}
		if err := server.suffer(a); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a.name, err))
		}
	}

	if len(errs) > 0 {
		errs = append(errs, fmt.Errorf("the server's log ends:\n%s", server.log()))
	}
	return errors.Join(errs...)
}

// fit takes less where this process, or the server, may not have so many connections.
func (s *settings) fit(files int) {
	const others = 500
	for _, n := range []*int{&s.idle, &s.half, &s.uploads, &s.readers} {
		if *n > files-others {
			fmt.Printf("only %d connections in place of %d: more files may not be open\n", files-others, *n)
			*n = files - others
		}
	}
}

// abuse is one of them. do gives what became of it, in a few words.
type abuse struct {
	name string
	do   func() (string, error)
}

func abuses(s *server, by settings) []abuse {
	all := []abuse{
		{"nothing", func() (string, error) { time.Sleep(2 * time.Second); return "only the well-behaved client", nil }},
		{"idle connections", func() (string, error) { return s.idle(by.idle) }},
		{"half-sent headers", func() (string, error) { return s.halfHeaders(by.half) }},
		{"half-sent bodies without a key", func() (string, error) { return s.halfBodies(by.half) }},
		{"stalled uploads", func() (string, error) { return s.uploads(by.uploads) }},
		{"readers of outputs", func() (string, error) { return s.readers(by.readers, s.largeOutput) }},
		{"takers of inputs", func() (string, error) { return s.readers(by.readers/2, s.largeInput) }},
		{"takers of batches", func() (string, error) { return s.readers(by.readers/4, s.largeBatches) }},
		{"readers of documents", func() (string, error) { return s.readers(2*by.readers, s.largeDocument) }},
	}

	for _, d := range documents() {
		all = append(all, abuse{d.name, func() (string, error) { return s.documents(d, by.each) }})
	}
	if by.together {
		all = append(all, abuse{"all of it at once", func() (string, error) { return s.together(by) }})
	}

	return all
}
