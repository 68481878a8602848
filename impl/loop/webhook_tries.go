package loop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// try is a try of a delivery that is under way. Its members are guarded by the lock of Webhooks.
type try struct {
	delivery
	receiver *receiver
	cancel   context.CancelFunc
	moved    time.Time // real time of its last progress
	unsent   int       // size of its body if that is large and not sent yet
	cut      bool      // it was ended, since others wait
}

// begin begins the next try of a receiver. The caller has the lock.
func (l *Webhooks) begin(ctx context.Context, r *receiver) {
	ctx, cancel := context.WithCancel(ctx)
	t := &try{delivery: r.line.take(), receiver: r, cancel: cancel, moved: realTime()}
	if t.size > webhookSmall {
		t.unsent = t.size
		l.large += t.size
	}
	l.tries[t] = true
	r.running++
	l.arrange(r)
	go func() {
		defer cancel()
		again := l.carryOut(ctx, t)
		l.end(t, again)
	}()
}

// end forgets a try, and puts its delivery back in line if there is to be another one. again is when; zero: there is none.
func (l *Webhooks) end(t *try, again time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tries, t)
	l.large -= t.unsent
	r := t.receiver
	r.running--
	if !again.IsZero() && l.receivers[r.name] == r { // it is not when everything was cleared
		t.next = again
		r.line.add(t.delivery)
	}
	l.arrange(r)
	l.changed.Broadcast()
	l.Hint()
}

// carryOut makes a try and records how it went. It gives when there is to be another one; zero if there is none.
func (l *Webhooks) carryOut(ctx context.Context, t *try) (again time.Time) {
	var w compute.Webhook
	err := l.Store.Read(ctx, func(tx store.Tx) (err error) {
		w, err = tx.Webhook(t.seq)
		return err
	})
	now := l.Clock.Now()
	switch {
	case compute.CodeOf(err) == compute.NotFound || err == nil && w.NextAt.IsZero():
		return time.Time{} // the store was cleared
	case err != nil && ctx.Err() != nil:
		return t.next
	case err != nil:
		l.Log.Error("webhook could not be read: it is tried again", "error", err)
		return now.Add(webhookPause)
	case !now.Before(t.over):
		w.NextAt, w.Error = time.Time{}, fmt.Sprintf("given up: it was not taken within %s", webhookLife)
		l.Log.Warn("webhook", "job", w.JobID, "error", w.Error)
		return l.record(ctx, w)
	}
	status, err := l.post(ctx, t, &w)
	if err != nil && ctx.Err() != nil && !l.wasCut(t) {
		return t.next // the server stops
	}
	if l.wasCut(t) {
		status, err = 0, fmt.Errorf("no answer within %s, and others wait", webhookPatience)
	}
	now = l.Clock.Now()
	w.Tries++
	w.Status, w.Error, w.NextAt = status, "", time.Time{}
	if err != nil {
		w.Error = err.Error()
		if w.Tries < webhookTries {
			w.NextAt = now.Add(webhookPause)
		}
	}
	l.mu.Lock()
	t.receiver.answered(status, now)
	l.mu.Unlock()
	if l.Posted != nil {
		l.Posted(err == nil)
	}
	l.Log.Info("webhook", "job", w.JobID, "try", w.Tries, "status", w.Status, "error", w.Error)
	return l.record(ctx, w)
}

// record stores how a try went, also while the server stops. What could not be stored is tried again.
func (l *Webhooks) record(ctx context.Context, w compute.Webhook) (again time.Time) {
	err := l.Store.Write(context.WithoutCancel(ctx), func(tx store.Tx) error { return tx.SetWebhook(w) })
	if err != nil {
		l.Log.Error("webhook could not be recorded: it is tried again", "job", w.JobID, "error", err)
		return l.Clock.Now().Add(webhookPause)
	}
	return w.NextAt
}

// post posts the document. From then on only the try has it, and no longer than it is needed.
func (l *Webhooks) post(ctx context.Context, t *try, w *compute.Webhook) (status int, err error) {
	body := w.Body
	w.Body = nil
	if t.unsent == 0 {
		return l.Post(ctx, w.URL, bytes.NewReader(body), int64(len(body)))
	}
	return l.Post(ctx, w.URL, &largeBody{sent: func(all bool) { l.progress(t, all) }, rest: body}, int64(len(body)))
}

// progress notes that a part of a large body was sent, or all of it.
func (l *Webhooks) progress(t *try, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.moved = realTime()
	if all {
		l.large -= t.unsent
		t.unsent = 0
		l.Hint()
	}
}

func (l *Webhooks) wasCut(t *try) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.cut
}

// largeBody is read once and lets go of its bytes when it was read to its end: a receiver that takes its time to answer holds
// none.
type largeBody struct {
	sent func(all bool)

	mu   sync.Mutex
	rest []byte
}

// Read gives the next bytes.
func (b *largeBody) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	if len(b.rest) == 0 {
		b.rest = nil
	}
	b.sent(b.rest == nil)
	return n, nil
}
