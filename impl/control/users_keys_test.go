package control_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

func TestUsers_TheFirstKeyMakesThem(t *testing.T) {
	t.Parallel()
	h := hold(t)
	for _, n := range []control.NewKey{
		{UserID: compute.Owner, Scopes: []compute.Scope{compute.ScopeRESTRead}}, {UserID: "chief", Scopes: []compute.Scope{compute.ScopeRESTRead, compute.ScopeAdmin}},
		{UserID: "ada", Scopes: []compute.Scope{compute.ScopeAll}}, {UserID: "ada", Scopes: []compute.Scope{compute.ScopeRESTRead}},
	} {
		_, _, err := h.Create(t.Context(), n)
		require.NoError(t, err)
		h.clock.Advance(time.Second)
	}
	users, err := h.Users(t.Context())
	require.NoError(t, err)
	roles := map[compute.UserID]compute.Role{}
	for _, u := range users {
		roles[u.Name] = u.Role
	}
	require.Equal(t, map[compute.UserID]compute.Role{compute.Owner: compute.RoleAdmin, "chief": compute.RoleAdmin, "ada": compute.RoleMember}, roles)
	require.Len(t, users, 3)
	require.Equal(t, compute.Owner, users[0].Name)
	require.Equal(t, h.clock.Wall().Add(-4*time.Second), users[0].CreatedAt)
}

func TestUsers_AKeyHasNoScopeThatTheRoleRefuses(t *testing.T) {
	t.Parallel()
	h := hold(t)
	_, err := h.CreateUser(t.Context(), "bob", compute.RoleReader)
	require.NoError(t, err)
	_, _, err = h.Create(t.Context(), control.NewKey{UserID: "bob", Scopes: []compute.Scope{compute.ScopeRESTRead, compute.ScopeRESTWrite, compute.ScopeAdmin}})
	var refused *compute.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, compute.Invalid, refused.Code)
	require.Equal(t, "the role reader of the user bob does not allow the scope rest:write", refused.Detail)
	require.Equal(t, []string{
		"/scopes/1: the role reader of the user bob does not allow the scope rest:write", "/scopes/2: the role reader of the user bob does not allow the scope admin",
	}, refused.Fields)
	require.Empty(t, h.stored())

	for _, scope := range []compute.Scope{compute.ScopeRESTRead, compute.ScopeAll, compute.ScopeControls} { // the last one is bound by no role
		_, _, err = h.Create(t.Context(), control.NewKey{UserID: "bob", Scopes: []compute.Scope{scope}})
		require.NoError(t, err, "%s", scope)
	}
}

func TestUsers_ANameThatIsNoneIsNamedWhereItStands(t *testing.T) {
	t.Parallel()
	h := hold(t)
	_, ofUser := h.CreateUser(t.Context(), "not a name", compute.RoleMember)
	_, _, ofKey := h.Create(t.Context(), control.NewKey{UserID: "not a name"})
	for place, err := range map[string]error{"/name": ofUser, "/user": ofKey} {
		var refused *compute.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, compute.Invalid, refused.Code)
		require.Equal(t, []string{place + ": " + refused.Detail}, refused.Fields)
	}
	_, err := h.CreateUser(t.Context(), "ada", compute.RoleMember)
	require.NoError(t, err)
	_, err = h.CreateUser(t.Context(), "ada", compute.RoleMember)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorContains(t, err, "there is a user ada already")
}

func TestUsers_DeleteRevokesTheKeysOfThatUserAlone(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	earlier, _ := h.makes(control.NewKey{UserID: "ada"})
	require.NoError(t, h.Revoke(ctx, earlier.ID))
	first := h.clock.Wall()
	key, token := h.makes(control.NewKey{UserID: "ada"})
	worker, workerToken := h.makes(control.NewKey{UserID: "ada", WorkerID: "w"})
	_, others := h.makes(control.NewKey{UserID: "bob"})
	h.clock.Advance(time.Hour)
	require.NoError(t, h.DeleteUser(ctx, "ada", false))

	require.Equal(t, compute.RefusedRevoked, h.refused(token).Reason)
	h.good(others)
	require.Equal(t, worker.ID, h.good(workerToken).ID, "it ends with the worker")
	for _, k := range h.Keys(false) {
		switch k.ID {
		case earlier.ID:
			require.Equal(t, first, k.RevokedAt, "it was that long ago")
		case key.ID:
			require.Equal(t, h.clock.Wall(), k.RevokedAt)
		default:
			require.True(t, k.RevokedAt.IsZero())
		}
	}
	require.Equal(t, compute.NotFound, compute.CodeOf(h.DeleteUser(ctx, "ada", false)))
}

