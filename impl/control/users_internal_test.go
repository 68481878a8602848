package control

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// creations are what creates something of each kind that keeps a user from being deleted, as the refusal of that names it.
func (c *Control) creations(t *testing.T, user compute.UserID) map[string]func(context.Context) error {
	t.Helper()
	sealer, err := NewSealer([]byte("a key that has thirty-two bytes."))
	require.NoError(t, err)
	registries, err := NewRegistries(t.Context(), c.store, c.ids, sealer)
	require.NoError(t, err)
	secrets, err := NewSecrets(t.Context(), c.store, c.ids, sealer)
	require.NoError(t, err)
	endpoints := NewEndpoints(c.store, c.ids, c.placement, &toldQueue{}, c.runtime)
	flash := NewFlash(c.store, c.ids, endpoints, sealer, compute.SystemClock{}, &artifactFiles{})

	return map[string]func(context.Context) error{
		"pod": func(ctx context.Context) error {
			_, err := c.CreatePod(ctx, user, oneL4())
			return err
		},
		"endpoint": func(ctx context.Context) error {
			_, err := endpoints.Create(ctx, user, compute.QueueEndpoint, cpuEndpoint("e"))
			return err
		},
		"cluster": func(ctx context.Context) error {
			_, err := c.CreateCluster(ctx, user, ofL4s(2))
			return err
		},
		"network volume": func(ctx context.Context) error {
			_, err := c.CreateVolume(ctx, user, NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
			return err
		},
		"global volume": func(ctx context.Context) error {
			_, err := c.CreateGlobalVolume(ctx, user, "v")
			return err
		},
		"template": func(ctx context.Context) error {
			_, err := c.CreateTemplate(ctx, user, TemplateChange{Name: new("t"), Image: new("i")})
			return err
		},
		"registry": func(ctx context.Context) error {
			_, err := registries.Create(ctx, user, "r", compute.Login{Username: "a", Password: "b"})
			return err
		},
		"delegation": func(ctx context.Context) error {
			_, err := registries.Delegate(ctx, user, "arn:aws:ecr:eu-west-1:123456789012:repository/r", "")
			return err
		},
		"secret": func(ctx context.Context) error {
			_, err := secrets.Create(ctx, user, NewSecret{Name: "s", Value: "v"})
			return err
		},
		"SSH key": func(ctx context.Context) error { return c.SetSSHKeys(ctx, user, []string{someKey}) },
		"app": func(ctx context.Context) error {
			_, err := flash.CreateApp(ctx, user, "app")
			return err
		},
	}
}

func TestCreate_LeavesNothingOfAUserWhoWasDeleted(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c, ctx := openControl(t, s, []Host{l4s("a", 8)}), t.Context()
	r, err := NewKeyring(ctx, s, c.ids, compute.SystemClock{}, nil)
	require.NoError(t, err)
	key, _, err := r.Create(ctx, NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(t, err)
	controls, _, err := r.Create(ctx, NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeControls, compute.ScopeAdmin}})
	require.NoError(t, err)
	creations := c.creations(t, "ada")

	require.NoError(t, creations["template"](WithUserOf(ctx, key)))
	require.ErrorContains(t, r.DeleteUser(ctx, "ada", false), "has 1 template: ")
	users, err := r.Users(ctx)
	require.NoError(t, err)
	require.Len(t, users, 1, "a refusal leaves all as it is")
	require.NoError(t, r.DeleteUser(ctx, "ada", true))

	require.NoError(t, s.Write(ctx, func(tx store.Tx) error { return tx.Clear() }))
	before := c.placement.freeNow()
	for kind, create := range creations {
		err := create(WithUserOf(ctx, key))
		require.Equal(t, compute.Unauthenticated, compute.CodeOf(err), kind)
		require.ErrorContains(t, err, "invalid API key", "%s: as what comes after it", kind)
	}
	require.Equal(t, before, c.placement.freeNow())
	require.NoError(t, s.Read(ctx, func(tx store.Tx) error { return hasNothing(tx, "ada") }))

	for kind, create := range creations {
		asked := ctx // by a seed, at a start
		if kind != "pod" {
			asked = WithUserOf(ctx, controls) // and after a reset
		}
		require.NoError(t, create(asked), "%s: for a user whom nobody made", kind)
	}
	err = s.Read(ctx, func(tx store.Tx) error { return hasNothing(tx, "ada") })
	for kind := range creations {
		require.ErrorContains(t, err, kind)
	}
}

func TestCreate_EitherItOrTheDeletionOfItsUserIsRefused(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c, ctx := openControl(t, s, []Host{l4s("a", 8)}), t.Context()
	r, err := NewKeyring(ctx, s, c.ids, compute.SystemClock{}, nil)
	require.NoError(t, err)

	for i := range 20 {
		name := compute.UserID(fmt.Sprint("user", i))
		key, _, err := r.Create(ctx, NewKey{UserID: name, Scopes: []compute.Scope{compute.ScopeAll}})
		require.NoError(t, err)
		var both sync.WaitGroup
		var created, deleted error
		both.Go(func() {
			_, created = c.CreateVolume(WithUserOf(ctx, key), name, NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
		})
		both.Go(func() { deleted = r.DeleteUser(ctx, name, false) })
		both.Wait()

		if created == nil {
			require.Equal(t, compute.Conflict, compute.CodeOf(deleted))
			continue
		}
		require.Equal(t, compute.Unauthenticated, compute.CodeOf(created))
		require.NoError(t, deleted)
	}
}

// lookedAt is a transaction that notes whether there still was a user when its pods were looked for.
type lookedAt struct {
	store.Tx
	there bool
}

func (tx *lookedAt) PagePods(user compute.UserID, p compute.Page) ([]compute.Pod, compute.Position, error) {
	_, known, err := userOf(tx, user)
	tx.there = err != nil || known
	return tx.Tx.PagePods(user, p)
}

// lookedAtStore is a store whose last write was in the transaction.
type lookedAtStore struct {
	store.Store
	last *lookedAt
}

func (s *lookedAtStore) Write(ctx context.Context, f func(store.Tx) error) error {
	return s.Store.Write(ctx, func(tx store.Tx) error {
		s.last = &lookedAt{Tx: tx}
		return f(s.last)
	})
}

// TestDeleteUser_TakesTheUserFirst: who creates something for it elsewhere is then waited for before it is looked for.
func TestDeleteUser_TakesTheUserFirst(t *testing.T) {
	t.Parallel()
	s := &lookedAtStore{Store: openStore(t)}
	c := openControl(t, s, nil)
	r, err := NewKeyring(t.Context(), s, c.ids, compute.SystemClock{}, nil)
	require.NoError(t, err)
	_, err = r.CreateUser(t.Context(), "ada", compute.RoleMember)
	require.NoError(t, err)
	require.NoError(t, r.DeleteUser(t.Context(), "ada", false))
	require.False(t, s.last.there)
}
