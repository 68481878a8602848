package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// longest is how long a client that is to try again does so.
const longest = time.Minute

// replica is one of several servers over one database.
type replica struct {
	settings
	server *server // the last one that was started
	http   *http.Client
	ready  atomic.Bool // as it answered when it was last asked
}

func newReplica(c settings) *replica {
	return &replica{settings: c, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

func (r *replica) url() string { return "http://" + r.listen }

// spread sends each request to any of several replicas.
type spread struct {
	*ledger
	each     []*replica
	patience time.Duration // of a client
	// polite: the replicas end in order, one after the other. Then a client gets nothing but an answer, or when to ask again, from
	// what has done nothing; and who spreads the requests knows from /readyz whom to send none.
	polite bool

	again, none, most atomic.Int64 // how often somebody had to try again, or found none ready, and the longest time of a request
}

// rest makes a request of one of the replicas, and again if the answer asks for that. Status 0 means that nobody knows whether it was done.
func (s *spread) rest(ctx context.Context, key, method, path, body string) (status int, answer []byte) {
	begun := time.Now()
	for {
		status, answer, after := s.once(ctx, key, method, path, body)
		if after == 0 {
			took := time.Since(begun).Nanoseconds()
			for most := s.most.Load(); took > most && !s.most.CompareAndSwap(most, took); most = s.most.Load() {
			}
			return status, answer
		}

		if status == 0 {
			s.none.Add(1)
		} else {
			s.again.Add(1)
		}
		if time.Since(begun) > longest {
			s.violated("%s %s is asked to try again for %s: %d %s", method, path, longest, status, answer)
			return 0, nil
		}
		if pause(ctx, after); ctx.Err() != nil {
			return 0, nil
		}
	}
}

// once makes a request once, and gives when it is to be made again; 0: it is not.
func (s *spread) once(ctx context.Context, key, method, path, body string) (status int, answer []byte, after time.Duration) {
	to := s.pick()
	if to == nil {
		return 0, nil, 20 * time.Millisecond
	}
	within, stop := context.WithTimeout(ctx, s.patience)
	defer stop()
	status, header, answer, err := send(within, to.http, key, method, to.url()+path, body)

	switch {
	case err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests:
		return status, answer, 0
	case err == nil:
		seconds, _ := strconv.Atoi(header.Get("Retry-After"))
		if seconds <= 0 {
			s.violated("%s %s: %d without Retry-After: %s", method, path, status, answer)
			return 0, nil, 0
		}
		if s.polite {
			return status, answer, time.Duration(seconds) * time.Second
		}
	case s.polite && refused(err):
		return 0, nil, 20 * time.Millisecond
	case s.polite && ctx.Err() == nil:
		s.violated("%s %s of %s: %w", method, path, to.url(), err)
	}

	return 0, nil, 0
}

// refused reports whether a connection was refused: nobody has seen the request.
func refused(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}

// pick gives any replica; a polite one gives one that is ready, or nil.
func (s *spread) pick() *replica {
	from := s.each
	if s.polite {
		from = nil
		for _, r := range s.each {
			if r.ready.Load() {
				from = append(from, r)
			}
		}
	}
	if len(from) == 0 {
		return nil
	}
	return from[rand.IntN(len(from))] //nolint:gosec // any of them
}

// watch looks all the time which replicas are ready, as what balances load does.
func (s *spread) watch(ctx context.Context) {
	by := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, r := range s.each {
		go func() {
			for ctx.Err() == nil {
				res, err := by.Get(r.url() + "/readyz")
				if err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				ready := err == nil && res.StatusCode < 300
				if r.ready.Swap(ready); !ready {
					r.http.CloseIdleConnections()
				}
				pause(ctx, 50*time.Millisecond)
			}
		}()
	}
}
