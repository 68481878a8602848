package main

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
)

// sdk measures /runsync of a handler that does nothing, the same file as an unmodified worker of berth and behind the SDK's
// own local API server. That server calls the handler in its own process and stores nothing.
func (b *bench) sdk() error {
	rows := []row{
		{name: "/runsync, 16 connections", unit: "jobs/s", asked: atLeast(3)},
		{name: "/runsync, one connection", unit: "µs, median", asked: atMost(1)},
	}
	b.heading()

	local, command, err := b.localAPI()
	if err != nil {
		for _, r := range rows {
			b.skipped(r.name, err.Error())
		}
		return nil
	}
	defer local.stop()
	berth, err := b.serveWorkers(b.directory(), command)
	if err != nil {
		return err
	}

	defer berth.stop()
	theirs, ours := request(http.MethodPost, "/runsync", "", kilobyte), berth.post("runsync", kilobyte)
	if _, err := berth.once(ours); err != nil { // its worker starts
		return err
	}

	for i, r := range rows {
		measure := func(s *server, req []byte) func() (reading, error) {
			return func() (reading, error) {
				if i == 0 {
					return s.rate(16, b.length, http.StatusOK, forever(req))
				}
				return s.latency(b.length, req)
			}
		}

		r.reference, r.measured = measure(local, theirs), measure(berth, ours)
		if err := r.print(b); err != nil {
			return err
		}
	}

	return nil
}

// localAPI starts the SDK's local API server, and gives the command of a worker with the same handler.
func (b *bench) localAPI() (s *server, worker string, err error) {
	python, dir, err := b.python("sdk")
	if err != nil {
		return nil, "", err
	}
	host, port, err := freeAddress()
	if err != nil {
		return nil, "", err
	}
	handler := filepath.Join(dir, "handler.py")
	s, err = external(exec.Command(python, "-u", handler, "--rp_serve_api", "--rp_api_host", host, "--rp_api_port", port), net.JoinHostPort(host, port))
	return s, fmt.Sprintf("'%s' -u '%s'", python, handler), err
}
