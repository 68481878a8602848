package main

import (
	"errors"
	"net/http"
	"os/exec"
	"runtime"
)

// cores measures what a second processor brings the server.
func (b *bench) cores() error {
	b.heading()
	rows := []struct {
		name    string
		measure func(*server) func() (reading, error)
	}{
		{"/run, 64 connections", b.submissions},
		{"take + done, 64 connections", func(s *server) func() (reading, error) { return b.drain(s, 1) }},
		{"/runsync, 64 connections", func(s *server) func() (reading, error) {
			return func() (reading, error) {
				return withWorkers(s, connections, b.constant(s, http.StatusOK, s.post("runsync", kilobyte)))
			}
		}},
	}

	taskset, err := exec.LookPath("taskset")
	if err == nil && runtime.NumCPU() < 2 {
		err = errors.New("there is one processor here")
	}
	if err != nil {
		for _, r := range rows {
			b.skipped(r.name, err.Error())
		}
		return nil
	}

	one, err := b.serve(b.directory(), taskset, "--cpu-list", "0")
	if err != nil {
		return err
	}
	defer one.stop()
	two, err := b.serve(b.directory(), taskset, "--cpu-list", "0,1")
	if err != nil {
		return err
	}
	defer two.stop()

	for _, r := range rows {
		if err := (row{name: r.name, reference: r.measure(one), measured: r.measure(two), unit: "a second"}).print(b); err != nil {
			return err
		}
	}
	return nil
}
