package kubernetes

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const (
	resyncTime   = 5 * time.Minute // after which everything is listed again, whatever the watch has brought
	staleTime    = 30 * time.Second
	leastBackoff = 100 * time.Millisecond
	mostBackoff  = 10 * time.Second
	deniedPause  = time.Minute // before what may not be read is asked for again
	mostEvent    = 8 << 20     // bytes of one event
)

// The types of events.
const (
	eventDeleted  = "DELETED"
	eventBookmark = "BOOKMARK"
	eventError    = "ERROR"
)

// reflector keeps what is read of some objects as they are in the cluster: it lists them, then watches them from the version of the list
// on. A watch that is cut goes on where it was; one whose version is too old to go on from begins with a list again.
type reflector[T any] struct {
	client         *client
	clock          compute.Clock
	log            *slog.Logger
	path, selector string
	// replaced takes in a list, which is of the version; changed one event, which is no bookmark and no error.
	replaced func(all []T, version string)
	changed  func(kind string, one *T)
	versions func(*T) string

	first chan struct{} // closed once the first list has come, or has failed

	mu       sync.Mutex
	synced   bool
	open     bool      // a watch is
	answered time.Time // when the server answered last, unless open
	cause    error     // why it is not; nil: nothing has failed
	denied   bool      // that was logged
}

// run goes on until ctx ends.
func (r *reflector[T]) run(ctx context.Context) {
	version, listed, backoff := "", time.Time{}, leastBackoff
	for ctx.Err() == nil {
		var err error
		if version == "" || r.clock.Now().Sub(listed) >= resyncTime {
			if version, err = r.list(ctx); err == nil {
				listed = r.clock.Now()
			}
		}

		before := version
		if err == nil {
			version, err = r.watch(ctx, version, max(time.Second, resyncTime-r.clock.Now().Sub(listed)))
		}
		wait := backoff
		switch {
		case ctx.Err() != nil:
			return
		case version != before: // the watch brought something
			wait, backoff = leastBackoff, leastBackoff
		default:
			backoff = min(2*backoff, mostBackoff)
		}

		switch {
		case answered(err, http.StatusForbidden), r.path == slicesPath && isAbsent(err): // the others are in each cluster
			r.deny(err)
			wait = deniedPause
		case answered(err, http.StatusGone):
			version = ""
		}
		if pause(ctx, r.clock, wait) != nil {
			return
		}
	}
}

// errCut says that a watch that was open has ended in the midst.
var errCut = errors.New("kubernetes: the watch was cut")

// list lists everything, and gives its version.
func (r *reflector[T]) list(ctx context.Context) (string, error) {
	all, version, err := listAll[T](ctx, r.client, r.path, r.selector)
	if err == nil && version == "" {
		err = fmt.Errorf("kubernetes: list %s: the list has no version", r.path)
	}
	if err == nil {
		r.replaced(all, version)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = err
	if err == nil {
		r.synced, r.answered = true, r.clock.Now()
	}
	select {
	case <-r.first:
	default:
		close(r.first)
	}
	return version, err
}

// deny says once that the objects may not be read, or that there is no API of them.
func (r *reflector[T]) deny(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.denied {
		r.log.Warn("the cluster does not give berth some objects to read: it goes on without them", "path", r.path, "error", err)
	}
	r.denied = true
}

// known reports whether there is a list, and what has failed if there is none, or if the server has not answered for long.
func (r *reflector[T]) known() (ok bool, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.open || r.clock.Now().Sub(r.answered) <= staleTime
	return r.synced && fresh, r.cause
}

// watch takes in events until the time has passed, and gives the version up to which it did.
func (r *reflector[T]) watch(ctx context.Context, version string, d time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, d+callTime)
	defer cancel()
	query := url.Values{
		"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version}, "timeoutSeconds": {strconv.Itoa(int(d / time.Second))},
	}
	if r.selector != "" {
		query.Set("labelSelector", r.selector)
	}

	body, err := r.client.open(ctx, call{what: "watch " + r.path, method: http.MethodGet, path: r.path, query: query}, nil)
	if err != nil {
		r.noteCut(err)
		return version, err
	}
	defer func() { _ = body.Close() }()

	r.mu.Lock()
	r.open, r.cause = true, nil
	r.mu.Unlock()
	bounded := &boundedReader{from: bufio.NewReader(body)}
	decoder := json.NewDecoder(bounded)
	for {
		bounded.left = mostEvent
		var e event
		if err = decoder.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: %w", errCut, err)
			} else {
				err = nil // the server has ended it
			}
			break
		}

		if version, err = r.take(e, version); err != nil {
			break
		}
	}

	r.noteCut(err)
	return version, err
}

// noteCut notes that no watch is open.
func (r *reflector[T]) noteCut(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open {
		r.open, r.answered = false, r.clock.Now()
	}
	if err != nil {
		r.cause = err
	}
}

// take takes in an event, and gives the version that it is of.
func (r *reflector[T]) take(e event, version string) (string, error) {
	if e.Type == eventError {
		var s status
		if err := json.Unmarshal(e.Object, &s); err != nil {
			return version, fmt.Errorf("kubernetes: watch %s: %w", r.path, err)
		}
		return version, &apiError{What: "watch " + r.path, Code: s.Code, Reason: s.Reason, Message: s.Message}
	}

	one := new(T)
	if err := json.Unmarshal(e.Object, one); err != nil {
		return version, fmt.Errorf("kubernetes: watch %s: an object cannot be read: %w", r.path, err)
	}
	if e.Type != eventBookmark {
		r.changed(e.Type, one)
	}
	if v := r.versions(one); v != "" {
		version = v
	}
	return version, nil
}

// boundedReader gives an error once more is read than is left.
type boundedReader struct {
	from io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("kubernetes: an event has over %d bytes", mostEvent)
	}
	n, err := b.from.Read(p)
	b.left -= n
	return n, err
}

// newer reports whether an object of version a may stand in for one of version b. Versions are numbers that grow; of what is none nothing
// is known.
func newer(a, b string) bool {
	x, y := number(a), number(b)
	return x == 0 || y == 0 || x >= y
}

func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64)
	return n
}
