package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
)

// offered is how many requests a second the rows of times have.
const offered = 1000

// proxy measures requests to a server in a pod, through berth, beside the same requests through a bare proxy of net/http/httputil and
// beside its port itself. All three lead to one and the same server.
func (b *bench) proxy() error {
	berth, err := b.showing()
	if err != nil {
		return err
	}
	defer berth.stop()
	path, err := b.build("bare")
	if err != nil {
		return err
	}
	bare, err := run(path, b.directory()+".db", "proxy", berth.inPod.ready.URL)
	if err != nil {
		return err
	}
	defer bare.stop()

	direct := request(http.MethodGet, "/", "", nil)
	ours, err := berth.toPod(direct)
	if err != nil {
		return err
	}

	b.heading()
	err = row{
		name: "through berth beside a bare proxy, 64 connections", reference: b.constant(bare, http.StatusOK, direct), measured: b.constant(berth, http.StatusOK, ours),
		unit: "requests/s", asked: atLeast(0.5),
	}.print(b)
	if err != nil {
		return err
	}
	for _, reference := range []struct {
		name string
		of   *server
	}{{"a bare proxy", bare}, {"the port itself", berth.inPod}} {
		err := row{
			name: fmt.Sprintf("99 of 100 answers within, at %d requests/s, beside %s", offered, reference.name), unit: "ms",
			reference: b.within(reference.of, direct), measured: b.within(berth, ours),
		}.print(b)
		if err != nil {
			return err
		}
	}
	return nil
}

// within measures the time within which 99 of 100 answers come, at a constant rate.
func (b *bench) within(s *server, req []byte) func() (reading, error) {
	return func() (reading, error) {
		var took []float64
		r, err := s.reading(func() (n int64, err error) {
			took, err = offer(s.address, offered, max(b.length, 2*time.Second), func(int) []byte { return req })
			return int64(len(took)), err
		})
		if err == nil {
			r.value = quantile(took, 0.99)
		}
		return r, err
	}
}

// showing is serve for a server that counts its allocations, with a server of net/http for its pods.
func (b *bench) showing() (*server, error) {
	inPod, err := b.bare("net/http")
	if err != nil {
		return nil, err
	}
	s, err := b.launch(b.directory(), "sleep 100000", nil, "--runtime", "process", "--log-level", "warn", "--metrics-listen", "127.0.0.1:0")
	if err != nil {
		inPod.stop()
		return nil, err
	}
	s.inPod = inPod
	return b.withKey(s)
}

// toPod makes a pod whose HTTP port is that of the server for pods: a process has the ports of the machine. It gives the request to it, once that is
// answered.
func (s *server) toPod(direct []byte) (req []byte, err error) {
	_, port, err := net.SplitHostPort(s.inPod.address)
	if err != nil {
		return nil, err
	}
	var pod struct{ ID string }
	err = each(s.address, 1, func(_ int, c *conn) error {
		body := `{"name":"shown","image":"bench","cpu":{"id":"cpu3g","vcpuCount":2},"ports":["` + port + `/http"]}`
		answer, err := c.ask(s.createPod([]byte(body)), http.StatusCreated)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, &pod)
	})
	if err != nil {
		return nil, err
	}

	req = bytes.Replace(direct, []byte("Host: bench"), []byte("Host: "+pod.ID+"-"+port+".localhost"), 1)
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err = s.once(req); err == nil || time.Since(start) > 20*time.Second {
			return req, err
		}
	}
}
