package control_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// keyrings opens two over one store, as those of two processes are.
func keyrings(t *testing.T) (db store.Store, one, other *control.Keyring, pods compute.PodKeys) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	pods = compute.NewPodKeys([]byte("secret"))
	for _, r := range []**control.Keyring{&one, &other} {
		*r, err = control.NewKeyring(t.Context(), db, compute.NewIDs(rand.Reader, compute.SystemClock{}), compute.SystemClock{}, &pods)
		require.NoError(t, err)
	}
	return db, one, other, pods
}

func newKey(t *testing.T, r *control.Keyring, user compute.UserID, scopes ...compute.Scope) string {
	t.Helper()
	_, token, err := r.Create(t.Context(), control.NewKey{UserID: user, Scopes: scopes})
	require.NoError(t, err)
	return token
}

func TestUsers_AreBounded(t *testing.T) {
	t.Parallel()
	db, r, _, _ := keyrings(t)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i := range compute.MostUsers - 1 {
			if err := tx.InsertUser(compute.User{Name: compute.UserID(fmt.Sprintf("user%d", i)), Role: compute.RoleMember}); err != nil {
				return err
			}
		}
		return nil
	}))
	newKey(t, r, "last", compute.ScopeAll)

	_, err := r.CreateUser(t.Context(), "more", compute.RoleMember)
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	_, _, err = r.Create(t.Context(), control.NewKey{UserID: "more", Scopes: []compute.Scope{compute.ScopeAll}})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	newKey(t, r, "user1", compute.ScopeAll)
	require.NoError(t, r.DeleteUser(t.Context(), "last", false))
	_, err = r.CreateUser(t.Context(), "more", compute.RoleMember)
	require.NoError(t, err)
}

func TestUsers_OneAdminIsLeftOfTwoThatGoAtOnce(t *testing.T) {
	t.Parallel()
	_, one, other, _ := keyrings(t)
	for _, name := range []compute.UserID{"ada", "bob"} {
		_, err := one.CreateUser(t.Context(), name, compute.RoleAdmin)
		require.NoError(t, err)
	}
	member, admin, yes, no := compute.RoleMember, compute.RoleAdmin, true, false
	for i := range 20 {
		var both sync.WaitGroup
		var errs [2]error
		both.Go(func() { _, errs[0] = one.ChangeUser(t.Context(), "ada", compute.UserChange{Role: &member}) })
		both.Go(func() {
			if i%2 == 0 {
				_, errs[1] = other.ChangeUser(t.Context(), "bob", compute.UserChange{Disabled: &yes})
			} else {
				errs[1] = other.DeleteUser(t.Context(), "bob", false)
			}
		})
		both.Wait()
		require.True(t, (errs[0] == nil) != (errs[1] == nil), "%v", errs)
		for _, err := range errs {
			require.True(t, err == nil || compute.CodeOf(err) == compute.Conflict, "%v", err)
		}

		if errs[1] == nil && i%2 == 1 {
			_, err := one.CreateUser(t.Context(), "bob", admin)
			require.NoError(t, err)
		}
		for _, name := range []compute.UserID{"ada", "bob"} {
			_, err := one.ChangeUser(t.Context(), name, compute.UserChange{Role: &admin, Disabled: &no})
			require.NoError(t, err)
		}
	}
}

func TestKeyring_KnowsWhatAnotherProcessChangedOfUsers(t *testing.T) {
	t.Parallel()
	_, r, other, _ := keyrings(t)
	token := newKey(t, other, "ada", compute.ScopeAll)
	key, err := r.Find(t.Context(), token)
	require.NoError(t, err, "a new key at once, with its user")
	require.Equal(t, compute.RoleMember, key.Role)
	require.True(t, r.Holds(key))

	reader, yes := compute.RoleReader, true
	_, err = other.ChangeUser(t.Context(), "ada", compute.UserChange{Role: &reader})
	require.NoError(t, err)
	require.NoError(t, r.Refresh(t.Context()), "which a server does every second")
	require.False(t, r.Holds(key), "what is open for long was opened by another role")
	key, err = r.Find(t.Context(), token)
	require.NoError(t, err)
	require.False(t, key.Allows(compute.ScopeRESTWrite))
	require.True(t, key.Allows(compute.ScopeRESTRead))

	_, err = other.ChangeUser(t.Context(), "ada", compute.UserChange{Disabled: &yes})
	require.NoError(t, err)
	require.NoError(t, r.Refresh(t.Context()))
	require.False(t, r.Holds(key))
	_, err = r.Find(t.Context(), token)
	require.Equal(t, compute.Unauthenticated, compute.CodeOf(err))
	late := newKey(t, other, "ada", compute.ScopeAll)
	_, err = r.Find(t.Context(), late)
	require.Equal(t, compute.Unauthenticated, compute.CodeOf(err))
}

