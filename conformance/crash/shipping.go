package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// shipping is servers that ship their databases, and lose their disks under load.
type shipping struct {
	settings
	random *rand.Rand
	bucket string // to which they ship; empty: each to a folder

	held int           // jobs that were acknowledged before the moment to which the shipped goes
	late int           // jobs that were acknowledged after it
	lost int           // of those, that are gone
	most time.Duration // from that moment to the kill
	all  time.Duration // likewise, added up
}

// looked is what was known of the jobs before a moment.
type looked struct {
	at   time.Time
	book []booked
}

// longToShip is how long it may take, on a slow machine, until something is shipped.
const longToShip = time.Minute

// lookTick is how often it is noted what is known.
const lookTick = 100 * time.Millisecond

// loseServers has a server ship its database under load, kills it at a random moment, removes its data, restores what was shipped elsewhere, and
// holds the server there to what was acknowledged before the moment to which the command says that it goes; that often. It ships to a bucket,
// or to folders if that is empty.
func loseServers(c settings, bucket string, rounds int, seed uint64) error {
	c.endpoints = managed(c.berth)
	s := &shipping{settings: c, bucket: bucket, random: source(seed, 1)}
	for round := range rounds {
		if err := inDirectory(func(dir string) error { return s.round(dir, seed+uint64(round)) }); err != nil {
			return fmt.Errorf("server %d that was lost: %w", round+1, err)
		}
	}
	fmt.Printf("servers lost with their disks, which shipped to %s: %d; restored elsewhere each had all of the jobs acknowledged before the moment it was said to go to, %d looks at them; of %d acknowledged after that %d are gone; that moment was %s before the kill on average, %s at most\n",
		cmp.Or(bucket, "a folder"), rounds, s.held, s.late, s.lost, (s.all / time.Duration(rounds)).Round(time.Millisecond), s.most.Round(time.Millisecond))
	return nil
}

// round loses one server.
func (s *shipping) round(dir string, seed uint64) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	c := s.settings
	place := filepath.Join(dir, "shipped")
	if s.bucket != "" {
		place = fmt.Sprintf("%s/round %d", s.bucket, seed)
	}
	c.data, c.more = filepath.Join(dir, "data"), []string{"--backup-to", place}
	server, err := c.start()
	if err != nil {
		return err
	}
	defer server.kill()
	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}
	defer receiver.close()
	b := &backups{settings: c, server: server, load: &load{service: server.service(), ledger: newLedger(), receiver: receiver}}
	looks, killed, err := s.under(b, place, seed)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(c.data); err != nil {
		return err
	}

	c.data, c.listen, c.more = filepath.Join(dir, "elsewhere"), "127.0.0.1:0", nil
	out, err := exec.Command(c.berth, "restore", place, "--data", c.data, "--json").Output()
	if err != nil {
		logged, _ := os.ReadFile(filepath.Join(dir, "data.log"))
		return fmt.Errorf("restore: %w; the log of the server ends:\n%s", err, logged[max(0, len(logged)-1000):])
	}
	var restored struct {
		Shipped struct{ Upto time.Time }
	}
	if err := json.Unmarshal(out, &restored); err != nil {
		return err
	}
	if err := b.command("check", "--data", c.data); err != nil {
		return err
	}
	after := killed.Sub(restored.Shipped.Upto)
	s.all, s.most = s.all+after, max(s.most, after)
	return s.hold(c, b.load.key, looks, restored.Shipped.Upto)
}

// under puts load on a server, for so long at least that something of it was shipped to the place, and kills it. It gives what was known at each moment, and at the kill.
func (s *shipping) under(b *backups, place string, seed uint64) (looks []looked, killed time.Time, err error) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		b.load.clients(ctx, seed, []client{{16, 5, b.load.submit}, {4, 20, b.load.poll}, {1, 50, b.load.cancel}})
	})
	all.Go(func() { b.load.play(ctx, seed) })
	until := time.Now().Add(time.Duration(1500+s.random.IntN(2000)) * time.Millisecond)
	late := until.Add(longToShip)
	for now := time.Now(); now.Before(until) || now.Before(late) && !b.shipped(place, looks); now = time.Now() {
		b.load.room.Store(waiting)
		book := b.book(0)
		looks = append(looks, looked{time.Now(), book}) // all of it was known before
		pause(ctx, lookTick)
	}

	err = b.load.err()
	killed = time.Now()
	b.server.kill()
	looks = append(looks, looked{time.Now(), b.book(0)})
	stop()
	all.Wait()
	return looks, killed, err
}

// shipped reports whether what is at the place goes beyond the moment of the first look under load.
func (b *backups) shipped(place string, looks []looked) bool {
	out, err := exec.Command(b.berth, "backup", "list", place, "--json").Output()
	var generations []struct{ To time.Time }
	if err != nil || json.Unmarshal(out, &generations) != nil || len(looks) < 2 {
		return false // nothing is there yet
	}
	return slices.ContainsFunc(generations, func(g struct{ To time.Time }) bool { return g.To.After(looks[1].at) })
}

// hold holds a restored server to what was known at the moment to which it goes.
func (s *shipping) hold(c settings, key string, looks []looked, upto time.Time) error {
	known := 0
	for known+1 < len(looks) && looks[known+1].at.Before(upto) {
		known++
	}
	if known == 0 {
		return errors.New("nothing was shipped under load")
	}
	server, err := c.start()
	if err != nil {
		return err
	}
	defer server.kill()
	at := server.service()
	at.key = key

	book := looks[known].book
	for _, j := range book {
		s.held++
		if err := j.isThere(context.Background(), at); err != nil {
			return fmt.Errorf("what was shipped goes to %s: %w", upto, err)
		}
	}
	for _, j := range looks[len(looks)-1].book[len(book):] {
		s.late++
		j.final = nil // it may have ended after that
		if err := j.isThere(context.Background(), at); errors.Is(err, errLost) {
			s.lost++
		} else if err != nil {
			return err
		}
	}
	return nil
}
