package control

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Registries keeps the credentials of container registries, which it alone can open, and the delegations. It is safe for
// concurrent use.
type Registries struct {
	store  store.Store
	ids    *compute.IDs
	sealer *Sealer
}

// NewRegistries makes Registries. It fails with ErrSecretKey when the sealer does not open what is stored.
func NewRegistries(ctx context.Context, s store.Store, ids *compute.IDs, sealer *Sealer) (*Registries, error) {
	r := &Registries{store: s, ids: ids, sealer: sealer}
	err := s.Read(ctx, func(tx store.Tx) error {
		newest, found, err := tx.NewestRegistry()
		if err == nil && found {
			_, err = r.login(newest)
		}
		return err
	})
	return r, err
}

// Create seals the login and stores the credential (rule registries.create).
func (r *Registries) Create(ctx context.Context, user compute.UserID, name string, l compute.Login) (compute.Registry, error) {
	made := compute.Registry{ID: newID(ctx, r.ids.Registry), UserID: user, Name: name}
	login, err := r.seal(made.ID, l)
	if err != nil {
		return compute.Registry{}, err
	}
	made.Login = login
	err = create(ctx, r.store, func(tx store.Tx) error {
		made.CreatedAt = tx.Wall()
		return tx.InsertRegistry(made)
	})
	return made, err
}

// Get gives the user's credential. NotFound for an unknown and for somebody else's one.
func (r *Registries) Get(ctx context.Context, user compute.UserID, id compute.RegistryID) (one compute.Registry, err error) {
	err = r.store.Read(ctx, func(tx store.Tx) error {
		one, err = ownRegistry(tx, user, id)
		return err
	})
	return one, err
}

// List gives the user's credentials, oldest first: a client stops at the first one that is in use (rule registries.list). Rejected if
// there is no room for all of them.
func (r *Registries) List(ctx context.Context, user compute.UserID, room compute.Room) (all []compute.Registry, err error) {
	err = r.store.Read(ctx, func(tx store.Tx) error {
		all, err = within(tx.ListRegistries(user, room))
		return err
	})
	return all, err
}

// Update replaces the login; the name stays. NotFound as for Get.
func (r *Registries) Update(ctx context.Context, user compute.UserID, id compute.RegistryID, l compute.Login) (one compute.Registry, err error) {
	sealed, err := r.seal(id, l)
	if err != nil {
		return one, err
	}
	err = r.store.Write(ctx, func(tx store.Tx) error {
		if one, err = ownRegistry(tx, user, id); err != nil {
			return err
		}
		one.Login = sealed
		return tx.UpdateRegistry(one)
	})
	return one, err
}

// Delete deletes the credential. Rejected while a pod that is not terminated uses it (rule registries.delete.used), or an
// endpoint (rule serverless.registry.used); templates lose it (rule templates.credential.deleted). NotFound as for Get.
func (r *Registries) Delete(ctx context.Context, user compute.UserID, id compute.RegistryID) error {
	return r.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownRegistry(tx, user, id); err != nil {
			return err
		}
		pods, err := tx.RegistryPods(id)
		if err != nil {
			return err
		}
		if len(pods) > 0 {
			return compute.Errorf(compute.Rejected, "credential %q is used by pod %q", id, pods[0])
		}
		if err := unused(tx, fmt.Sprintf("credential %q is used by", id), id, ""); err != nil {
			return err
		}
		if _, err := tx.ForgetRegistry(id); err != nil {
			return err
		}

		return tx.DeleteRegistry(id)
	})
}

// Login gives user name and password in clear, for a runtime that pulls an image. NotFound for an unknown credential.
func (r *Registries) Login(ctx context.Context, id compute.RegistryID) (l compute.Login, err error) {
	err = r.store.Read(ctx, func(tx store.Tx) error {
		one, err := tx.Registry(id)
		if err == nil {
			l, err = r.login(one)
		}
		return err
	})
	return l, err
}

func (r *Registries) seal(id compute.RegistryID, l compute.Login) ([]byte, error) {
	text, err := json.Marshal(l) //nolint:gosec // to be sealed
	if err != nil {
		return nil, err
	}
	return r.sealer.Seal(text, string(id)), nil
}

func (r *Registries) login(one compute.Registry) (l compute.Login, err error) {
	text, err := r.sealer.Open(one.Login, string(one.ID))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, err
}

// ownRegistry hides from a user what is not theirs.
func ownRegistry(tx store.Registries, user compute.UserID, id compute.RegistryID) (compute.Registry, error) {
	one, err := tx.Registry(id)
	if err == nil && one.UserID != user {
		return compute.Registry{}, noRegistry(id)
	}
	return one, err
}

func noRegistry(id compute.RegistryID) error {
	return compute.Errorf(compute.NotFound, "registry: credential %q does not exist", id)
}

// RegistryNamed gives the id that a request names. NotFound for empty text: the empty id stands for none (rule
// registries.use.empty).
func RegistryNamed(text string) (compute.RegistryID, error) {
	if text == "" {
		return "", noRegistry("")
	}
	return compute.RegistryID(text), nil
}

// checkRegistry gives NotFound for a credential that is not the user's; the empty id is none (rule
// registries.use.ownership).
func checkRegistry(tx store.Registries, user compute.UserID, id compute.RegistryID) error {
	if id == "" {
		return nil
	}
	_, err := ownRegistry(tx, user, id)
	return err
}
