package loop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/store"
)

// try is a try of a delivery that is under way.
type try struct {
	delivery
	cancel context.CancelFunc
	moved  atomic.Int64 // real time of its last progress, in nanoseconds since 1970
	unsent atomic.Int64 // size of its body if that is large and not sent yet
	cut    atomic.Bool  // it was ended, since others wait
	status int          // that the receiver answered; 0: it did not
	posted bool         // to the receiver
}

func (t *try) lastMoved() time.Time { return time.Unix(0, t.moved.Load()) }

// deliver makes the next try of a delivery and gives it back to its receiver if there is to be another one.
func (l *Webhooks) deliver(ctx context.Context, one *reconcile.Look[int64, delivery]) (reconcile.Next, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(l.ending, cancel)()
	t := &try{delivery: one.Memory, cancel: cancel}
	t.moved.Store(realTime().UnixNano())
	if t.size > webhookSmall {
		t.unsent.Store(int64(t.size))
	}
	l.tries.Store(t, true)
	again := l.carryOut(ctx, t)
	l.tries.Delete(t)
	l.depart(t.unsent.Swap(0))

	now := l.Clock.Now()
	l.receivers.Update(t.receiver, func(r *receiver) {
		if t.epoch != l.epoch.Load() {
			return // everything was cleared
		}
		r.running--
		if t.posted {
			r.answered(t.status, now)
		}

		if !again.IsZero() {
			d := t.delivery
			d.next = again
			r.line.add(d)
		}
	})

	return reconcile.Next{}, nil
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
	if err != nil && ctx.Err() != nil && !t.cut.Load() {
		return t.next // the server stops
	}
	if t.cut.Load() {
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

	t.status, t.posted = status, true
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
	if t.unsent.Load() == 0 {
		return l.Post(ctx, w.URL, bytes.NewReader(body), int64(len(body)))
	}
	return l.Post(ctx, w.URL, &largeBody{sent: func(all bool) { l.progress(t, all) }, rest: body}, int64(len(body)))
}

// progress notes that a part of a large body was sent, or all of it.
func (l *Webhooks) progress(t *try, all bool) {
	t.moved.Store(realTime().UnixNano())
	if all {
		l.depart(t.unsent.Swap(0))
	}
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
