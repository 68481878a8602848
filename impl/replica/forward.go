package replica

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/relay"
	"github.com/berthdev/berth/store"
)

// Headers between replicas. From anybody else they mean nothing and are removed.
const (
	proofHeader  = "Berth-Replica"        // shows that a replica sent the request
	clientHeader = "Berth-Replica-Client" // the address of who sent it to that one
	movedHeader  = "Berth-Replica-Not-Me" // of an answer: who gave it does not own the store
	longestWait  = 10 * time.Second       // for an owner
	mostIdle     = 256                    // connections to the owner that are kept open
)

// proofOf gives what shows that a replica says those words: who knows it cannot derive the key.
func proofOf(key []byte, words string) string {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte("berth: " + words)) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// ServeHTTP answers a request if the replica owns the store, and sends it on to the owner otherwise. While there is none it waits for a
// while, and then answers 503.
func (m *Member) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from := m.fromReplica(r)
	if v := m.now.Load(); m.serves(v) {
		if from.id != "" {
			m.answerFor(from, v.service, w, r)
			return
		}
		v.service.ServeHTTP(w, r)
		return
	}
	if from.sent { // one hop: who sent it asks again
		w.Header().Set(movedHeader, m.moved)
		m.settings.Refuse(w, r, errNoOwner)
		return
	}
	m.forward.serve(w, r)
}

// Sent reports whether a request says that a replica has sent it, be it true or not.
func Sent(r *http.Request) bool { return r.Header[proofHeader] != nil }

// sentBy is who sent a request.
type sentBy struct {
	sent   bool   // it was a replica
	id     string // of it; empty: an older one, which does not say
	leaves bool   // it is about to stop
}

// fromReplica reports whether another replica sent the request, which then is as if its client had.
func (m *Member) fromReplica(r *http.Request) (from sentBy) {
	proof, client := r.Header[proofHeader], r.Header[clientHeader]
	id, leaving, look := r.Header.Get(fromHeader), r.Header[leavingHeader], r.Header[lookHeader]
	for _, name := range []string{proofHeader, clientHeader, fromHeader, leavingHeader, lookHeader} {
		delete(r.Header, name)
	}
	if len(proof) != 1 || !hmac.Equal([]byte(proof[0]), []byte(m.proof)) {
		return from
	}
	if len(client) == 1 {
		r.RemoteAddr = client[0]
	}
	if look != nil {
		m.Doubt()
	}
	return sentBy{sent: true, id: id, leaves: leaving != nil}
}

// errNoOwner is what is answered while nobody owns the store.
var errNoOwner = &compute.Error{
	Code: compute.Unavailable, Title: "No Owner", Detail: "no replica owns the database at the moment: ask again", RetryAfter: time.Second,
}

// errNoAnswer is what is answered where the owner may have done what was asked.
var errNoAnswer = &compute.Error{
	Code: compute.Unavailable, Title: "No Answer", RetryAfter: time.Second,
	Detail: "the replica that owns the database went away before it answered: what was asked may have been done. Look before you ask again",
}

// serves reports whether this replica answers: it owns the store, its lease is not over, and its memory is as the rows are.
func (m *Member) serves(v *view) bool {
	return v.service != nil && (compute.SystemClock{}).Now().Before(v.until) && v.owner.Epoch != m.stale.Load()
}

// forwarder sends requests on to the owner.
type forwarder struct {
	member  *Member
	proxy   *httputil.ReverseProxy
	tries   tries
	kept    bound // bytes of bodies
	waiting bound // requests
}

func newForwarder(m *Member) *forwarder {
	f := &forwarder{member: m, kept: bound{most: mostKeptHere}, waiting: bound{most: mostWaiting}}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: f.rewrite, ModifyResponse: f.moved, ErrorHandler: f.failed,
		FlushInterval: -1, // as it comes
		ErrorLog:      slog.NewLogLogger(m.settings.Log.Handler(), slog.LevelDebug),
		Transport:     newTransport(),
	}
	return f
}

// serve sends a request to the owner, and again to the next one, as long as the one before has seen nothing of it or the request only
// reads. If this replica becomes the owner, it answers itself.
func (f *forwarder) serve(w http.ResponseWriter, r *http.Request) {
	body := keep(r, &f.kept)
	defer body.drop()
	reads := harmless(r) && f.member.settings.Reads != nil && f.member.settings.Reads(r)
	late, stop := compute.SystemClock{}.After(longestWait)
	defer func() { stop() }()

	for lost := 0; ; {
		v := f.member.now.Load()
		if f.member.serves(v) {
			body.again(r)
			v.service.ServeHTTP(w, r)
			return
		}

		if to, err := url.Parse(v.owner.Address); err == nil && v.owner.Address != "" && v.service == nil {
			one := f.send(w, r, &try{to: to, epoch: v.owner.Epoch, body: body, reads: reads})
			if !one.again {
				return
			}
			if one.lost && lost < mostLost { // it may have been held for long
				lost++
				stop()
				late, stop = compute.SystemClock{}.After(longestWait)
			}
			f.member.Doubt()
		}

		if f.member.away.Load() { // so does who might be the owner
			f.member.settings.Refuse(w, r, store.Troubled(store.Away, nil))
			return
		}
		if !f.wait(r.Context(), late, v) {
			f.member.settings.Refuse(w, r, errNoOwner)
			return
		}
	}
}

