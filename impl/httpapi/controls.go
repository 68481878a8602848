package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// Controls are what a test may do to the server.
type Controls interface {
	ControlledClock
	// Reset forgets pods, jobs and counts, and takes back quotas and fleet settings.
	Reset(ctx context.Context) error
	// Webhooks gives the log of webhooks, newest first.
	Webhooks(ctx context.Context) ([]compute.Webhook, error)
	// SetQuotas sets how many REST requests a user may make in each window.
	SetQuotas(minute, hour, day int64)
	// SetQueueRates sets the limits of the queue's requests. Rejected for a preset that does not exist.
	SetQueueRates(p compute.QueuePreset) error
	// SetStorage has the storage take no writes, as if it were full, failing or locked; writable: it takes them.
	SetStorage(state string)
	// SetBoot sets how long a pod takes to come up.
	SetBoot(d time.Duration)
	Interruptions
	States
	// SetCapacity sets what the fleet has of the named types and flavors. Rejected for what the catalog does not know.
	SetCapacity(capacity []control.Capacity) error
}

// States are everything that the server has, saved in files.
type States interface {
	// States gives the saved states, by name.
	States(ctx context.Context) ([]control.State, error)
	// SaveState saves all that is stored. Rejected for a name that is none, Conflict where there are too many states.
	SaveState(ctx context.Context, name string) error
	// LoadState goes back to a state, NotFound if there is none of the name, and Conflict where it cannot be loaded.
	LoadState(ctx context.Context, name string) error
	// DeleteState deletes a state; NotFound if there is none of the name.
	DeleteState(ctx context.Context, name string) error
}

// ClockMode is what the clock of a server with test controls does.
type ClockMode = controls.ClockMode

// What it may do.
const (
	ClockRunning = controls.ClockModeRunning
	ClockFrozen  = controls.ClockModeFrozen
	ClockAuto    = controls.ClockModeAuto
)

// ControlledClock is the server's clock, which a test sets.
type ControlledClock interface {
	// Clock is the server's clock.
	Clock() *compute.SettableClock
	// SetClock has the clock run, stand still, or go by itself, in the last case by at most so much, 0 being without a bound, and each time when
	// nothing came for settle.
	SetClock(mode ClockMode, most, settle time.Duration)
	// ClockMode gives what the clock does and, when it goes by itself up to a bound, how long yet.
	ClockMode() (mode ClockMode, left time.Duration)
	// Request counts a request that is under way until over is called: the clock does not go by itself meanwhile, unless the request is held.
	// Answered is called when its answer begins; both may be called again.
	Request() (answered, over func())
	// InboxSleeps notes that a request to an inbox sleeps on the clock until over is called: nobody waits for the answer of its webhook before that
	// time has come. Over may be called again.
	InboxSleeps() (over func())
	// Advance sets the clock forward and does all that is due on the way.
	Advance(ctx context.Context, d time.Duration) error
	// Step has the machine's time of day step.
	Step(ctx context.Context, by time.Duration) error
}

// Interruptions are what a test may do to pods and workers whose room can be taken away.
type Interruptions interface {
	// SetInterruptions sets how long interruptible pods run on average, and what that is drawn from.
	SetInterruptions(mean time.Duration, seed int64)
	// InterruptPods interrupts every interruptible pod, or with an id that one, and reports how many. Errors as for control.InterruptPod.
	InterruptPods(ctx context.Context, id compute.PodID) (int, error)
	// InterruptWorkers interrupts the worker with the id, or without one all of the endpoint, and reports how many.
	InterruptWorkers(e compute.EndpointID, id compute.WorkerID) int
}

// controlsHandlers implements the generated interface of the test controls.
type controlsHandlers struct{ *Services }

var _ controls.ServerInterface = controlsHandlers{}

func (h controlsHandlers) answerClock(c echo.Context) error {
	clock := h.Controls.Clock()
	mode, left := h.Controls.ClockMode()
	view := controls.Clock{Now: clock.Wall(), Lag: clock.Lag().Milliseconds(), Mode: mode, Frozen: mode == ClockFrozen, Held: int64(h.Queue.Holding())}
	if left > 0 {
		until := view.Now.Add(left)
		view.Until = &until
	}
	return c.JSON(http.StatusOK, view)
}

