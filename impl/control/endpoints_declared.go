package control

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// NewEndpoint is an endpoint as the operator's settings declare it.
type NewEndpoint struct {
	ID          compute.EndpointID // empty: one is made
	Name        string
	Image       string
	Env         map[string]string
	WorkersMin  int
	WorkersMax  int
	IdleTimeout time.Duration
	Scaler      compute.Scaler // empty: ByDelay
	ScalerValue float64        // 0: 4, as published
}

const (
	declaredScalerValue = 4 // seconds or jobs
	declaredTimeout     = 600 * time.Second
)

// Declare makes the endpoint, or brings the user's declared endpoint of that name to the same settings. Conflict if it is to have another id
// than it has, or that of another one, and Rejected for what is no id.
func (n *Endpoints) Declare(ctx context.Context, user compute.UserID, d NewEndpoint) (e compute.Endpoint, err error) {
	n.changing.Lock()
	defer n.changing.Unlock()

	id, release := cmp.Or(d.ID, n.ids.Endpoint()), n.ids.Release()
	if err := compute.CheckEndpointID(id); err != nil {
		return e, err
	}
	err = n.store.Write(ctx, func(tx store.Tx) error {
		known, err := tx.DeclaredEndpoint(user, d.Name)
		absent := compute.CodeOf(err) == compute.NotFound
		if err != nil && !absent {
			return err
		}
		if err := d.checkID(tx, known); err != nil {
			return err
		}

		e = compute.Endpoint{
			ID: known.ID, UserID: user, Name: d.Name, Type: compute.QueueEndpoint, Declared: true, Image: d.Image, Ports: []string{}, Env: d.Env,
			DataCenterIDs: []string{}, Compliance: []string{}, VolumeIDs: []compute.VolumeID{}, WorkersMin: d.WorkersMin, WorkersMax: d.WorkersMax,
			IdleTimeout: d.IdleTimeout, Scaler: cmp.Or(d.Scaler, compute.ByDelay), ScalerValue: cmp.Or(d.ScalerValue, declaredScalerValue),
			Timeout: declaredTimeout, FlashBoot: compute.FlashBootOff, Version: known.Version, CreatedAt: known.CreatedAt,
		}
		if e.Env == nil {
			e.Env = map[string]string{}
		}

		if absent {
			e.ID, e.Version, e.CreatedAt = id, 1, tx.Wall()
			if err := tx.InsertEndpoint(e); err != nil {
				return err
			}
			return insertRelease(tx, release, e, "", nil)
		}

		if reflect.DeepEqual(known, e) { // a start must not need to write: the disk may be full
			return nil
		}
		if diff := makingDiff(known, e); len(diff) > 0 {
			e.Version++
			if err := insertRelease(tx, release, e, "", diff); err != nil {
				return err
			}
		}

		return tx.UpdateEndpoint(e)
	})
	if err == nil {
		n.queue.SetEndpoint(e)
	}

	return e, err
}

// checkID refuses an id to be had that the known endpoint does not have, which is the zero one if there is none, or that another one has. Any is
// well if it is empty.
func (d NewEndpoint) checkID(tx store.Endpoints, known compute.Endpoint) error {
	if d.ID == "" || d.ID == known.ID {
		return nil
	}
	if known.ID != "" {
		return compute.Errorf(compute.Conflict, "the declared endpoint %s has the id %s since it was made, and cannot get %s", d.Name, known.ID, d.ID)
	}
	other, err := tx.Endpoint(d.ID)
	switch {
	case compute.CodeOf(err) == compute.NotFound:
		return nil
	case err != nil:
		return err
	default:
		return compute.Errorf(compute.Conflict, "the declared endpoint %s cannot get the id %s: the endpoint %s has it", d.Name, d.ID, other.Name)
	}
}

// checkDeclared refuses a change of what only the server's settings say of an endpoint that they declare: its name and all that its
// workers are made of (rule serverless.declared). They are processes of this machine: whoever could give them a variable or an
// argument could run what they like. Conflict names the fields; one that stays as it is may be there.
func checkDeclared(e compute.Endpoint, x EndpointChange) error {
	var fields []string
	for _, f := range []struct {
		name    string
		changes bool
	}{
		{"name", differs(x.Name, e.Name)},
		{"image", differs(x.Image, e.Image)},
		{"args", differs(x.Args, e.Args)},
		{"disk", differs(x.DiskGB, e.DiskGB)},
		{"ports", x.Ports != nil && !slices.Equal(x.Ports, e.Ports)},
		{"env", x.Env != nil && !maps.Equal(x.Env, e.Env)},
		{"registry", differs(x.RegistryID, e.RegistryID)},
		{"template", x.Template != nil || differs(x.TemplateID, e.TemplateID)},
		{"gpu", x.GPU != nil},
		{"cpu", x.CPUs != nil},
		{"dataCenterIds", x.DataCenterIDs != nil && !slices.Equal(x.DataCenterIDs, e.DataCenterIDs)},
		{"compliance", x.Compliance != nil && !slices.Equal(x.Compliance, e.Compliance)},
		{"networkVolumes", x.VolumeIDs != nil && !slices.Equal(x.VolumeIDs, e.VolumeIDs)},
		{"mounts.global", len(x.GlobalIDs) > 0}, // it has none
		{"flashEnvironmentId", differs(x.Environment, e.Environment)},
	} {
		if f.changes {
			fields = append(fields, f.name)
		}
	}

	if len(fields) == 0 {
		return nil
	}
	return compute.Errorf(compute.Conflict, "%s: the endpoint is declared by the server's settings, which alone change it", strings.Join(fields, ", "))
}

func differs[T comparable](asked *T, is T) bool { return asked != nil && *asked != is }
