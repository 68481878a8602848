package berth

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// What changes, as spec/controls.yaml describes it.
type (
	// Event says that something was made, changed or deleted.
	Event = controls.Event
	// EventKind is what an event is of, to ask for that alone.
	EventKind = controls.FollowedKind
)

// Events gives what changes in the server from now on, on any runtime, as it happens; of some kinds, or of all. An event of the kind reset says
// that some were missed, or that everything is another. It ends with ctx, with the server and where a state is loaded, without an error; the error
// is that of a stream that was refused or broke off.
func (s *Server) Events(ctx context.Context, kinds ...EventKind) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		body, err := s.openEvents(ctx, kinds)
		if err == nil {
			defer func() { _ = body.Close() }()
			err = readEvents(body, func(e Event) bool { return yield(e, nil) })
		}
		if err != nil && ctx.Err() == nil {
			yield(Event{}, err)
		}
	}
}

// openEvents opens the stream of events.
func (s *Server) openEvents(ctx context.Context, kinds []EventKind) (io.ReadCloser, error) {
	c, err := controlsclient.NewClient(s.URL(), controlsclient.WithHTTPClient(s.client))
	if err != nil {
		return nil, err
	}
	res, err := c.GetEvents(ctx, &controls.GetEventsParams{Kinds: kinds}, func(_ context.Context, r *nethttp.Request) error {
		r.Header.Set("Authorization", "Bearer "+cmp.Or(s.ControlsKey(), s.key))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if res.StatusCode != nethttp.StatusOK {
		text, err := io.ReadAll(res.Body)
		return nil, errors.Join(refused(res.Status, text), err, res.Body.Close())
	}
	return res.Body, nil
}

// readEvents gives each event of a stream to one, until that gives false.
func readEvents(from io.Reader, one func(Event) bool) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		data, is := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !is {
			continue
		}
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		if !one(e) {
			return nil
		}
	}
	return lines.Err()
}
