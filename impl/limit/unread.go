package limit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// A request that net/http cannot read comes to no handler: it answers itself, in plain text, by one write to the connection. That
// answer is made a problem like any other (rule errors.unread).

// unreadHead is in each of those answers after the status line, and text follows. No answer of a handler has it, since each has a
// Date.
const unreadHead = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// expectation begins its answer to an Expect that is not 100-continue, which has a Date like any other, and no body.
const expectation = "HTTP/1.1 417 Expectation Failed\r\n"

// unreadDetails say in words what net/http says by its status alone.
var unreadDetails = map[int]string{
	http.StatusBadRequest:                  "the request line, the path or a header is malformed",
	http.StatusRequestHeaderFieldsTooLarge: fmt.Sprintf("the request line and the headers are over the limit of %d bytes", mostHead),
	http.StatusExpectationFailed:           "Expect must be 100-continue",
	http.StatusNotImplemented:              "the transfer encoding must be chunked",
}

type connKey struct{}

// known lets a handler find its connection, as the ConnContext of the server.
func known(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, connOf(nc))
}

// handled notes that what is written to the connection of the request is a handler's, until State learns that it is idle.
func handled(r *http.Request) {
	if one, _ := r.Context().Value(connKey{}).(*conn); one != nil {
		one.handled.Store(true)
	}
}

// Gone reports whether the client of a request has closed its connection. The context of the request ends then as well, but a moment later: what is
// written in that moment is lost, and no error says so.
func Gone(r *http.Request) bool {
	if r.Context().Err() != nil {
		return true
	}
	one, _ := r.Context().Value(connKey{}).(*conn)
	return one != nil && one.gone()
}

// asProblem gives the problem that stands for net/http's own answer, or the text as it is where it is not one.
func asProblem(text []byte) []byte {
	line, _, plain := bytes.Cut(text, []byte(unreadHead))
	if bytes.HasPrefix(text, []byte(expectation)) {
		line, plain = text[:len(expectation)-len("\r\n")], true
	}
	first, isAnswer := strings.CutPrefix(string(line), "HTTP/1.1 ")
	if !plain || !isAnswer {
		return text
	}

	number, reason, _ := strings.Cut(first, " ")
	status, err := strconv.Atoi(number)
	title := http.StatusText(status)
	if err != nil || title == "" {
		return text
	}

	detail := unreadDetails[status]
	if _, words, more := strings.Cut(reason, ": "); more {
		detail = words
	}
	body, err := json.Marshal(map[string]any{"title": title, "status": status, "detail": "the request cannot be read: " + detail})
	if err != nil {
		return text
	}

	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", status, title, len(body)+1)
	return append(append([]byte(head), body...), '\n')
}