// GetClock is GET /_berth/clock.
func (h controlsHandlers) GetClock(c echo.Context) error { return h.answerClock(c) }

// FreezeClock is POST /_berth/clock/freeze.
func (h controlsHandlers) FreezeClock(c echo.Context) error {
	h.Controls.SetClock(ClockFrozen, 0, 0)
	return h.answerClock(c)
}

// ResumeClock is POST /_berth/clock/resume.
func (h controlsHandlers) ResumeClock(c echo.Context) error {
	h.Controls.SetClock(ClockRunning, 0, 0)
	return h.answerClock(c)
}

// AdvanceClock is POST /_berth/clock/advance.
func (h controlsHandlers) AdvanceClock(c echo.Context) error {
	if err := h.Controls.Advance(contextOf(c), milliseconds(bodyOf[controls.Advance](c).Milliseconds)); err != nil {
		return err
	}
	return h.answerClock(c)
}

// AutoClock is POST /_berth/clock/auto.
func (h controlsHandlers) AutoClock(c echo.Context) error {
	r := bodyOf[controls.AutoClock](c)
	settle := DefaultSettle
	if r.Settle != nil {
		settle = milliseconds(*r.Settle)
	}
	h.Controls.SetClock(ClockAuto, milliseconds(value(r.Milliseconds)), settle)
	return h.answerClock(c)
}

// DefaultSettle is the default of settle in spec/controls.yaml.
const DefaultSettle = 20 * time.Millisecond

// SleepClock is POST /_berth/clock/sleep.
func (h controlsHandlers) SleepClock(c echo.Context) error {
	ctx, stop := context.WithCancel(contextOf(c))
	defer stop()
	defer context.AfterFunc(h.Draining, stop)()

	err := compute.Sleep(ctx, h.Clock, milliseconds(bodyOf[controls.Advance](c).Milliseconds))
	if err != nil && h.Draining.Err() != nil {
		return compute.Errorf(compute.Unavailable, "the server is stopping")
	}
	if err != nil {
		return err
	}
	return h.answerClock(c)
}

// StepClock is POST /_berth/clock/step.
func (h controlsHandlers) StepClock(c echo.Context) error {
	if err := h.Controls.Step(contextOf(c), milliseconds(bodyOf[controls.Step](c).Milliseconds)); err != nil {
		return err
	}
	return h.answerClock(c)
}

// ResetState is POST /_berth/reset.
func (h controlsHandlers) ResetState(c echo.Context) error {
	h.Faults.Clear()
	h.Controls.SetStorage(string(controls.StorageStateWritable))
	if err := h.Controls.Reset(contextOf(c)); err != nil {
		return err
	}
	if err := h.plant(context.WithoutCancel(contextOf(c)), true); err != nil { // half a seed is no state to be in
		return err
	}
	h.Journal.Clear()
	h.Changes.Note(changes.Event{Kind: changes.Reset, Change: changes.Changed}) // after the last of it: what is read now is whole
	return c.NoContent(http.StatusNoContent)
}

// CreateKey is POST /_berth/keys.
func (h controlsHandlers) CreateKey(c echo.Context) error {
	n, err := newKey(bodyOf[controls.NewKey](c), callerOf(c).UserID)
	if err != nil {
		return err
	}
	key, token, err := h.Keyring.Create(contextOf(c), n)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, controls.Key{ID: string(key.ID), Key: token})
}

// newKey translates a request for a key, which is the owner's if it names no user. Rejected for an edition that there is not.
func newKey(r controls.NewKey, owner compute.UserID) (n control.NewKey, err error) {
	n = control.NewKey{
		UserID: cmp.Or(compute.UserID(value(r.User)), owner), Name: value(r.Name), Exempt: value(r.Exempt), Expiry: milliseconds(value(r.ExpiresIn)),
		SpendLimit: value(r.SpendLimit),
	}
	if r.Contract != nil {
		if n.Contract, err = Contract(*r.Contract); err != nil {
			return n, err
		}
	}
	for _, s := range r.Scopes {
		n.Scopes = append(n.Scopes, compute.Scope(s))
	}
	return n, nil
}

