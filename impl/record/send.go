package record

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// Target is a service that recorded requests are sent to.
type Target struct {
	Upstream
	Key    string            // in the place of the keys that were recorded
	Client http.RoundTripper // nil: one that checks certificates against those of the system
}

// session is the requests of a recording on their way to a target, and what it calls the things that were recorded.
type session struct {
	Target
	known    *interfaces
	clock    compute.Clock
	patience time.Duration
	ids      *pairs // from those of the recording

	mu     sync.Mutex
	vainly map[string]bool // what was waited for in vain, by its address
	given  map[string]int  // how many chunks of a stream have come, by its path
}

// answer is what a target answered to a recorded request.
type answer struct {
	Exchange
	err error // there is none
}

// run sends the requests in their order, and gives the answers in the order of the exchanges. Requests that overlapped when they were recorded
// overlap again: one is sent when all that had been answered before it are. Those that are skipped have no answer. The error is that of ctx.
func (s *session) run(ctx context.Context, exchanges []Exchange, skipped func(i int) bool) ([]*answer, error) {
	type flight struct {
		end  time.Time
		done chan struct{}
	}
	var going []flight
	all, chunks := make([]*answer, len(exchanges)), wanted(exchanges)
	for i := range exchanges {
		if skipped(i) {
			continue
		}
		x := &exchanges[i]
		going = slices.DeleteFunc(going, func(f flight) bool {
			if f.end.After(x.At) && len(going) < atOnce {
				return false
			}
			<-f.done
			return true
		})
		if ctx.Err() != nil {
			break
		}

		f := flight{x.At.Add(time.Duration(x.TookMs * float64(time.Millisecond))), make(chan struct{})}
		going = append(going, f)
		go func() {
			defer close(f.done)
			all[i] = s.settled(ctx, x, chunks[i])
		}()
	}

	for _, f := range going {
		<-f.done
	}
	return all, ctx.Err()
}

// between is the pause after which a request is sent again.
const between = 200 * time.Millisecond

// settled sends a request, and one that only reads again until what it reads has the status that was recorded, or patience ends: things take
// their time. A stream is read until that many chunks of it have come. It learns what the target calls the things in the answer.
func (s *session) settled(ctx context.Context, x *Exchange, chunks int) *answer {
	began := s.clock.Now()
	for before := (*answer)(nil); ; {
		a := s.send(ctx, x)
		if x.streams() {
			a = s.gathered(x, before, a)
		}
		if a.err != nil || a == before || !x.again(a) || a.Status == x.Status && s.came(x, before, a, chunks) {
			s.learn(x, a)
			return a
		}
		before = a

		what := x.address()
		if isGraphQL(x.Path) { // all documents have one address
			what += "\n" + x.Request.Body
		}
		s.mu.Lock()
		vainly := s.vainly[what]
		if late := s.clock.Now().Sub(began) >= s.patience; late || vainly {
			s.vainly[what] = true
			vainly = true
		}
		s.mu.Unlock()
		if vainly || !s.pause(ctx, between) {
			s.learn(x, a)
			return a
		}
	}
}

// pause waits; false: the context ended first.
func (s *session) pause(ctx context.Context, d time.Duration) bool {
	over, stop := s.clock.After(d)
	defer stop()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// learn notes what the target calls the things in the answer.
func (s *session) learn(x *Exchange, a *answer) {
	if a.err != nil || a.Status != x.Status || x.streams() { // which chunks come together is chance
		return
	}
	d := differ{ids: s.ids}
	d.values(at{}, x.Response.read(), a.Response.read())
}

// statuses gives the values of the members of a body that are statuses, in their order: of the one thing that it is about. In a list there may be
// things that come and go unasked, such as workers.
func statuses(v any) (all []string) {
	object, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if text, ok := object[name].(string); ok && strings.HasSuffix(strings.ToLower(name), "status") && !isAddress(text) {
			all = append(all, text)
		}
		all = append(all, statuses(object[name])...)
	}
	return all
}

// longestPause bounds how long a target that takes no more requests is waited for, for one request in all.
const longestPause = time.Minute

// longestAnswer is how long an answer may take beyond what it took when it was recorded.
const longestAnswer = time.Minute

