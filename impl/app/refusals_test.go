package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/impl/app"
)

// forwardedFor replaces the SSH keys of an account by none, as a proxy asks for it for a client, and gives the status.
func forwardedFor(t *testing.T, url, key, client string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/v2/account/ssh-keys", strings.NewReader(`{"keys":[]}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-For", client)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// refusedFrom has somebody behind a proxy ask with a wrong key.
func refusedFrom(t *testing.T, url, client string) {
	t.Helper()
	require.Equal(t, http.StatusUnauthorized, forwardedFor(t, url, "nonsense", client))
}

// refusalsOf lists who was refused, each as it is shown.
func refusalsOf(t *testing.T, url, key, query string) (all []map[string]any) {
	t.Helper()
	status, list := call(t, http.MethodGet, url+"/_berth/audit/refusals?"+query, key, "")
	require.Equal(t, 200, status, list)
	for _, one := range list["refusals"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

func TestRefusals_OfSSHHaveTheFingerprint(t *testing.T) {
	t.Parallel()
	s, key, id, _, _ := gate(t)
	stranger, _, _ := sshKey(t)
	another, _, _ := sshKey(t)
	_, err := loginTo(s, id, stranger, another)
	require.Error(t, err)
	require.Eventually(t, func() bool { return len(refusalsOf(t, s.URL(), key, "")) == 1 }, time.Minute, 10*time.Millisecond, "however many keys the client has, it is one login")
	r := refusalsOf(t, s.URL(), key, "")[0]
	require.Equal(t, "ssh", r["interface"])
	require.Equal(t, "unknown", r["reason"])
	require.Equal(t, "127.0.0.1", r["client"])
	require.Equal(t, ssh.FingerprintSHA256(another.PublicKey()), r["key"])
}

func TestRefusals_HaveTheClientBeforeTheProxy(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]app.Config{"127.0.0.1": {}, "198.51.100.1": {TrustedProxies: []string{"127.0.0.0/8"}}} {
		c.Data = t.TempDir()
		s := start(t, c)
		refusedFrom(t, s.URL(), "203.0.113.9, 198.51.100.1")
		found := refusalsOf(t, s.URL(), s.FirstKey(), "")
		require.Len(t, found, 1)
		require.Equal(t, want, found[0]["client"])
		require.NoError(t, s.Close())
	}
}

func TestRefusals_AreThereAfterARestart(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir()}
	s := start(t, c)
	key := s.FirstKey()
	refusedFrom(t, s.URL(), "198.51.100.1")
	require.NoError(t, s.Close())
	s = start(t, c)
	require.Len(t, refusalsOf(t, s.URL(), key, ""), 1)
	require.NoError(t, s.Close())
}
