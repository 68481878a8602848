package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// userOf gives the user of the name, and whether there is one.
func userOf(tx store.Users, name compute.UserID) (u compute.User, known bool, err error) {
	u, err = tx.User(name)
	if compute.CodeOf(err) == compute.NotFound {
		return compute.User{}, false, nil
	}
	return u, err == nil, err
}

// userOfKey gives the user of a key that is to be made, who is made too if there is none: an admin if it is the owner or the key is to have the scope
// admin, and a member else (rule users.made). Invalid, with a line for each, for scopes that its role does not allow (rule users.keys).
func userOfKey(tx store.Tx, k compute.Key) (compute.User, error) {
	if _, err := tx.HoldUser(k.UserID); err != nil { // who deletes the user waits for the key, and revokes it
		return compute.User{}, err
	}
	u, known, err := userOf(tx, k.UserID)
	if err != nil {
		return u, err
	}
	if !known {
		u = compute.User{Name: k.UserID, Role: compute.RoleMember}
		if k.UserID == compute.Owner || slices.Contains(k.Scopes, compute.ScopeAdmin) {
			u.Role = compute.RoleAdmin
		}
		return insertUser(tx, u, "/user")
	}

	bound := k.Bounded(u, true).Role
	var fields []string
	for i, s := range k.Scopes {
		if !bound.Allows(s) {
			fields = append(fields, fmt.Sprintf("/scopes/%d: the role %s of the user %s does not allow the scope %s", i, u.Role, u.Name, s))
		}
	}
	if fields == nil {
		return u, nil
	}
	_, first, _ := strings.Cut(fields[0], ": ")
	return u, &compute.Error{Code: compute.Invalid, Detail: first, Fields: fields}
}

// insertUser makes a user. Invalid, naming the field, for a name that is none; Conflict for one that is taken; Rejected if there are as many as there may be.
func insertUser(tx store.Tx, u compute.User, field string) (compute.User, error) {
	if wrong := compute.CheckUserName(u.Name); wrong != "" {
		return u, &compute.Error{Code: compute.Invalid, Detail: wrong, Fields: []string{field + ": " + wrong}}
	}
	if _, known, err := userOf(tx, u.Name); err != nil || known {
		if known {
			err = compute.Errorf(compute.Conflict, "there is a user %s already", u.Name)
		}
		return u, err
	}

	n, err := tx.CountUsers()
	if err != nil {
		return u, err
	}
	if n >= compute.MostUsers {
		return u, compute.Errorf(compute.Rejected, "there are %d users, and there may be no more: delete some", n)
	}
	u.CreatedAt = tx.Wall()
	return u, tx.InsertUser(u)
}

// Users gives all users, oldest first.
func (r *Keyring) Users(ctx context.Context) (users []compute.User, err error) {
	err = r.store.Read(ctx, func(tx store.Tx) error {
		users, err = tx.ListUsers()
		return err
	})
	return users, err
}

// CreateUser makes a user, who has no key yet (rule users.create). Invalid for a name that is none, Conflict for one that is taken, Rejected beyond
// compute.MostUsers.
func (r *Keyring) CreateUser(ctx context.Context, name compute.UserID, role compute.Role) (compute.User, error) {
	return r.Plant(ctx, compute.User{Name: name, Role: role})
}

// Plant makes the user of a seed, who may be disabled from the first moment on. Errors as for CreateUser.
func (r *Keyring) Plant(ctx context.Context, asked compute.User) (u compute.User, err error) {
	err = r.store.Write(ctx, func(tx store.Tx) error {
		u, err = insertUser(tx, asked, "/name")
		return err
	})
	return u, err
}

// ChangeUser changes a user, whose keys permit what they permit then from the next request on (rules users.set-role, users.disabled). NotFound for an
// unknown one; Conflict if no admin were left who is not disabled (rule users.last-admin).
func (r *Keyring) ChangeUser(ctx context.Context, name compute.UserID, c compute.UserChange) (u compute.User, err error) {
	err = r.store.Write(ctx, func(tx store.Tx) error {
		admins, err := tx.HoldAdmins()
		if err != nil {
			return err
		}
		if u, err = tx.User(name); err != nil {
			return err
		}

		was := administers(u)
		set(&u.Role, c.Role)
		set(&u.Disabled, c.Disabled)
		if was && !administers(u) && admins == 1 {
			return errLastAdmin(name)
		}
		return tx.UpdateUser(u)
	})
	if err != nil {
		return compute.User{}, err
	}
	return u, r.Refresh(ctx)
}

func administers(u compute.User) bool { return u.Role == compute.RoleAdmin && !u.Disabled }

func errLastAdmin(name compute.UserID) error {
	return compute.Errorf(compute.Conflict, "%s is the last admin: make another user an admin first", name)
}

