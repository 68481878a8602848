package control

import (
	"cmp"
	"context"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Delegate records a delegation of the resource: arn:aws:ecr:<region>:<account>:repository/<repository>[:<tag>]. Rejected for
// another one.
func (r *Registries) Delegate(ctx context.Context, user compute.UserID, resource, name string) (compute.Delegation, error) {
	parts := strings.SplitN(resource, ":", 6)
	if len(parts) != 6 || !strings.HasPrefix(parts[5], "repository/") {
		return compute.Delegation{}, compute.Errorf(compute.Rejected, "resource: %q is no ARN of an ECR repository", resource)
	}
	repository, tag, _ := strings.Cut(strings.TrimPrefix(parts[5], "repository/"), ":")
	d := compute.Delegation{
		ID: newID(ctx, r.ids.Delegation), UserID: user, Name: name, Region: parts[3], Account: parts[4], Repository: repository, Tag: cmp.Or(tag, "latest"),
	}
	err := create(ctx, r.store, func(tx store.Tx) error {
		d.CreatedAt = tx.Wall()
		return tx.InsertDelegation(d)
	})

	return d, err
}

// Delegations gives the user's delegations, newest first. Rejected if there is no room for all of them.
func (r *Registries) Delegations(ctx context.Context, user compute.UserID, room compute.Room) (all []compute.Delegation, err error) {
	err = r.store.Read(ctx, func(tx store.Tx) error {
		all, err = within(tx.ListDelegations(user, room))
		return err
	})
	return all, err
}

// Revoke removes the user's delegation. NotFound for an unknown and for somebody else's one.
func (r *Registries) Revoke(ctx context.Context, user compute.UserID, id compute.DelegationID) error {
	return r.store.Write(ctx, func(tx store.Tx) error {
		revoked, err := tx.DeleteDelegation(user, id)
		if err == nil && !revoked {
			err = compute.Errorf(compute.NotFound, "delegation %q does not exist", id)
		}
		return err
	})
}
