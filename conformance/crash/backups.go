package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// booked is a job as it was known when a backup began.
type booked struct {
	id, endpoint string
	final        []byte // nil: it was not known to have ended
}

// backups is a server under load of which backups are made.
type backups struct {
	settings
	server *server
	load   *load
	random *rand.Rand

	kills   int           // while a backup was made, or a moment before
	held    int           // jobs that backups were held to have
	during  int           // jobs that were acknowledged while a backup was made
	missing int           // of those, that are not in it
	longest time.Duration // that a backup took
}

// backUpServer puts load on a server, makes backups of it that often while it runs, kills it in every other one, restores each elsewhere, and
// holds the server there to what was acknowledged before the backup began.
func backUpServer(c settings, rounds int, seed uint64) error {
	c.endpoints = managed(c.berth)
	b := &backups{settings: c, random: source(seed, 0)}
	var err error
	if b.server, err = b.start(); err != nil {
		return err
	}
	defer func() { b.server.kill() }()
	b.listen = b.server.URL[len("http://"):]
	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}
	defer receiver.close()
	b.load = &load{service: b.server.service(), ledger: newLedger(), receiver: receiver}

	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	things := newThings(b.load.service, b.load.ledger)
	all.Go(func() { things.clients(ctx, seed) })
	all.Go(func() { // nobody changes how a job ended
		b.load.clients(ctx, seed, []client{{16, 20, b.load.submit}, {4, 20, b.load.poll}, {1, 50, b.load.cancel}})
	})
	all.Go(func() { b.load.play(ctx, seed) })
	defer func() {
		stop()
		all.Wait()
	}()

	for round := range rounds {
		b.load.room.Store(waiting)
		pause(ctx, time.Duration(300+b.random.IntN(1200))*time.Millisecond)
		if err := b.round(ctx, round); err != nil {
			return fmt.Errorf("backup %d: %w", round+1, err)
		}
		if err := b.load.err(); err != nil {
			return fmt.Errorf("backup %d: %w", round+1, err)
		}
	}
	fmt.Printf("backups: %d, the server killed in %d; each had all of the jobs acknowledged before it began, %d looks at them; of %d acknowledged meanwhile %d are not in it; the longest took %s\n",
		rounds, b.kills, b.held, b.during, b.missing, b.longest.Round(time.Millisecond))
	return nil
}

// round makes a backup, restores it and holds the server on it to what was known.
func (b *backups) round(ctx context.Context, round int) error {
	tmp, err := os.MkdirTemp("", "berth-backup-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if round%2 == 1 {
		b.kills++
		late := time.AfterFunc(time.Duration(b.random.IntN(60))*time.Millisecond, func() { _ = b.server.cmd.Process.Kill() })
		defer late.Stop()
	}

	book, file, begun := b.book(0), filepath.Join(tmp, "b.db"), time.Now()
	if err := b.command("backup", file, "--data", b.data, "--with-key"); err != nil {
		return err
	}
	b.longest = max(b.longest, time.Since(begun))
	during := b.book(len(book))
	if round%2 == 1 {
		b.server.kill()
		if b.server, err = b.start(); err != nil {
			return err
		}
	}

	elsewhere := b.settings
	elsewhere.data, elsewhere.listen = filepath.Join(tmp, "data"), "127.0.0.1:0"
	if err := b.command("restore", file, "--data", elsewhere.data); err != nil {
		return err
	}
	if err := b.command("check", "--data", elsewhere.data); err != nil { // it is as a kill leaves it
		return err
	}
	s, err := elsewhere.start()
	if err != nil {
		return err
	}
	defer s.kill()
	at := s.service()
	at.key = b.load.key // which the backup has

	for _, j := range book {
		if err := j.isThere(ctx, at); err != nil {
			return err
		}
	}
	b.held += len(book)
	for _, j := range during {
		b.during++
		j.final = nil // it may have ended after what the backup has
		if err := j.isThere(ctx, at); errors.Is(err, errLost) {
			b.missing++
		} else if err != nil {
			return err
		}
	}
	return nil
}

// book gives what is known of the jobs from that one on that are kept for long enough.
func (b *backups) book(from int) (all []booked) {
	for _, j := range b.load.all()[from:] {
		j.mu.Lock()
		one := booked{j.id, j.endpoint, j.final}
		if j.sync { // kept for a minute only, which may be over when it is looked at
			one.id = ""
		}
		j.mu.Unlock()
		all = append(all, one)
	}
	return all
}

// errLost says that a job is not there.
var errLost = errors.New("it is lost")

// isThere holds a server to having the job, and to its end.
func (j booked) isThere(ctx context.Context, at *service) error {
	if j.id == "" {
		return nil
	}
	status, answer := at.call(ctx, "GET", j.endpoint, "status/"+j.id, "")
	var d document
	switch {
	case status == http.StatusNotFound:
		return fmt.Errorf("job %s, acknowledged before: %w: %s", j.id, errLost, answer)
	case status != http.StatusOK || json.Unmarshal(answer, &d) != nil || d.ID != j.id:
		return fmt.Errorf("job %s: %d %s", j.id, status, answer)
	case j.final != nil && !bytes.Equal(j.final, answer):
		return fmt.Errorf("job %s ended as %s before, and is now %s", j.id, j.final, answer)
	}
	return nil
}

// command runs the program.
func (b *backups) command(args ...string) error {
	cmd := exec.Command(b.berth, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	return nil
}
