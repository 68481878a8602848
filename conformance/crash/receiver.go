package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// silences is how many receivers there are that never answer.
const silences = 40

// receiver takes webhooks.
type receiver struct {
	url    string
	silent []string // addresses where connections are taken, and nothing else
	deaf   []net.Listener
	mu     sync.Mutex
	got    map[string]int // documents, and how often each came
	http   *http.Server
}

func listenForWebhooks() (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + l.Addr().String() + "/", got: map[string]int{}}
	r.http = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = r.http.Serve(l) }() // until close

	for range silences {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			r.close()
			return nil, err
		}
		r.deaf, r.silent = append(r.deaf, l), append(r.silent, "http://"+l.Addr().String()+"/")
	}

	return r, nil
}

// ServeHTTP takes one delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest) // cut off by a kill: it comes again
		return
	}
	r.mu.Lock()
	r.got[string(bytes.TrimSpace(body))]++
	r.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// times reports how often a document came: a webhook gets what a read of the status gets.
func (r *receiver) times(document string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got[document]
}

func (r *receiver) close() {
	_ = r.http.Close()
	for _, l := range r.deaf {
		_ = l.Close()
	}
}
