package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errLate is the cause of the end of a request whose answer does not come.
var errLate = errors.New("no answer came")

// causeOf gives why a request failed that was broken off here.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errLate) {
		return cause
	}
	return err
}

// open makes a request that a stream answers, which cancel ends. The answer must begin in the time that others may take; then it may last.
func (c *connection) open(ctx context.Context, cancel context.CancelCauseFunc, r request) (*http.Response, error) {
	late := time.AfterFunc(requestTime, func() { cancel(fmt.Errorf("%w within %s", errLate, requestTime)) })
	defer late.Stop()
	res, err := r(ctx)
	if err != nil {
		return nil, c.unreached(causeOf(ctx, err))
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}

	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	return nil, c.refused(res, text)
}

// streamed is what is known of a stream when it has ended.
type streamed struct {
	opened time.Time // when its answer began; zero: it did not
	some   bool      // whether anything of it was printed
}

// lasted reports, when a stream has just ended, whether a server stood behind it: one that ends at once and with nothing does not show that.
func (s streamed) lasted() bool {
	return s.some || !s.opened.IsZero() && time.Since(s.opened) >= time.Second
}

// logEvent is an event of a log, or of a stream of changes: its id, and its line as JSON. Without a line it says only where the stream stands.
// A comment is an event of its own.
type logEvent struct{ id, data, comment string }

// readEvents reads server-sent events until they end, or fails. It hands on those that have only an id, and comments, too.
func readEvents(ctx context.Context, from io.Reader, to chan<- logEvent) error {
	var e logEvent
	for r := bufio.NewReader(from); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}

		line = bytes.TrimRight(line, "\r\n")
		name, value, _ := bytes.Cut(line, []byte(": "))
		next, whole := e, len(line) == 0 && (e.id != "" || e.data != "")
		if comment, is := bytes.CutPrefix(line, []byte(":")); is {
			next, whole = logEvent{comment: string(bytes.TrimSpace(comment))}, true
		} else if whole {
			e = logEvent{}
		}
		switch {
		case whole:
			select {
			case to <- next:
			case <-ctx.Done():
				return ctx.Err()
			}
		case string(name) == "id":
			e.id = string(value)
		case string(name) == "data":
			e.data = string(value)
		}
	}
}