// rewrite makes the request that is sent on.
func (f *forwarder) rewrite(r *httputil.ProxyRequest) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} { // as the client sent them
		if values := r.In.Header[name]; values != nil {
			r.Out.Header[name] = values
		}
	}
	one := tryOf(r.Out.Context())
	r.Out.URL.Scheme, r.Out.URL.Host = one.to.Scheme, one.to.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery // whatever is wrong with it the owner says
	f.member.mark(r.Out.Header, r.In.RemoteAddr)
	if r.Out.ContentLength > mostKept { // the owner may refuse it by its headers
		r.Out.Header.Set("Expect", "100-continue")
	}
	one.body.again(r.Out)
}

// errMoved says that who was asked does not own the store.
var errMoved = errors.New("the replica does not own the store")

// moved keeps back the answer of who does not own the store, if the request can be sent again.
func (f *forwarder) moved(answer *http.Response) error {
	one := tryOf(answer.Request.Context())
	if !hmac.Equal([]byte(answer.Header.Get(movedHeader)), []byte(f.member.moved)) {
		one.answered.Store(true)
		return nil
	}
	answer.Header.Del(movedHeader)
	if one.body.repeats() {
		return errMoved
	}
	return nil
}

// failed sees to a request that has no answer.
func (f *forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	one := tryOf(r.Context())
	if one.client.Err() == nil && (errors.Is(err, errMoved) || unsent(err) || one.reads) {
		one.again, one.lost = true, !errors.Is(err, errMoved) && !unsent(err)
		return
	}
	f.member.Doubt()
	f.member.settings.Log.Debug("a request was sent on to the owner and has no answer", "error", err)
	if one.client.Err() != nil { // also that of one who sends too slowly ends: nothing is read any more, so this does not wait
		err = cmp.Or(one.body.failure(), err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f.member.settings.Refuse(w, r, err)
		return
	}
	f.member.settings.Refuse(w, r, errNoAnswer)
}

// wait waits until the owner may be another one. False: it is late, or too many wait already.
func (f *forwarder) wait(ctx context.Context, late <-chan time.Time, v *view) bool {
	if !f.waiting.take(1) {
		return false
	}
	defer f.waiting.give(1)

	tick, stop := compute.SystemClock{}.After(lookTick / 4)
	defer stop()
	select {
	case <-v.changed:
	case <-tick:
	case <-late:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}

// unsent reports an error whether nothing was sent.
func unsent(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}

// harmless reports whether a request changes nothing by its method.
func harmless(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0
}

// keptBody is the body of a request, of which what was read is kept as long as it is short, so that it can be sent again. Who sends it may
// still read when the next one begins.
type keptBody struct {
	from io.Reader // nil: there is none
	room *bound    // for what is kept

	mu    sync.Mutex
	read  []byte // so far
	total int    // how much that is, be it kept or not
	long  bool   // more was read than is kept
	err   error  // that ended it
}

func keep(r *http.Request, room *bound) *keptBody {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return &keptBody{}
	}
	return &keptBody{from: r.Body, room: room}
}

// failure is the error that ended the body.
func (b *keptBody) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// drop keeps nothing any more.
func (b *keptBody) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget()
}

// forget keeps nothing any more. The caller has the lock.
func (b *keptBody) forget() {
	if b.read != nil {
		b.room.give(len(b.read))
	}
	b.read, b.long = nil, true
}

// again gives a request the body, from its beginning.
func (b *keptBody) again(r *http.Request) {
	r.Body, r.GetBody = http.NoBody, nil
	if b.from != nil {
		r.Body = relay.Body(r.Context(), &reading{body: b}, r.ContentLength)
		r.GetBody = func() (io.ReadCloser, error) {
			if !b.repeats() {
				return nil, errLong
			}
			return &reading{body: b}, nil
		}
	}
}

// errLong ends a body that cannot be read from its beginning any more. A service that reads it answers that.
var errLong = &compute.Error{
	Code: compute.Unavailable, Title: "No Owner", RetryAfter: time.Second,
	Detail: "another replica owns the database since a moment ago, and the body is too long to be sent again: ask again",
}

// repeats reports whether the body can be sent once more.
func (b *keptBody) repeats() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.long
}

// reading is one reading of a body.
type reading struct {
	body *keptBody
	at   int // how much was read
}

// Read gives what is kept, and then reads on. If another reading has read on meanwhile what is not kept, this one has lost it, and fails: what
// comes next is not what follows.
func (r *reading) Read(p []byte) (int, error) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case r.at < len(b.read):
		n := copy(p, b.read[r.at:])
		r.at += n
		return n, nil
	case r.at < b.total:
		return 0, errLong
	case b.err != nil:
		return 0, b.err
	}

	n, err := b.from.Read(p)
	b.err = err
	if b.long || len(b.read)+n > mostKept || !b.room.take(n) {
		b.forget()
	} else {
		b.read = append(b.read, p[:n]...)
	}
	b.total += n
	r.at += n
	return n, err
}

// Close leaves the body as it is: another one may go on.
func (r *reading) Close() error { return nil }
