package control_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

// newLogins makes the use cases over a store, with a key that approves.
func newLogins(t *testing.T, s store.Store, r *control.Keyring) (*control.Logins, compute.Key) {
	t.Helper()
	approver, _, err := r.Create(t.Context(), control.NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(t, err)
	return control.NewLogins(s, compute.NewIDs(rand.Reader, compute.SystemClock{}), compute.SystemClock{}, r), approver
}

func approved(t *testing.T, l *control.Logins, by compute.Key) string {
	t.Helper()
	_, id, err := l.Ask(t.Context(), control.NewLogin{Client: "192.0.2.1"})
	require.NoError(t, err)
	_, err = l.Decide(t.Context(), id, by, true)
	require.NoError(t, err)
	return id
}

func TestLogins_AKeyIsMadeOnceByWhicheverProcess(t *testing.T) {
	t.Parallel()
	db, one, other, _ := keyrings(t)
	logins, approver := newLogins(t, db, one)
	id := approved(t, logins, approver)

	fetched, token, err := control.NewLogins(db, compute.NewIDs(rand.Reader, compute.SystemClock{}), compute.SystemClock{}, other).Fetch(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, compute.LoginConsumed, fetched.Status)
	for _, r := range []*control.Keyring{other, one} { // the one that did not make it reads it
		k, err := r.Find(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, fetched.KeyID, k.ID)
		require.Equal(t, approver.UserID, k.UserID)
	}

	_, token, err = logins.Fetch(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, token)
}

func TestLogins_AnApproverWhoMayNoMoreHasNoHeir(t *testing.T) {
	t.Parallel()
	db, r, _, _ := keyrings(t)
	logins, approver := newLogins(t, db, r)
	disabled, reader, yes, no := approved(t, logins, approver), approved(t, logins, approver), true, false
	denied := func(id string) {
		fetched, token, err := logins.Fetch(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, token)
		require.Equal(t, compute.LoginDenied, fetched.Status)
	}

	_, err := r.ChangeUser(t.Context(), "ada", compute.UserChange{Disabled: &yes})
	require.NoError(t, err)
	denied(disabled)
	role := compute.RoleReader
	_, err = r.ChangeUser(t.Context(), "ada", compute.UserChange{Disabled: &no, Role: &role})
	require.NoError(t, err)
	denied(reader)
	require.Len(t, r.Keys(false), 1)
}

func TestLogins_MakeNoMoreKeysThanAUserMayHave(t *testing.T) {
	t.Parallel()
	db, r, _, _ := keyrings(t)
	logins, approver := newLogins(t, db, r)
	first, late := approved(t, logins, approver), approved(t, logins, approver)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i := range compute.LoginKeys - 2 {
			token := compute.NewToken(compute.NewIDs(rand.Reader, compute.SystemClock{}), compute.KeyID(fmt.Sprintf("%010d", i)))
			if err := tx.InsertKey(compute.Key{ID: compute.KeyID(fmt.Sprintf("%010d", i)), UserID: approver.UserID, Hash: compute.HashOf(token), CreatedAt: tx.Wall()}); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, r.Refresh(t.Context()))

	_, token, err := logins.Fetch(t.Context(), first)
	require.NoError(t, err)
	require.NotEmpty(t, token, "it is the last one that there may be")
	_, token, err = logins.Fetch(t.Context(), late)
	require.Equal(t, compute.TooMany, compute.CodeOf(err))
	require.Empty(t, token)
	_, id, err := logins.Ask(t.Context(), control.NewLogin{Client: "192.0.2.1"})
	require.NoError(t, err)
	_, err = logins.Decide(t.Context(), id, approver, true)
	require.Equal(t, compute.TooMany, compute.CodeOf(err))

	require.NoError(t, r.Revoke(t.Context(), "0000000000"))
	_, token, err = logins.Fetch(t.Context(), late)
	require.NoError(t, err)
	require.NotEmpty(t, token, "one was revoked")
}

func TestLogins_ArePendingInBoundedNumber(t *testing.T) {
	t.Parallel()
	db, r, _, _ := keyrings(t)
	logins, approver := newLogins(t, db, r)
	ask := func(client string) (string, error) {
		_, id, err := logins.Ask(t.Context(), control.NewLogin{Client: client})
		return id, err
	}
	var last string
	for i := range compute.LoginsOfOrigin {
		id, err := ask(fmt.Sprintf("2001:db8::%x", i))
		require.NoError(t, err)
		last = id
	}
	_, err := ask("2001:db8::ffff")
	require.Equal(t, compute.TooMany, compute.CodeOf(err), "of the same network")
	_, err = logins.Decide(t.Context(), last, approver, false)
	require.NoError(t, err)
	_, err = ask("2001:db8::ffff")
	require.NoError(t, err, "one was decided")

	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i := range compute.Logins - compute.LoginsOfOrigin {
			origin := fmt.Sprint("other ", i)
			if err := tx.InsertLogin(compute.LoginRequest{Hash: origin, Origin: origin, CreatedAt: tx.Wall(), ExpiresAt: tx.Wall().Add(time.Hour), Status: compute.LoginPending}); err != nil {
				return err
			}
		}
		return nil
	}))
	_, err = ask("192.0.2.1")
	require.Equal(t, compute.TooMany, compute.CodeOf(err), "of all")
}
