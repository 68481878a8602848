package control

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Seeded gives the digest of the seed whose rows are all there; empty: of none.
func (c *Control) Seeded(ctx context.Context) (digest string, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		digest, err = tx.Seed()
		return err
	})
	return digest, err
}

// SetSeeded notes that the rows of the seed with the digest are all there.
func (c *Control) SetSeeded(ctx context.Context, digest string) error {
	return c.store.Write(ctx, func(tx store.Tx) error { return tx.SetSeed(digest) })
}

// Resource is what something with an id of its own is.
type Resource string

// The resources that can get an id that somebody fixes.
const (
	ResourceRegistry     Resource = "registry credential"
	ResourceDelegation   Resource = "delegation"
	ResourceSecret       Resource = "secret"
	ResourceTemplate     Resource = "template"
	ResourceVolume       Resource = "network volume"
	ResourceGlobalVolume Resource = "global volume"
	ResourcePod          Resource = "pod"
	ResourceEndpoint     Resource = "endpoint"
	ResourceCluster      Resource = "cluster"
)

// Has reports whether there is a resource with the id. Conflict if it is another user's.
func (c *Control) Has(ctx context.Context, user compute.UserID, of Resource, id string) (has bool, err error) {
	var owner compute.UserID
	err = c.store.Read(ctx, func(tx store.Tx) error {
		owner, err = ownerOf(tx, user, of, id)
		return err
	})
	switch {
	case compute.CodeOf(err) == compute.NotFound:
		return false, nil
	case err != nil:
		return false, err
	case owner != user:
		return false, compute.Errorf(compute.Conflict, "another user has a %s with the id %s", of, id)
	}
	return true, nil
}

// ownerOf gives whose the resource is; NotFound if there is none. Of delegations it knows the user's alone.
func ownerOf(tx store.Tx, user compute.UserID, of Resource, id string) (compute.UserID, error) {
	switch of {
	case ResourceRegistry:
		one, err := tx.Registry(compute.RegistryID(id))
		return one.UserID, err
	case ResourceSecret:
		one, err := tx.Secret(compute.SecretID(id))
		return one.UserID, err
	case ResourceTemplate:
		one, err := tx.Template(compute.TemplateID(id))
		return one.UserID, err
	case ResourceVolume:
		one, err := tx.Volume(compute.VolumeID(id))
		return one.UserID, err
	case ResourceGlobalVolume:
		one, err := tx.GlobalVolume(compute.VolumeID(id))
		return one.UserID, err
	case ResourcePod:
		one, err := tx.Pod(compute.PodID(id))
		return one.UserID, err
	case ResourceEndpoint:
		one, err := tx.Endpoint(compute.EndpointID(id))
		return one.UserID, err
	case ResourceCluster:
		one, err := tx.Cluster(compute.ClusterID(id))
		return one.UserID, err
	case ResourceDelegation:
		all, _, err := tx.ListDelegations(user, nil)
		if err != nil {
			return "", err
		}
		for _, d := range all {
			if d.ID == compute.DelegationID(id) {
				return user, nil
			}
		}
	}

	return "", compute.Errorf(compute.NotFound, "%s %q does not exist", of, id)
}
