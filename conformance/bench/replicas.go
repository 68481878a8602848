package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// farAway is what a way to a database far away and back takes more.
const farAway = 500 * time.Microsecond

// replicas measures a server over PostgreSQL beside the same one over SQLite, two replicas beside one, and jobs beside River's on the same
// PostgreSQL.
func (b *bench) replicas() error {
	database, stop, err := b.postgres()
	if err != nil {
		b.heading()
		b.skipped("replicas", err.Error())
		return nil
	}
	defer stop()
	file, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer file.stop()

	near, err := b.replica(database, "near", nil)
	if err != nil {
		return err
	}
	defer near.stop()
	away, closer, err := b.delayed(database)
	if err != nil {
		return err
	}
	defer closer()
	far, err := b.replica(away, "far", nil)
	if err != nil {
		return err
	}
	defer far.stop()

	beside, err := b.replica(database, "near", near) // which owns the database: this one sends on
	if err != nil {
		return err
	}
	defer beside.stop()

	b.heading()
	for _, r := range []row{
		{name: "/run, 64 connections, PostgreSQL", reference: b.submissions(file), measured: b.submissions(near), unit: "requests/s", asked: atLeast(0.9)},
		{name: "/run, 64 connections, PostgreSQL far away", reference: b.submissions(file), measured: b.submissions(far), unit: "requests/s", asked: atLeast(0.5)},
		{name: "take + done, 64 connections, PostgreSQL", reference: b.drain(file, 1), measured: b.drain(near, 1), unit: "jobs/s", asked: atLeast(0.9)},
		{name: "take + done, batches of 10, PostgreSQL", reference: b.drain(file, 10), measured: b.drain(near, 10), unit: "jobs/s"},
		{name: "take + done, 64 connections, PostgreSQL far away", reference: b.drain(file, 1), measured: b.drain(far, 1), unit: "jobs/s"},
		{name: "/runsync, one connection, its worker at another replica", reference: b.roundTrips(near), measured: b.roundTripsAcross(near, beside),
			unit: "µs, median", asked: atMost(1.5)},
		{name: "/run, 64 connections, all sent on", reference: b.submissions(near), measured: b.submissions(beside), unit: "requests/s"},
	} {
		if err := r.print(b); err != nil {
			return err
		}
	}

	return b.besideRiver(database, near)
}

// besideRiver measures jobs from enqueue to done, and what they cost PostgreSQL.
func (b *bench) besideRiver(database string, berth *server) error {
	const name = "enqueue to done, 64 connections, beside River on the same PostgreSQL"
	if !b.wants(name) {
		return nil
	}
	front, err := b.goFront("river")(database, "beside", connections)
	if err != nil {
		b.skipped(name, err.Error())
		return nil
	}
	defer front.stop()

	enqueue := request(http.MethodPost, "/", "", kilobyte)
	theirs := func() (reading, error) { return b.through(front, enqueue, front.jobsDone) }
	if err := (row{name: name, reference: theirs, measured: b.enqueueToDone(berth), unit: "jobs/s", asked: atLeast(8)}).print(b); err != nil {
		return err
	}

	before := processorTime(database)
	ours, err := b.enqueueToDone(berth)()
	if err != nil {
		return err
	}
	between := processorTime(database)
	rivers, err := theirs()
	if err != nil {
		return err
	}
	after := processorTime(database)
	perJob := func(spent time.Duration, jobs int64) float64 {
		return float64(spent.Microseconds()) / float64(max(jobs, 1))
	}
	fmt.Fprintf(b.out, "\nFrom enqueue to done a job takes %.0f µs of PostgreSQL's processor time, and one of River's %.0f µs.\n",
		perJob(between-before, ours.units), perJob(after-between, rivers.units))
	return nil
}

// replica starts a replica over the database of that name, which it makes, or beside the one that made it.
func (b *bench) replica(at, database string, beside *server) (*server, error) {
	store, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	store.Path = "/" + database
	data := b.directory()
	if beside == nil {
		err := onServer(at, func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{database}.Sanitize())
			return err
		})
		if err != nil {
			return nil, err
		}
		return b.serveOver(store.String(), data)
	}

	s, err := b.launch(data, "", nil, "--store", store.String(), "--secret-key", filepath.Join(beside.data, "secret.key"))
	if err == nil {
		s.key, s.ready.Endpoints = beside.key, beside.ready.Endpoints
	}
	return s, err
}

func onServer(server string, f func(context.Context, *pgx.Conn) error) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	return f(ctx, c)
}

// roundTripsAcross measures /runsync at one replica on one connection, with one worker at another that answers at once.
func (b *bench) roundTripsAcross(asked, works *server) func() (reading, error) {
	return func() (reading, error) {
		return withWorkers(works, 1, func() (reading, error) { return asked.latency(b.length, asked.post("runsync", kilobyte)) })
	}
}

// delayed starts a program in front of the server that makes it as far away as farAway.
func (b *bench) delayed(server string) (at string, stop func(), err error) {
	url, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	path, err := b.build("late")
	if err != nil {
		return "", nil, err
	}
	late, err := run(path, url.Host, (farAway / 2).String())
	if err != nil {
		return "", nil, err
	}
	url.Host = late.address
	return url.String(), late.stop, nil
}

// processorTime gives what the processes of the server have used of the processors' time, the ended ones too; 0 where there is no /proc.
func processorTime(server string) (used time.Duration) {
	_ = onServer(server, func(ctx context.Context, c *pgx.Conn) error {
		var pid int
		if err := c.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		fields := statOf(strconv.Itoa(pid))
		if len(fields) < 2 {
			return nil
		}

		parent := fields[1]
		all, err := filepath.Glob("/proc/[0-9]*")
		for _, dir := range all {
			fields := statOf(filepath.Base(dir))
			if len(fields) < 15 || fields[1] != parent && filepath.Base(dir) != parent {
				continue
			}
			for _, field := range fields[11:15] { // its own, and of its children that have ended
				ticks, _ := strconv.Atoi(field)
				used += time.Duration(ticks) * 10 * time.Millisecond
			}
		}
		return err
	})
	return used
}

// statOf gives the fields of /proc/PID/stat after the name.
func statOf(pid string) []string {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}
