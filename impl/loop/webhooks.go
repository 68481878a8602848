package loop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// The documented tries of a webhook (rule queue.webhook.again).
const (
	webhookTries = 3
	webhookPause = 10 * time.Second
)

// webhookTick is how late a try may begin when nothing hints at it.
const webhookTick = time.Second

// webhookLog is how long a delivery that is over stays in the log.
const webhookLog = 24 * time.Hour

// webhookBatch bounds how many deliveries are under way at once, and the memory of their bodies.
const webhookBatch = 16

// Webhooks delivers the documents of ended jobs. A delivery that was not recorded, because the server ended in the middle,
// is made again: receivers tell a repetition by the job's id.
type Webhooks struct {
	Store store.Store
	Post  func(ctx context.Context, url string, body []byte) (status int, err error)
	Clock compute.Clock
	Log   *slog.Logger
	// Posted is told of each try, and whether the receiver took it; nil: nobody counts.
	Posted func(delivered bool)

	wake       chan struct{}
	delivering sync.Mutex // held over a Step, so that none is delivered twice at once
}

// NewWebhooks makes the loop.
func NewWebhooks(s store.Store, post func(context.Context, string, []byte) (int, error), clock compute.Clock, log *slog.Logger) *Webhooks {
	return &Webhooks{Store: s, Post: post, Clock: clock, Log: log, wake: make(chan struct{}, 1)}
}

// Hint tells that there is something to deliver.
func (l *Webhooks) Hint() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends.
func (l *Webhooks) Run(ctx context.Context) {
	for {
		if err := l.Step(ctx); err != nil && ctx.Err() == nil {
			l.Log.Error("webhooks", "error", err)
		}
		tick, stop := l.Clock.After(webhookTick)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		case <-l.wake:
			stop()
		}
	}
}

// Next gives when the next try is due; zero if there is none.
func (l *Webhooks) Next(ctx context.Context) (next time.Time, err error) {
	err = l.Store.Read(ctx, func(tx store.Tx) error {
		next, err = tx.NextWebhook()
		return err
	})
	return next, err
}

// Step makes every try that is due.
func (l *Webhooks) Step(ctx context.Context) error {
	l.delivering.Lock()
	defer l.delivering.Unlock()
	for {
		var due []compute.Webhook
		now := l.Clock.Now()
		err := l.Store.Read(ctx, func(tx store.Tx) (err error) {
			due, err = tx.DueWebhooks(now, webhookBatch)
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		var tries sync.WaitGroup
		for i := range due {
			tries.Go(func() { l.try(ctx, &due[i]) })
		}
		tries.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = l.Store.Write(ctx, func(tx store.Tx) error {
			for _, w := range due {
				if err := tx.SetWebhook(w); err != nil {
					return err
				}
			}
			return tx.DeleteWebhooks(now.Add(-webhookLog))
		})
		if err != nil {
			return err
		}
	}
}

// try makes one try and notes how it went.
func (l *Webhooks) try(ctx context.Context, w *compute.Webhook) {
	status, err := l.Post(ctx, w.URL, w.Body)
	w.Tries++
	w.Status, w.Error, w.NextAt = status, "", time.Time{}
	if err != nil {
		w.Error = err.Error()
		if w.Tries < webhookTries {
			w.NextAt = l.Clock.Now().Add(webhookPause)
		}
	}
	if l.Posted != nil {
		l.Posted(err == nil)
	}
	l.Log.Info("webhook", "job", w.JobID, "try", w.Tries, "status", w.Status, "error", w.Error)
}
