package compute

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoginOrigin_IsANetworkOfIPv6(t *testing.T) {
	t.Parallel()
	for client, origin := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "2001:db8:1:2::": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "@": "@", "": "",
	} {
		require.Equal(t, origin, LoginOrigin(client), client)
	}
}

func TestLoginAgent_HidesNothing(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a client/1.0", LoginAgent("a cli\u202eent/\x001.0"))
	require.Equal(t, strings.Repeat("ä", 100), LoginAgent(strings.Repeat("ä", 300)))
	require.Equal(t, "x"+strings.Repeat("ä", 99), LoginAgent("x"+strings.Repeat("ä", 300)), "no half of a character")
}

func TestHashOfLogin_IsOfWhatCanBeAnID(t *testing.T) {
	t.Parallel()
	id := NewIDs(rand.Reader, SystemClock{}).Login()
	hash, ok := HashOfLogin(id)
	require.True(t, ok)
	require.NotContains(t, hash, id)
	for _, none := range []string{"", id[1:], id + "a", "A" + id[1:], id[1:] + " "} {
		_, ok = HashOfLogin(none)
		require.False(t, ok, none)
	}
}

func TestKey_HeirPermitsNoMore(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000).UTC()
	k := Key{
		ID: "k", UserID: "ada", Name: "a", Scopes: []Scope{ScopeAll, ScopeControls}, Exempt: true, Contract: "public-2026-10", CreatedAt: now.Add(-time.Hour),
		SpendLimit: 1.5, ExpiresAt: now.Add(time.Hour),
	}
	require.Equal(t, Key{
		ID: "new", UserID: "ada", Name: "laptop", Scopes: []Scope{ScopeAll}, Hash: HashOf("token"), Contract: "public-2026-10", CreatedAt: now,
		SpendLimit: 1.5, ExpiresAt: now.Add(time.Hour),
	}, k.Heir("new", "laptop", "token", now))
}

func TestLogin_ExpiresUnlessItIsOver(t *testing.T) {
	t.Parallel()
	end := time.UnixMilli(1_700_000_000_000)
	for status, then := range map[LoginStatus]LoginStatus{
		LoginPending: LoginExpired, LoginApproved: LoginExpired, LoginDenied: LoginDenied, LoginConsumed: LoginConsumed,
	} {
		l := LoginRequest{Status: status, ExpiresAt: end}
		require.Equal(t, status, l.At(end.Add(-time.Millisecond)).Status)
		require.Equal(t, then, l.At(end).Status)
	}
}
