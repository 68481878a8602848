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

// errLate is the cause of the end of a stream whose answer does not begin.
var errLate = fmt.Errorf("no answer began within %s", requestTime)

// open makes a request that a stream answers, which cancel ends. The answer must begin in the time that others may take; then it may last.
func (c *connection) open(ctx context.Context, cancel context.CancelCauseFunc, r request) (*http.Response, error) {
	late := time.AfterFunc(requestTime, func() { cancel(errLate) })
	defer late.Stop()
	res, err := r(ctx)
	if err != nil {
		return nil, c.unreached(err)
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}

	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	return nil, c.refused(res, text)
}

// streamed is what is known of a stream when it has ended.
type streamed struct {
	opened time.Time // when its answer began; zero: it did not
	some   bool      // whether anything of it was printed
}

// lasted reports, when a stream has just ended, whether a server stood behind it: one that ends at once and with nothing does not show that.
func (s streamed) lasted() bool {
	return s.some || !s.opened.IsZero() && time.Since(s.opened) >= quiet
}

// logEvent is an event of a log, or of a stream of changes: its id, and its line as JSON. Without a line it says only where the stream stands.
type logEvent struct{ id, data string }

// readEvents reads server-sent events until they end, or fails. It hands on those that have only an id, too.
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
		switch {
		case len(line) == 0 && (e.id != "" || e.data != ""):
			select {
			case to <- e:
			case <-ctx.Done():
				return ctx.Err()
			}
			e = logEvent{}
		case string(name) == "id":
			e.id = string(value)
		case string(name) == "data":
			e.data = string(value)
		}
	}
}
