package control_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// asks makes a request to log in, and gives its id.
func asks(t *testing.T, l *control.Logins, n control.NewLogin) (compute.LoginRequest, string) {
	t.Helper()
	made, id, err := l.Ask(t.Context(), n)
	require.NoError(t, err)
	return made, id
}

// logins makes the use cases over the keyring.
func (h *held) logins() *control.Logins { return control.NewLogins(h.db, h.ids, h.clock, h.Keyring) }

// approves approves the request with the key.
func (h *held) approves(id string, by compute.Key) {
	h.t.Helper()
	decided, err := h.logins().Decide(h.t.Context(), id, by, true)
	require.NoError(h.t, err)
	require.Equal(h.t, []any{compute.LoginApproved, by.ID, by.UserID}, []any{decided.Status, decided.Approver, decided.UserID})
}

// is asserts how far a request is.
func (h *held) is(id string, status compute.LoginStatus) {
	h.t.Helper()
	found, err := h.logins().Find(h.t.Context(), id)
	require.NoError(h.t, err)
	require.Equal(h.t, status, found.Status)
}

func TestLogins_EndAtTheirTime(t *testing.T) {
	t.Parallel()
	h := hold(t)
	l := h.logins()
	by, _ := h.makes(control.NewKey{UserID: "ada"})
	made, pending := asks(t, l, control.NewLogin{Client: "192.0.2.1:4321", Agent: "a\u0007gent"})
	require.Equal(t, h.clock.Wall(), made.CreatedAt)
	require.Equal(t, h.clock.Wall().Add(compute.LoginTime), made.ExpiresAt)
	require.Equal(t, []any{"192.0.2.1:4321", "192.0.2.1", "agent", compute.LoginPending}, []any{made.Client, made.Origin, made.Agent, made.Status})
	_, approved := asks(t, l, control.NewLogin{Client: "192.0.2.1"})
	h.clock.Advance(compute.LoginTime - time.Millisecond)
	h.is(pending, compute.LoginPending)
	h.approves(approved, by)
	h.is(approved, compute.LoginApproved)

	h.clock.Advance(time.Millisecond)
	h.is(pending, compute.LoginExpired)
	_, err := l.Decide(t.Context(), pending, by, true)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorContains(t, err, "the request to log in is EXPIRED, and cannot be decided")
	fetched, token, err := l.Fetch(t.Context(), approved)
	require.NoError(t, err)
	require.Equal(t, compute.LoginExpired, fetched.Status)
	require.Empty(t, token)
	require.Len(t, h.stored(), 1)
}

func TestLogins_GiveAnHeirOfTheKeyThatApproved(t *testing.T) {
	t.Parallel()
	h := hold(t)
	l := h.logins()
	by, _ := h.makes(control.NewKey{UserID: "ada", Contract: "an edition", SpendLimit: 3, Exempt: true, Expiry: time.Hour})
	for name, shown := range map[string]string{"": "login from 192.0.2.1", "mine": "mine"} {
		_, id := asks(t, l, control.NewLogin{Name: name, Client: "192.0.2.1"})
		h.approves(id, by)
		fetched, token, err := l.Fetch(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, compute.LoginConsumed, fetched.Status)
		key := h.good(token)
		require.Equal(t, compute.Key{
			ID: fetched.KeyID, UserID: "ada", Name: shown, Scopes: []compute.Scope{compute.ScopeAll}, Hash: compute.HashOf(token), Contract: "an edition",
			CreatedAt: h.clock.Wall(), SpendLimit: 3, ExpiresAt: by.ExpiresAt, Role: compute.RoleMember,
		}, key)
		h.is(id, compute.LoginConsumed)
		_, token, err = l.Fetch(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, token, "once")
	}
	require.Len(t, h.Keys(false), 3)
}

func TestLogins_GiveNoKeyWhereTheApproverHasNoneThatIsGood(t *testing.T) {
	t.Parallel()
	h := hold(t)
	l := h.logins()
	ctx := t.Context()
	fresh := func(by compute.Key) string {
		t.Helper()
		_, id := asks(t, l, control.NewLogin{Client: "192.0.2.1"})
		h.approves(id, by)
		return id
	}
	good, _ := h.makes(control.NewKey{UserID: "ada"})
	revoked, _ := h.makes(control.NewKey{UserID: "ada"})
	deleted, _ := h.makes(control.NewKey{UserID: "ada"})
	expired, _ := h.makes(control.NewKey{UserID: "ada", Expiry: time.Minute})
	narrow, _, err := h.Create(ctx, control.NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeRESTWrite, compute.ScopeGraphQLRead}})
	require.NoError(t, err)
	another := good
	another.UserID = "eve"

	ids := map[string]string{
		"revoked": fresh(revoked), "deleted": fresh(deleted), "expired": fresh(expired), "with another scope": fresh(narrow), "of another user": fresh(another),
	}
	last := fresh(good)
	require.NoError(t, h.Revoke(ctx, revoked.ID))
	require.NoError(t, h.Delete(ctx, deleted.ID))
	h.clock.Advance(time.Minute)
	keys := len(h.stored())
	for name, id := range ids {
		fetched, token, err := l.Fetch(ctx, id)
		require.NoError(t, err, name)
		require.Equal(t, compute.LoginDenied, fetched.Status, name)
		require.Empty(t, token, name)
		h.is(id, compute.LoginDenied)
	}
	require.Len(t, h.stored(), keys)
	_, token, err := l.Fetch(ctx, last)
	require.NoError(t, err)
	require.NotEmpty(t, token)
}

func TestLogins_AreDecidedOnce(t *testing.T) {
	t.Parallel()
	h := hold(t)
	l := h.logins()
	ctx := t.Context()
	by, _ := h.makes(control.NewKey{UserID: "ada"})
	_, id := asks(t, l, control.NewLogin{Client: "192.0.2.1"})
	denied, err := l.Decide(ctx, id, by, false)
	require.NoError(t, err)
	require.Equal(t, compute.LoginDenied, denied.Status)
	require.Empty(t, denied.Approver)
	require.Empty(t, denied.UserID)
	for _, approve := range []bool{true, false} {
		_, err = l.Decide(ctx, id, by, approve)
		require.Equal(t, compute.Conflict, compute.CodeOf(err))
	}
	_, token, err := l.Fetch(ctx, id)
	require.NoError(t, err)
	require.Empty(t, token)

	for _, unknown := range []string{h.ids.Login(), "x"} {
		_, err = l.Find(ctx, unknown)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		_, err = l.Decide(ctx, unknown, by, true)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		_, _, err = l.Fetch(ctx, unknown)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
	}
}
