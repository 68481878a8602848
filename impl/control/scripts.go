package control

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/script"
	"github.com/berthdev/berth/store"
)

// Scripts carries out what is asked of the scripts of endpoints. It is safe for concurrent use.
type Scripts struct {
	store   store.Store
	runtime Runtime
	changed func()
}

// NewScripts makes Scripts. changed is called after each change.
func NewScripts(s store.Store, r Runtime, changed func()) *Scripts {
	return &Scripts{store: s, runtime: r, changed: changed}
}

// Set sets the script of an endpoint, whoever's it is. Rejected for one that makes no sense, and for an endpoint whose workers are not
// simulated or that has no queue; NotFound for one that does not exist.
func (n *Scripts) Set(ctx context.Context, id compute.EndpointID, one script.Script) error {
	if err := one.Check(); err != nil {
		return err
	}
	document, err := one.Text()
	if err != nil {
		return err
	}
	return n.store.Write(ctx, func(tx store.Tx) error {
		e, err := lasting(tx, id)
		if err == nil {
			err = n.check(e)
		}
		if err != nil {
			return err
		}
		tx.AfterCommit(n.changed)
		return tx.SetScript(compute.EndpointScript{EndpointID: id, Document: document, Counts: one.NewCounts().Text()})
	})
}

// check refuses an endpoint that no script is for: Rejected.
func (n *Scripts) check(e compute.Endpoint) error {
	switch {
	case e.Type == compute.LoadBalancer:
		return compute.Errorf(compute.Rejected, "endpoint %q has no queue: its type is %s, and a script is for jobs", e.ID, e.Type)
	case e.Declared:
		return compute.Errorf(compute.Rejected, "the settings of the server declare endpoint %q: its workers are processes, and a script is for simulated ones", e.ID)
	case !n.runtime.Can.Simulates:
		return compute.Errorf(compute.Rejected, "the workers of endpoint %q run on the runtime of the server, and a script is for simulated ones", e.ID)
	}
	return nil
}

// Get gives the script of an endpoint, with what was done by it. NotFound if there is none, or no such endpoint.
func (n *Scripts) Get(ctx context.Context, id compute.EndpointID) (one *script.Script, counts script.Counts, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		if _, err := lasting(tx, id); err != nil {
			return err
		}
		row, found, err := tx.Script(id)
		if err == nil && !found {
			err = compute.Errorf(compute.NotFound, "endpoint %q has no script", id)
		}
		if err != nil {
			return err
		}
		if one, err = script.Parse(row.Document); err != nil {
			return err
		}
		counts, err = script.ReadCounts(row.Counts)
		return err
	})
	return one, counts, err
}

// Delete takes the script of an endpoint back; one without a script is no error. NotFound for an endpoint that does not exist.
func (n *Scripts) Delete(ctx context.Context, id compute.EndpointID) error {
	return n.store.Write(ctx, func(tx store.Tx) error {
		if _, err := lasting(tx, id); err != nil {
			return err
		}
		tx.AfterCommit(n.changed)
		return tx.DeleteScript(id)
	})
}

// Forget notes that a reset has removed all scripts.
func (n *Scripts) Forget() { n.changed() }

// lasting gives an endpoint that is not deleted, whoever's it is. NotFound for any other.
func lasting(tx store.Endpoints, id compute.EndpointID) (compute.Endpoint, error) {
	e, err := tx.Endpoint(id)
	if err == nil && !e.DeletedAt.IsZero() {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", id)
	}
	return e, err
}