func TestKeyring_WhatTheServerMakesIsNotBounded(t *testing.T) {
	t.Parallel()
	db, r, _, pods := keyrings(t)
	newKey(t, r, "ada", compute.ScopeAll)
	_, worker, err := r.Create(t.Context(), control.NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeWork("e")}, WorkerID: "w"})
	require.NoError(t, err)
	controls := newKey(t, r, "ada", compute.ScopeControls, compute.ScopeAdmin)
	pod := compute.Pod{ID: "k3m9x2m4p6q8r1", UserID: "ada", Status: compute.PodRunning, Version: 1}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.InsertPod(pod) }))

	reader, yes := compute.RoleReader, true
	_, err = r.ChangeUser(t.Context(), "ada", compute.UserChange{Role: &reader})
	require.NoError(t, err)
	own, err := r.Find(t.Context(), pods.Token(pod))
	require.NoError(t, err)
	require.True(t, own.Allows(compute.ScopePod(pod.ID)), "a program can stop its pod")

	_, err = r.ChangeUser(t.Context(), "ada", compute.UserChange{Disabled: &yes})
	require.NoError(t, err)
	require.NoError(t, r.Refresh(t.Context()))
	_, err = r.Find(t.Context(), pods.Token(pod))
	require.Equal(t, compute.Unauthenticated, compute.CodeOf(err))
	key, err := r.Find(t.Context(), worker)
	require.NoError(t, err, "its jobs go on")
	require.True(t, key.Allows(compute.ScopeWork("e")))
	key, err = r.Find(t.Context(), controls)
	require.NoError(t, err)
	require.True(t, key.Allows(compute.ScopeControls) && key.Allows(compute.ScopeAdmin))
}

func TestKeyring_AKeyOfNobodyIsGoodForNothing(t *testing.T) {
	t.Parallel()
	db, r, _, _ := keyrings(t)
	token := newKey(t, r, "ada", compute.ScopeAll)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteUser("ada") })) // as no command does
	require.NoError(t, r.Refresh(t.Context()))
	_, err := r.Find(t.Context(), token)
	require.Equal(t, compute.Unauthenticated, compute.CodeOf(err))
}

// BenchmarkKeyring_Find is what each request pays for its key, its user and the role.
func BenchmarkKeyring_Find(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(b, err)
	defer func() { require.NoError(b, db.Close()) }()
	r, err := control.NewKeyring(b.Context(), db, compute.NewIDs(rand.Reader, compute.SystemClock{}), compute.SystemClock{}, nil)
	require.NoError(b, err)
	_, token, err := r.Create(b.Context(), control.NewKey{UserID: compute.Owner, Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(b, err)
	want := compute.ScopeInvoke("k3m9x2m4p6q8e1")
	for b.Loop() {
		if key, err := r.Find(b.Context(), token); err != nil || !key.Allows(want) {
			b.Fatal(err)
		}
	}
}

// TestPlant_DisablesAUserFromTheFirstMoment: between two writes its keys would be good, and after a crash they would stay so.
func TestPlant_DisablesAUserFromTheFirstMoment(t *testing.T) {
	t.Parallel()
	db, r, _, _ := keyrings(t)
	planted, err := r.Plant(t.Context(), compute.User{Name: "gone", Role: compute.RoleReader, Disabled: true})
	require.NoError(t, err)
	require.True(t, planted.Disabled)
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		u, err := tx.User("gone")
		require.Equal(t, planted, u)
		return err
	}))
	_, err = r.Plant(t.Context(), planted)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
}