// DeleteUser removes a user and revokes its keys (rule users.delete). NotFound for an unknown one; Conflict if it is the last admin, or, unless keep
// says that they stay where they are, has resources (rules users.last-admin, users.delete.resources).
func (r *Keyring) DeleteUser(ctx context.Context, name compute.UserID, keep bool) error {
	err := r.store.Write(ctx, func(tx store.Tx) error {
		admins, err := tx.HoldAdmins()
		if err != nil {
			return err
		}
		u, err := tx.User(name)
		if err != nil {
			return err
		}
		if administers(u) && admins == 1 {
			return errLastAdmin(name)
		}

		if err := tx.DeleteUser(name); err != nil { // first: what is created for it at the same time is seen below, or refused
			return err
		}
		if !keep {
			if err := hasNothing(tx, name); err != nil {
				return err
			}
		}
		return revokeAll(tx, name)
	})
	if err != nil {
		return err
	}
	return r.Refresh(ctx)
}

// keyUserKey is that of the refusal of a key whose user is gone.
type keyUserKey struct{}

// WithUserOf gives a context for a request of the key, so that the request creates nothing once the user of the key was deleted, which may be after the
// key was found (rule users.delete.resources). Who asks without a key, or by one that is good without a user, may create for users that are not
// there: a seed does.
func WithUserOf(ctx context.Context, k compute.Key) context.Context {
	if !k.Bounded(compute.User{}, false).Disabled {
		return ctx
	}
	return context.WithValue(ctx, keyUserKey{}, compute.RefusedKey{Reason: compute.RefusedRevoked, KeyID: k.ID, UserID: k.UserID})
}

// create has f store something new in a transaction of the store. Unauthenticated, as each request after it, if the user whose key asks for it was
// deleted; until the transaction ends it cannot be.
func create(ctx context.Context, s store.Store, f func(store.Tx) error) error {
	refused, ofKey := ctx.Value(keyUserKey{}).(compute.RefusedKey)
	if !ofKey {
		return s.Write(ctx, f)
	}
	return s.Write(ctx, func(tx store.Tx) error {
		there, err := tx.HoldUser(refused.UserID)
		if err == nil && !there {
			err = errInvalidKey(refused)
		}
		if err != nil {
			return err
		}
		return f(tx)
	})
}

// revokeAll revokes the keys of a user. Those of its workers end with these.
func revokeAll(tx store.Keys, user compute.UserID) error {
	keys, err := tx.ListKeys()
	for _, k := range keys {
		if err == nil && k.UserID == user && k.WorkerID == "" && k.RevokedAt.IsZero() {
			err = tx.RevokeKey(k.ID)
		}
	}
	return err
}

// hasNothing gives Conflict if the user has resources, with how many of which kinds.
func hasNothing(tx store.Tx, user compute.UserID) error {
	var has []string
	var failed []error
	for _, kind := range []struct {
		one, many string
		count     func() (int, error)
	}{
		{"pod", "pods", walked(user, tx.PagePods)},
		{"endpoint", "endpoints", walked(user, tx.PageEndpoints)},
		{"cluster", "clusters", counting(user, some(tx.ListClusters))},
		{"network volume", "network volumes", walked(user, tx.PageVolumes)},
		{"global volume", "global volumes", counting(user, globalVolumes(tx))},
		{"template", "templates", walked(user, tx.PageTemplates)},
		{"registry", "registries", counting(user, some(tx.ListRegistries))},
		{"delegation", "delegations", counting(user, some(tx.ListDelegations))},
		{"secret", "secrets", counting(user, some(tx.ListSecrets))},
		{"SSH key", "SSH keys", counting(user, tx.SSHKeys)},
		{"app", "apps", counting(user, tx.ListFlashApps)},
	} {
		n, err := kind.count()
		failed = append(failed, err)
		switch {
		case n == 1:
			has = append(has, "1 "+kind.one)
		case n > 1:
			has = append(has, fmt.Sprintf("%d %s", n, kind.many))
		}
	}

	if err := errors.Join(failed...); err != nil {
		return err
	}
	if len(has) > 0 {
		return compute.Errorf(compute.Conflict, "the user %s has %s: delete these first, or ask to keep them without a user", user, strings.Join(has, ", "))
	}
	return nil
}

func counting[T any](user compute.UserID, list func(compute.UserID) ([]T, error)) func() (int, error) {
	return func() (int, error) {
		all, err := list(user)
		return len(all), err
	}
}

// some lists the first ones of what may be large: the user who has more is told of these.
func some[T any](list func(compute.UserID, compute.Room) ([]T, bool, error)) func(compute.UserID) ([]T, error) {
	return func(user compute.UserID) ([]T, error) {
		all, _, err := list(user, func(bytes int) bool { return bytes <= 4<<20 })
		return all, err
	}
}

// walked counts what may be large, of which no list is made.
func walked[T any](user compute.UserID, page func(compute.UserID, compute.Page) ([]T, compute.Position, error)) func() (int, error) {
	return func() (n int, err error) {
		err = store.Walk(user, page, func(T) { n++ })
		return n, err
	}
}

// globalVolumes lists those of a user, as far as it is counted.
func globalVolumes(tx store.GlobalVolumes) func(compute.UserID) ([]compute.GlobalVolume, error) {
	return func(user compute.UserID) ([]compute.GlobalVolume, error) {
		all, _, err := tx.PageGlobalVolumes(user, compute.Page{Limit: 1000})
		return all, err
	}
}
