// Package wire is how commands in pods and workers are spoken of over a websocket (subprotocol berth.exec.v1): for the server and for
// its clients in Go. Websockets are those of github.com/coder/websocket, which knows contexts and has no dependencies.
//
// Every message is binary. Its first byte is the channel, and what follows is what is said on it.
package wire

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/berthdev/berth/impl/compute"
)

// Protocol is the subprotocol.
const Protocol = "berth.exec.v1"

// keyProtocol begins the subprotocol by which who can send no header, as pages in browsers, shows an API key: base64url of it, without
// padding, follows. It is never answered back.
const keyProtocol = "berth.key."

// Channel is the first byte of a message.
type Channel byte

// The channels.
const (
	Stdin    Channel = iota // to the server
	Stdout                  // to the client
	Stderr                  // to the client; with a terminal there is none
	Status                  // to the client, once, as the last: a Result
	Resize                  // to the server: a Size
	StdinEnd                // to the server: there will be no more of it
)

const (
	mostMessage = 64 << 10         // bytes of a message to the server; longer ones end the connection
	piece       = 32 << 10         // bytes of what is said in one message
	pingTick    = 30 * time.Second // between two signs of life, of the machine's time
	pingTime    = 30 * time.Second // for the answer to one
	sendTime    = time.Minute      // for the other side to take a message
	beginTime   = 30 * time.Second // for the server to answer a client's request
)

// Result is how a command ended.
type Result struct {
	ExitCode *int   `json:"exitCode,omitempty"`
	Error    string `json:"error,omitempty"` // why there is no exit code
}

// Size is that of a terminal, in characters.
type Size struct {
	Width  uint16 `json:"width"`
	Height uint16 `json:"height"`
}

// Key gives the API key among the subprotocols of a request; empty if there is none, or it cannot be read.
func Key(h http.Header) string {
	for _, one := range protocols(h) {
		if text, is := strings.CutPrefix(one, keyProtocol); is {
			key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
			if err == nil {
				return string(key)
			}
		}
	}
	return ""
}

func protocols(h http.Header) (all []string) {
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for one := range strings.SplitSeq(line, ",") {
			all = append(all, strings.TrimSpace(one))
		}
	}
	return all
}

// Check refuses a request that is none for this protocol: Rejected.
func Check(r *http.Request) error {
	has := func(name, token string) bool {
		for _, line := range r.Header.Values(name) {
			for one := range strings.SplitSeq(line, ",") {
				if strings.EqualFold(strings.TrimSpace(one), token) {
					return true
				}
			}
		}
		return false
	}
	switch {
	case !has("Connection", "Upgrade") || !has("Upgrade", "websocket"):
		return compute.Errorf(compute.Rejected, "commands are spoken of over a websocket: the request asks for none")
	case !slices.Contains(protocols(r.Header), Protocol):
		return compute.Errorf(compute.Rejected, "Sec-WebSocket-Protocol must name %s", Protocol)
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		return compute.Errorf(compute.Rejected, "Sec-WebSocket-Version must be 13")
	}
	if key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key")); err != nil || len(key) != 16 {
		return compute.Errorf(compute.Rejected, "Sec-WebSocket-Key must be 16 bytes in base64")
	}
	return nil
}

// send sends a message. It gives up on who does not take it.
func send(ctx context.Context, ws *websocket.Conn, c Channel, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return write(ctx, ws, c, text)
}

// write sends a message to who may take any time.
func write(ctx context.Context, ws *websocket.Conn, c Channel, text []byte) error {
	return ws.Write(ctx, websocket.MessageBinary, append([]byte{byte(c)}, text...))
}

// sender is a writer to a channel: it sends a piece.
type sender func(piece []byte) error

// Write sends text in pieces.
func (s sender) Write(text []byte) (n int, err error) {
	for n < len(text) {
		part := text[n:min(len(text), n+piece)]
		if err := s(part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// receive reads a message; an error ends the connection.
func receive(ctx context.Context, ws *websocket.Conn) (Channel, []byte, error) {
	kind, text, err := ws.Read(ctx)
	switch {
	case err != nil:
		return 0, nil, err
	case kind != websocket.MessageBinary || len(text) == 0:
		return 0, nil, errMessage
	}
	return Channel(text[0]), text[1:], nil
}

var errMessage = errors.New("a message is binary and begins with its channel")

func document(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers and texts
	}
	return text
}