func TestUsers_DeleteNamesWhatTheUserHas(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	_, token := h.makes(control.NewKey{UserID: "ada"})
	require.NoError(t, h.db.Write(ctx, func(tx store.Tx) error {
		if err := tx.InsertPod(compute.Pod{ID: "p", UserID: "ada", Status: compute.PodExited}); err != nil {
			return err
		}
		if err := tx.InsertPod(compute.Pod{ID: "gone", UserID: "ada", Status: compute.PodTerminated}); err != nil {
			return err
		}
		for _, id := range []compute.VolumeID{"a", "b"} {
			if err := tx.InsertGlobalVolume(compute.GlobalVolume{ID: id, UserID: "ada", Name: "n", CreatedAt: tx.Wall()}); err != nil {
				return err
			}
		}
		return tx.SetSSHKeys("ada", []string{"ssh-ed25519 a", "ssh-ed25519 b", "ssh-ed25519 c"})
	}))

	err := h.DeleteUser(ctx, "ada", false)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorContains(t, err, "the user ada has 1 pod, 2 global volumes, 3 SSH keys: delete these first, or ask to keep them without a user")
	h.good(token)
	require.NoError(t, h.DeleteUser(ctx, "ada", true))
	require.Equal(t, compute.RefusedRevoked, h.refused(token).Reason)
}

func TestUsers_TheLastAdminStays(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	for name, role := range map[compute.UserID]compute.Role{"ada": compute.RoleAdmin, "bob": compute.RoleAdmin, "eve": compute.RoleMember} {
		_, err := h.CreateUser(ctx, name, role)
		require.NoError(t, err)
	}
	member, admin := compute.RoleMember, compute.RoleAdmin
	changed, err := h.ChangeUser(ctx, "bob", compute.UserChange{Disabled: new(true)})
	require.NoError(t, err, "one is left")
	require.True(t, changed.Disabled)

	for _, c := range []compute.UserChange{{Role: &member}, {Disabled: new(true)}} {
		_, err = h.ChangeUser(ctx, "ada", c)
		require.Equal(t, compute.Conflict, compute.CodeOf(err))
		require.ErrorContains(t, err, "ada is the last admin")
	}
	require.Equal(t, compute.Conflict, compute.CodeOf(h.DeleteUser(ctx, "ada", true)))
	for _, c := range []compute.UserChange{{}, {Role: &admin}, {Disabled: new(false)}} {
		_, err = h.ChangeUser(ctx, "ada", c)
		require.NoError(t, err, "it stays one")
	}
	_, err = h.ChangeUser(ctx, "bob", compute.UserChange{Role: &member})
	require.NoError(t, err, "one who is disabled does not count")
	require.NoError(t, h.DeleteUser(ctx, "bob", false))
	require.NoError(t, h.DeleteUser(ctx, "eve", false))
	_, err = h.ChangeUser(ctx, "eve", compute.UserChange{Role: &admin})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestUsers_DeleteCountsGlobalVolumesUpToABound(t *testing.T) {
	t.Parallel()
	h := hold(t)
	_, err := h.CreateUser(t.Context(), "ada", compute.RoleMember)
	require.NoError(t, err)
	require.NoError(t, h.db.Write(t.Context(), func(tx store.Tx) error {
		for i := range 1001 {
			v := compute.GlobalVolume{ID: compute.VolumeID(strconv.Itoa(i)), UserID: "ada", Name: "n", CreatedAt: tx.Wall()}
			if err := tx.InsertGlobalVolume(v); err != nil {
				return err
			}
		}
		return nil
	}))
	require.ErrorContains(t, h.DeleteUser(t.Context(), "ada", false), "has 1000 global volumes: ")
}