// send sends a request, again where the limits of the target refuse it that refused none when it was recorded.
func (s *session) send(ctx context.Context, x *Exchange) *answer {
	for left := longestPause; ; {
		a := s.exchange(ctx, x)
		if a.err != nil || a.Status != http.StatusTooManyRequests || x.Status == http.StatusTooManyRequests {
			return a
		}
		seconds, err := strconv.Atoi(a.Response.Header("Retry-After"))
		wait := time.Duration(max(seconds, 1)) * time.Second
		if left -= wait; err != nil || left < 0 || !s.pause(ctx, wait) {
			return a
		}
	}
}

// longestRead is how many bytes the answer to a read of a stream may have, whatever was recorded: the chunks of many reads may come in one, which a
// service bounds by 20 MB, and are not given again.
const longestRead = 32_000_000

// noKey is sent in the place of a key that was refused when it was recorded.
const noKey = "brt_none_of_its_keys"

// exchange sends a request once and reads the answer.
func (s *session) exchange(ctx context.Context, x *Exchange) *answer {
	ctx, cancel := context.WithTimeout(ctx, longestAnswer+time.Duration(x.TookMs*float64(time.Millisecond)))
	defer cancel()
	key := s.Key
	if x.Status == http.StatusUnauthorized {
		key = noKey
	}
	req, err := s.request(ctx, x, key)
	if err != nil {
		return &answer{err: err}
	}
	path := req.URL.Path

	res, err := s.Client.RoundTrip(req)
	if err != nil {
		return &answer{err: errors.New(req.URL.Host + " does not answer: " + reason(err))}
	}
	defer func() { _ = res.Body.Close() }()
	made := sent{
		method: x.Method, url: &url.URL{Path: x.Path}, keys: []string{key}, status: res.StatusCode, response: journal.Sent{Headers: res.Header},
		request: journal.Sent{Body: []byte(x.Request.Body), Length: x.Request.Length}, // of a document of GraphQL, it says what is secret in the answer
	}
	if !x.Response.Truncated { // of what was not recorded to its end, such as a stream, the head is compared
		most := seen(path, max(DefaultBody, len(x.Response.Body))*2)
		if x.streams() {
			most = max(most, longestRead)
		}
		body, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
		if err != nil {
			return &answer{err: errors.New("the answer of " + req.URL.Host + " ends before its body does: " + reason(err))}
		}
		if len(body) > most {
			return &answer{err: errors.New("the answer of " + req.URL.Host + " is longer than " + strconv.Itoa(most) + " bytes, which is all that is read of one")}
		}
		made.response.Body, made.response.Length = body, int64(len(body))
	}
	a := &answer{Exchange: s.known.masked(made, math.MaxInt)}           // most bounds it, and *** may be longer than what it stands for
	a.Response.Truncated = a.Response.Truncated || x.Response.Truncated // nor was the rest of this one read
	return a
}

// request makes the request anew, with the key and the names of the target.
func (s *session) request(ctx context.Context, x *Exchange, key string) (*http.Request, error) {
	_, document := s.known.named(x.Method, x.Path)
	address := *s.of(document)
	path, query := s.ids.translate(x.Path), s.ids.translate(x.Query)
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, err
	}
	address.RawPath = strings.TrimSuffix(address.EscapedPath(), "/") + path
	address.Path = strings.TrimSuffix(address.Path, "/") + plain
	address.RawQuery = joined(address.RawQuery, strings.ReplaceAll(query, "api_key="+journal.Masked, "api_key="+url.QueryEscape(key)))

	body := s.ids.translate(x.Request.Body)
	if x.Request.Base64 {
		decoded, err := x.Request.bytes()
		if err != nil {
			return nil, err
		}
		body = string(decoded)
	}
	req, err := http.NewRequestWithContext(ctx, x.Method, address.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}

	for _, h := range x.Request.Headers {
		switch {
		case h.Value != journal.Masked:
			req.Header.Add(h.Name, s.ids.translate(h.Value))
		case strings.EqualFold(h.Name, "Authorization"):
			req.Header.Set(h.Name, "Bearer "+key)
		case strings.EqualFold(h.Name, "X-Api-Key"):
			req.Header.Set(h.Name, key)
		}
	}
	req.Header.Set("User-Agent", "berth-compare")
	return req, nil
}
