package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

const (
	callTime  = 30 * time.Second // for an answer that should come at once, with what is waited in between
	mostCalls = 16               // requests at a time of one runtime, beside watches, logs and measurements
	mostTails = 512              // logs that are followed at a time
	mostStats = 8                // measurements that are asked for at a time
	mostBody  = 64 << 20         // bytes of an answer that is read
	mostTries = 4                // of a request that the server cannot answer now
	mostWait  = 10 * time.Second // between two tries, whatever the server says
	mostError = 1 << 20          // bytes of an answer that is an error
)

// The types of bodies.
const (
	typeJSON     = "application/json"
	typeMerge    = "application/merge-patch+json"
	typeMetadata = typeJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + typeJSON // the second where a server knows no such lists
)

// errTooLarge says that an answer has too many bytes to be read.
var errTooLarge = errors.New("the answer is too large")

// client speaks to an API server.
type client struct {
	server    string // its URL, without a slash at the end
	namespace string
	http      *http.Client
	sockets   *http.Client // for websockets
	// authorize adds what proves who asks.
	authorize func(*http.Request) error
	clock     compute.Clock
	mostBody  int           // bytes of an answer that is read
	calls     chan struct{} // has a place for each request
	tails     chan struct{} // likewise, for logs
	stats     chan struct{} // likewise, for measurements
}

func newClient(c credentials, clock compute.Clock) *client {
	return &client{
		server: strings.TrimRight(c.server, "/"), namespace: c.namespace, http: &http.Client{Transport: c.transport}, sockets: newSocketClient(c.transport), authorize: c.authorize,
		clock: clock, mostBody: mostBody, calls: make(chan struct{}, mostCalls), tails: make(chan struct{}, mostTails), stats: make(chan struct{}, mostStats),
	}
}

// close lets go of connections that nobody uses.
func (c *client) close() { c.http.CloseIdleConnections() }

// path is that of objects in the namespace: path("pods"), path("pods", name).
func (c *client) path(resource string, names ...string) string {
	base := "/api/v1"
	if resource == deviceClaims {
		base = devicesPath
	}
	path := base + "/namespaces/" + url.PathEscape(c.namespace) + "/" + url.PathEscape(resource)
	for _, name := range names {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// call is one request.
type call struct {
	what   string // for errors: "create pod a"
	method string
	path   string
	query  url.Values
	accept string // empty: JSON
	kind   string // of the body; empty: JSON
	body   any    // nil: none
	apart  bool   // who asks counts such requests by itself: it takes no place of those that pods need to come and go
}

// do makes a request and reads the answer into a value, unless that is nil. It waits and asks again where the server says so. The errors
// are *apiError, ErrUnavailable where no answer came, errTooLarge, and that of ctx.
func (c *client) do(ctx context.Context, r call, into any) error {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return err
		}
	}

	short, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for try := 1; ; try++ {
		err := c.try(short, r, body, into)
		var refused *apiError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &refused):
			return err
		case refused.Wait == 0 || !errors.Is(err, runtime.ErrUnavailable) || try == mostTries:
			return err
		}

		if pause(short, c.clock, min(refused.Wait, mostWait)) != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// try makes the request once.
func (c *client) try(ctx context.Context, r call, body []byte, into any) error {
	if !r.apart {
		select {
		case c.calls <- struct{}{}:
			defer func() { <-c.calls }()
		case <-ctx.Done():
			return fmt.Errorf("%w: %s: too much else is asked for", runtime.ErrUnavailable, r.what)
		}
	}

	answer, err := c.open(ctx, r, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer, int64(c.mostBody)+1))
	switch {
	case err != nil:
		return unreachable(r.what, err)
	case len(text) > c.mostBody:
		return fmt.Errorf("kubernetes: %s: %w: it has over %d bytes", r.what, errTooLarge, c.mostBody)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("kubernetes: %s: the answer cannot be read: %w", r.what, err)
	}
	return nil
}

// open makes the request once and gives the answer's body, which the caller closes.
func (c *client) open(ctx context.Context, r call, body []byte) (io.ReadCloser, error) {
	address := c.server + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, address, reader)
	if err != nil {
		return nil, err
	}

	request.Header.Set("Accept", cmp.Or(r.accept, typeJSON))
	request.Header.Set("User-Agent", "berth")
	if body != nil {
		request.Header.Set("Content-Type", cmp.Or(r.kind, typeJSON))
	}
	if err := c.authorize(request); err != nil { // a file may just be being replaced
		return nil, fmt.Errorf("%w: kubernetes: %s: %w", runtime.ErrUnavailable, r.what, err)
	}

	answer, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil, ctx.Err()
		}
		return nil, unreachable(r.what, err)
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		return answer.Body, nil
	}
	defer func() { _ = answer.Body.Close() }()
	return nil, refusal(r.what, answer)
}

// refusal reads an answer that is an error.
func refusal(what string, answer *http.Response) error {
	e := &apiError{What: what, Code: answer.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, mostError))
	var s status
	if json.Unmarshal(text, &s) == nil && s.Kind == "Status" {
		e.Reason, e.Message, e.Object = s.Reason, s.Message, s.Details.Name
		e.Wait = time.Duration(s.Details.RetryAfterSeconds) * time.Second
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		e.Wait = max(time.Duration(seconds)*time.Second, time.Millisecond) // 0 seconds: at once
	}
	return e
}

// unreachable marks an error that means that no answer came.
func unreachable(what string, err error) error {
	if address, ok := errors.AsType[*url.Error](err); ok {
		err = address.Err // without the address, which may have a password in it
	}
	if connection, ok := errors.AsType[*net.OpError](err); ok {
		err = connection.Err // users read why a pod does not go on, and the server's address is not for them
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		err = errors.New(name.Err)
	}
	return fmt.Errorf("%w: kubernetes: %s: %w", runtime.ErrUnavailable, what, err)
}

// pause waits. It gives the error of ctx if that ends before.
func pause(ctx context.Context, clock compute.Clock, d time.Duration) error {
	after, stop := clock.After(d)
	defer stop()
	select {
	case <-after:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