// RevokeKey is DELETE /_berth/keys/{keyId}.
func (h controlsHandlers) RevokeKey(c echo.Context, id string) error {
	if err := h.Keyring.Revoke(contextOf(c), compute.KeyID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// SetQuotas is PUT /_berth/quotas.
func (h controlsHandlers) SetQuotas(c echo.Context) error {
	if err := h.setQuotas(bodyOf[controls.Quotas](c)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Services) setQuotas(q controls.Quotas) error {
	if q.Queue != nil {
		if err := s.Controls.SetQueueRates(compute.QueuePreset(*q.Queue)); err != nil {
			return err
		}
	}
	s.Controls.SetQuotas(q.Minute, q.Hour, q.Day)
	return nil
}

// SetStorage is PUT /_berth/storage.
func (h controlsHandlers) SetStorage(c echo.Context) error {
	h.Controls.SetStorage(string(bodyOf[controls.Storage](c).State))
	return c.NoContent(http.StatusNoContent)
}

// SetFleet is PUT /_berth/fleet.
func (h controlsHandlers) SetFleet(c echo.Context) error {
	r := bodyOf[controls.FleetSettings](c)
	if r.Capacity != nil {
		var capacity []control.Capacity
		for _, n := range r.Capacity {
			capacity = append(capacity, control.Capacity{
				GPU: value(n.Gpu), CPU: value(n.CPU), DataCenterID: n.DataCenterID, Count: n.Count,
				Cloud: compute.Cloud(value(n.Cloud)), CUDAVersion: value(n.CudaVersion), DiskGB: n.Disk, PublicIP: n.PublicIP,
				DownloadMbps: n.DownloadMbps, UploadMbps: n.UploadMbps,
			})
		}

		if err := h.Controls.SetCapacity(capacity); err != nil {
			return err
		}
	}

	if r.InterruptAfter != nil {
		h.Controls.SetInterruptions(milliseconds(*r.InterruptAfter), value(r.InterruptSeed))
	}
	if r.Boot != nil {
		h.Controls.SetBoot(milliseconds(*r.Boot))
	}
	return c.NoContent(http.StatusNoContent)
}

// InterruptWork is POST /_berth/interrupt.
func (h controlsHandlers) InterruptWork(c echo.Context) (err error) {
	r, done := bodyOf[controls.Interrupt](c), controls.Interrupted{}
	var n int
	if r.Worker == nil && r.Endpoint == nil {
		n, err = h.Controls.InterruptPods(contextOf(c), compute.PodID(value(r.Pod)))
		done.Pods = int64(n)
	} else {
		n = h.Controls.InterruptWorkers(compute.EndpointID(value(r.Endpoint)), compute.WorkerID(value(r.Worker)))
		done.Workers = int64(n)
	}

	if r.Worker != nil && n == 0 {
		err = compute.Errorf(compute.NotFound, "worker %q does not exist, or the server did not start it", *r.Worker)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

// GetWebhooks is GET /_berth/webhooks.
func (h controlsHandlers) GetWebhooks(c echo.Context) error {
	log, err := h.Controls.Webhooks(contextOf(c))
	if err != nil {
		return err
	}
	list := controls.WebhookList{Webhooks: []controls.Webhook{}}
	for _, w := range log {
		list.Webhooks = append(list.Webhooks, webhookView(w))
	}
	return c.JSON(http.StatusOK, list)
}

// DeliverWebhook is POST /_berth/webhooks/{number}/deliver.
func (h controlsHandlers) DeliverWebhook(c echo.Context, number int64) error {
	if err := h.Queue.DeliverAgain(contextOf(c), number); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// ReceiveWebhook is POST /_berth/inbox/{name}: the journal has what came.
func (h controlsHandlers) ReceiveWebhook(c echo.Context, _ string) error {
	return c.NoContent(http.StatusNoContent)
}

func webhookView(w compute.Webhook) controls.Webhook {
	v := controls.Webhook{
		Number: w.Seq, Job: string(w.JobID), URL: w.URL, Tries: int64(w.Tries), Status: int64(w.Status), Error: w.Error, CreatedAt: w.CreatedAt,
		NextAt: nullable.NewNullNullable[time.Time](),
	}
	if !w.NextAt.IsZero() {
		v.NextAt = nullable.NewNullableWithValue(w.NextAt)
	}
	return v
}
