package control

import (
	"cmp"
	"context"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Secrets keeps the secrets of users, which it alone can open. It is safe for concurrent use.
type Secrets struct {
	store  store.Store
	ids    *compute.IDs
	sealer *Sealer
}

// NewSecrets makes Secrets. It fails with ErrSecretKey when the sealer does not open what is stored.
func NewSecrets(ctx context.Context, s store.Store, ids *compute.IDs, sealer *Sealer) (*Secrets, error) {
	k := &Secrets{store: s, ids: ids, sealer: sealer}
	err := s.Read(ctx, func(tx store.Tx) error {
		newest, found, err := tx.NewestSecret()
		if err == nil && found {
			_, err = k.open(tx, newest.ID)
		}
		return err
	})
	return k, err
}

// NewSecret is what a user asks for.
type NewSecret struct {
	Name        string
	Value       string
	Description string // empty: none
}

// SecretChange is what changes of a secret. Members that are nil stay.
type SecretChange struct {
	Value       *string
	Description *string // empty: none any more
}

// reservedSecrets begins the names that no secret may have, whatever their case.
const reservedSecrets = "RUNPOD"

// Create seals the value and stores the secret (rule secrets.create). Rejected for a reserved name (rule secrets.name.reserved) and
// for what is too long; Conflict when the user has one of that name (rule secrets.name.taken).
func (k *Secrets) Create(ctx context.Context, user compute.UserID, n NewSecret) (compute.Secret, error) {
	if len(n.Name) >= len(reservedSecrets) && strings.EqualFold(n.Name[:len(reservedSecrets)], reservedSecrets) {
		return compute.Secret{}, compute.Errorf(compute.Rejected, "name: %q begins with %s, which is reserved", n.Name, reservedSecrets)
	}
	if err := checkSecret(&n.Value, &n.Description); err != nil {
		return compute.Secret{}, err
	}

	made := compute.Secret{ID: newID(ctx, k.ids.Secret), UserID: user, Name: n.Name, Description: n.Description}
	sealed := k.sealer.Seal([]byte(n.Value), string(made.ID))
	err := create(ctx, k.store, func(tx store.Tx) error {
		_, taken, err := tx.SecretNamed(user, n.Name)
		switch {
		case err != nil:
			return err
		case taken:
			return compute.Errorf(compute.Conflict, "name: there is a secret %q; upper and lower case make no difference", n.Name)
		}
		made.CreatedAt = tx.Wall()
		return tx.InsertSecret(made, sealed)
	})

	return made, err
}

// Get gives the user's secret, without its value. NotFound for an unknown and for somebody else's one.
func (k *Secrets) Get(ctx context.Context, user compute.UserID, id compute.SecretID) (one compute.Secret, err error) {
	err = k.store.Read(ctx, func(tx store.Tx) error {
		one, err = ownSecret(tx, user, id)
		return err
	})
	return one, err
}

// List gives the user's secrets, newest first, without their values; with a name that one alone, if there is one (rule
// secrets.list.name). Rejected if there is no room for all of them.
func (k *Secrets) List(ctx context.Context, user compute.UserID, name *string, room compute.Room) (all []compute.Secret, err error) {
	err = k.store.Read(ctx, func(tx store.Tx) error {
		if name == nil {
			all, err = within(tx.ListSecrets(user, room))
			return err
		}
		one, found, err := tx.SecretNamed(user, *name)
		if all = nil; found {
			all = []compute.Secret{one}
		}
		return err
	})
	return all, err
}

// Update changes value and description together; the name stays. What runs keeps the value that it started with. Rejected for what
// is too long; NotFound as for Get.
func (k *Secrets) Update(ctx context.Context, user compute.UserID, id compute.SecretID, change SecretChange) (one compute.Secret, err error) {
	wrong := checkSecret(change.Value, change.Description)
	var sealed []byte
	if change.Value != nil && wrong == nil {
		sealed = k.sealer.Seal([]byte(*change.Value), string(id))
	}

	err = k.store.Write(ctx, func(tx store.Tx) error {
		one, err = ownSecret(tx, user, id)
		if err = cmp.Or(err, wrong); err != nil { // whether it is there comes first (rule errors.order.existence)
			return err
		}
		if change.Value != nil {
			one.ChangedAt = tx.Wall()
			if err := tx.SetSecretValue(one, sealed); err != nil {
				return err
			}
		}

		if change.Description == nil {
			return nil
		}
		one.Description = *change.Description
		return tx.UpdateSecret(one)
	})

	return one, err
}

// Delete deletes the secret, used or not. NotFound as for Get.
func (k *Secrets) Delete(ctx context.Context, user compute.UserID, id compute.SecretID) error {
	return k.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownSecret(tx, user, id); err != nil {
			return err
		}
		return tx.DeleteSecret(id)
	})
}

// Fill gives an environment of the user with the values of secrets in place of what refers to them, for a runtime at a start and for
// nobody else, and the names that the user has no secret of: what refers to those stays as it is. Rejected
// where a variable becomes too long.
func (k *Secrets) Fill(ctx context.Context, user compute.UserID, env map[string]string) (filled map[string]string, unknown []string, err error) {
	names := compute.SecretNames(env)
	if len(names) == 0 {
		return env, nil, nil
	}

	values, total := map[string]string{}, 0
	err = k.store.Read(ctx, func(tx store.Tx) error {
		for _, name := range names {
			one, found, err := tx.SecretNamed(user, name)
			if err != nil {
				return err
			}
			if !found || one.Name != name {
				unknown = append(unknown, name)
				continue
			}

			value, err := k.open(tx, one.ID)
			if err != nil {
				return err
			}
			values[name] = string(value)
			if total += len(value); total > compute.EnvironmentBytes {
				return compute.Errorf(compute.Rejected, "env: the secrets that it names have over %d bytes together", compute.EnvironmentBytes)
			}
		}

		return nil
	})
	if err != nil {
		return nil, nil, err
	}

	filled, err = compute.FillSecrets(env, values)
	return filled, unknown, err
}

func (k *Secrets) open(tx store.Secrets, id compute.SecretID) ([]byte, error) {
	sealed, err := tx.SecretValue(id)
	if err != nil {
		return nil, err
	}
	return k.sealer.Open(sealed, string(id))
}

// checkSecret checks the bytes of what is given: the documents bound the characters.
func checkSecret(value, description *string) error {
	if value != nil && len(*value) >= compute.SecretValueBytes {
		return compute.Errorf(compute.Rejected, "value: it has %d bytes of UTF-8, not fewer than %d", len(*value), compute.SecretValueBytes)
	}
	if description != nil && len(*description) > compute.SecretDescriptionBytes {
		return compute.Errorf(compute.Rejected, "description: it has %d bytes of UTF-8, more than %d", len(*description), compute.SecretDescriptionBytes)
	}
	return nil
}

// ownSecret hides from a user what is not theirs.
func ownSecret(tx store.Secrets, user compute.UserID, id compute.SecretID) (compute.Secret, error) {
	one, err := tx.Secret(id)
	if err == nil && one.UserID != user {
		return compute.Secret{}, compute.Errorf(compute.NotFound, "secret %q does not exist", id)
	}
	return one, err
}
