package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestSSH_IsForWhoMayChangePods(t *testing.T) {
	t.Parallel()
	s, key, id, signer, _ := gate(t)
	ask := func(status int, method, path, body string) {
		t.Helper()
		got, answer := call(t, method, s.URL()+"/_berth/users"+path, key, body)
		require.Equal(t, status, got, answer)
	}
	ask(201, http.MethodPost, "", `{"name":"second","role":"admin"}`)
	client, err := loginTo(s, id, signer)
	require.NoError(t, err)
	require.NoError(t, client.Close())

	ask(200, http.MethodPatch, "/owner", `{"role":"reader"}`)
	_, err = loginTo(s, id, signer)
	require.Error(t, err)
}

// TestSSH_IsForNobodyWhoWasDeleted: the pods and keys that stay are the next user's of that name.
func TestSSH_IsForNobodyWhoWasDeleted(t *testing.T) {
	t.Parallel()
	s, _, id, signer, _ := gate(t)
	_, admin, err := s.CreateKey(t.Context(), control.NewKey{UserID: "second", Name: "k", Scopes: []compute.Scope{compute.ScopeAll, compute.ScopeAdmin}})
	require.NoError(t, err)
	client, err := loginTo(s, id, signer)
	require.NoError(t, err)
	require.NoError(t, client.Close())

	status, answer := call(t, http.MethodDelete, s.URL()+"/_berth/users/owner?keepResources=true", admin, "")
	require.Equal(t, 204, status, answer)
	_, err = loginTo(s, id, signer)
	require.Error(t, err)

	status, answer = call(t, http.MethodPost, s.URL()+"/_berth/users", admin, `{"name":"owner"}`)
	require.Equal(t, 201, status, answer)
	client, err = loginTo(s, id, signer)
	require.NoError(t, err)
	require.NoError(t, client.Close())
}

func TestUsers_StayAndCountAfterARestart(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), TestControls: true}
	s := start(t, c)
	owner := s.FirstKey()
	keyOf := func(user string) string {
		status, made := call(t, http.MethodPost, s.URL()+"/_berth/keys", s.ControlsKey(), `{"scopes":["all"],"user":"`+user+`"}`)
		require.Equal(t, 201, status, made)
		return made["key"].(string)
	}
	reader, gone := keyOf("reader"), keyOf("gone")
	change := func(user, body string) {
		status, answer := call(t, http.MethodPatch, s.URL()+"/_berth/users/"+user, owner, body)
		require.Equal(t, 200, status, answer)
	}
	change("reader", `{"role":"reader"}`)
	change("gone", `{"disabled":true}`)
	status, _ := call(t, http.MethodPost, s.URL()+"/_berth/reset", s.ControlsKey(), "")
	require.Equal(t, 204, status)
	require.NoError(t, s.Close())

	s = start(t, c)
	for key, want := range map[string][2]int{owner: {200, 422}, reader: {200, 403}, gone: {401, 401}} {
		status, _ := call(t, http.MethodGet, s.URL()+"/v2/pods", key, "")
		require.Equal(t, want[0], status)
		status, _ = call(t, http.MethodPost, s.URL()+"/v2/pods", key, "{}")
		require.Equal(t, want[1], status)
	}
	require.NoError(t, s.Close())
}
