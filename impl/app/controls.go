package app

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// controls carry out what the test controls ask for, over all rooms.
type controls struct {
	server *Server
	clock  *compute.SettableClock
	work   []loop.Due // what the clock brings, in the order in which it is done
}

// newControls makes the controls' key, in place of that of an earlier run, and the controls.
func (s *Server) newControls(ctx context.Context, clock *compute.SettableClock, work []loop.Due) (*controls, error) {
	for _, k := range s.keyring.Keys(false) {
		if k.Allows(compute.ScopeControls) {
			if err := s.keyring.Delete(ctx, k.ID); err != nil {
				return nil, err
			}
		}
	}
	n := control.NewKey{UserID: owner, Name: "test controls", Scopes: []compute.Scope{compute.ScopeControls}, Exempt: true}
	var err error
	_, s.controlsKey, err = s.keyring.Create(ctx, n)
	return &controls{server: s, clock: clock, work: work}, err
}

// Clock is the clock that tests set; nil without the test controls.
func (s *Server) Clock() *compute.SettableClock {
	if s.controls == nil {
		return nil
	}
	return s.controls.clock
}

// Advance sets that clock forward by d and does all that falls due on the way, each at its time. It needs the test controls.
func (s *Server) Advance(ctx context.Context, d time.Duration) error {
	return s.controls.Advance(ctx, d)
}

func (c *controls) Clock() *compute.SettableClock { return c.clock }

func (c *controls) Advance(ctx context.Context, d time.Duration) error {
	return loop.Advance(ctx, c.clock, d, c.work)
}

func (c *controls) Step(ctx context.Context, by time.Duration) error {
	c.server.running.Step(by)
	return c.server.keepTime(ctx)
}

func (c *controls) Reset(ctx context.Context) error {
	if err := c.removeEndpoints(ctx); err != nil {
		return err
	}
	if err := c.server.store.Write(ctx, func(tx store.Tx) error { return tx.Clear() }); err != nil {
		return err
	}
	c.server.queue.Clear()
	c.server.workings.webhooks.Clear()
	c.server.fleet.Clear()
	c.server.workerSim.Clear()
	c.server.placement.Clear()
	c.SetBoot(sim.DefaultBoot)
	q := c.server.config.Quotas
	c.SetQuotas(q.Minute, q.Hour, q.Day)
	return c.SetQueueRates(c.server.config.QueueRates)
}

// removeEndpoints has the endpoints forgotten that are not declared, with their workers.
func (c *controls) removeEndpoints(ctx context.Context) error {
	var all []compute.Endpoint
	err := c.server.store.Read(ctx, func(tx store.Tx) (err error) {
		all, err = tx.ListEndpoints()
		return err
	})
	for _, e := range all {
		if err == nil && !e.Declared {
			err = c.server.queue.RemoveEndpoint(ctx, e.ID)
		}
	}
	return err
}

// webhookLog is how many deliveries the log shows.
const webhookLog = 1000

func (c *controls) Webhooks(ctx context.Context) (log []compute.Webhook, err error) {
	err = c.server.store.Read(ctx, func(tx store.Tx) error {
		log, err = tx.ListWebhooks(webhookLog)
		return err
	})
	return log, err
}

func (c *controls) SetQuotas(minute, hour, day int64) {
	c.server.rates.SetQuotas(compute.Windows(minute, hour, day))
}

func (c *controls) SetQueueRates(p compute.QueuePreset) error {
	quotas, err := compute.QueueQuotas(p)
	if err == nil {
		c.server.queueRates.SetQuotas(quotas)
	}
	return err
}

func (c *controls) SetBoot(d time.Duration) {
	c.server.fleet.SetBoot(d)
	c.server.workerSim.SetBoot(d)
}

func (c *controls) SetCapacity(capacity []control.Capacity) error {
	return c.server.placement.SetCapacity(capacity)
}
