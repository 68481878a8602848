package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// UsersOfKeys stores keys, has forget take the table of users and its place in the schema away, and checks which users the upgrade makes of the keys.
func UsersOfKeys(t *testing.T, open Open, forget func(t *testing.T)) {
	before := open(t, compute.NewFrozenClock(start))
	for i, k := range []compute.Key{
		{UserID: "owner", Scopes: []compute.Scope{compute.ScopeRESTRead}},
		{UserID: "all", Scopes: []compute.Scope{compute.ScopeRESTRead}, CreatedAt: start.Add(time.Hour)},
		{UserID: "all", Scopes: []compute.Scope{compute.ScopeAll}, CreatedAt: start.Add(time.Minute)},
		{UserID: "admin", Scopes: []compute.Scope{compute.ScopeRESTRead, compute.ScopeAdmin}},
		{UserID: "revoked", Scopes: []compute.Scope{compute.ScopeAll}, RevokedAt: start},
		{UserID: "plain", Scopes: []compute.Scope{compute.ScopeRESTWrite}},
		{UserID: "worker", Scopes: []compute.Scope{compute.ScopeAll}, WorkerID: "w"},
	} {
		k.ID = compute.KeyID(rune('a' + i))
		write(t, before, func(tx store.Tx) error { return tx.InsertKey(k) })
	}
	require.NoError(t, before.Close())
	forget(t)

	made := map[compute.UserID]compute.User{}
	for _, u := range read(t, open(t, compute.NewFrozenClock(start)), store.Tx.ListUsers) {
		require.False(t, u.Disabled)
		made[u.Name] = u
	}
	roles := map[compute.UserID]compute.Role{}
	for name, u := range made {
		roles[name] = u.Role
	}
	require.Equal(t, map[compute.UserID]compute.Role{
		"owner": compute.RoleAdmin, "all": compute.RoleAdmin, "admin": compute.RoleAdmin, "revoked": compute.RoleMember, "plain": compute.RoleMember,
	}, roles)
	require.Equal(t, start.Add(time.Minute), made["all"].CreatedAt, "when its first key was")
}
