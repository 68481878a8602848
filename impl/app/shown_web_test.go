package app_test

// This file holds the web server that runs in pods of tests.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// asWeb makes the test binary play a web server in a pod, which listens at that address.
const asWeb = "BERTH_TEST_WEB"

// noise reads as so many bytes, always the same.
func noise(n int64) io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{}), n) }

// digest reads to the end, and gives what was read in short.
func digest(r io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// playWeb serves until it is killed.
func playWeb(address string) error {
	serve, stuck, left := http.NewServeMux(), atomic.Int32{}, atomic.Int32{}
	serve.HandleFunc("/stuck", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, stuck.Load()) })
	serve.HandleFunc("/left", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, left.Load()) })
	serve.HandleFunc("/process", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, os.Getpid()) })
	serve.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) { _ = json.NewEncoder(w).Encode(r.Header) })
	serve.HandleFunc("/echo", echoSocket)
	serve.HandleFunc("/down", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.FormValue("bytes"), 10, 64)
		_, _ = io.Copy(w, noise(n))
	})
	serve.HandleFunc("/up", func(w http.ResponseWriter, r *http.Request) {
		sum, err := digest(r.Body)
		_, _ = fmt.Fprint(w, sum, err)
	})
	serve.HandleFunc("/events", events)
	serve.HandleFunc("/held", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		stuck.Add(1)
		<-r.Context().Done()
		left.Add(1)
	})
	serve.HandleFunc("/part", func(w http.ResponseWriter, r *http.Request) {
		if length := r.FormValue("length"); length != "" {
			w.Header().Set("Content-Length", length)
		}
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		stuck.Add(1)
		<-r.Context().Done()
	})

	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	return (&http.Server{Handler: serve, ReadHeaderTimeout: time.Minute}).Serve(l)
}

// echoSocket sends back each message of a websocket.
func echoSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"echo"}})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(4 << 20)
	for {
		kind, message, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if string(message) == "leave" {
			_ = conn.Close(4321, "as you say")
			return
		}
		if conn.Write(r.Context(), kind, message) != nil {
			return
		}
	}
}

// events sends when it is, as server-sent events, n times every so often.
func events(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	every, _ := time.ParseDuration(r.FormValue("every"))
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range n {
		if i > 0 {
			select {
			case <-time.After(every):
			case <-r.Context().Done():
				return
			}
		}
		_, _ = fmt.Fprintf(w, "data: %d\n\n", time.Now().UnixNano())
		_ = http.NewResponseController(w).Flush()
	}
}
