package berth_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestUsers_AreMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	made, err := s.CreateUser(t.Context(), "auditor", "reader")
	require.NoError(t, err)
	require.EqualValues(t, "reader", made.Role)
	_, err = s.CreateUser(t.Context(), "auditor", "member")
	require.ErrorContains(t, err, "already")
	_, err = s.CreateUser(t.Context(), "other", "guest")
	require.ErrorContains(t, err, "/role")

	_, err = s.NewUserKey(t.Context(), "auditor", "rest:write")
	require.ErrorContains(t, err, "does not allow the scope rest:write")
	key, err := s.NewUserKey(t.Context(), "auditor", "all")
	require.NoError(t, err)
	asked := func(method, path, body string) int {
		status, _ := send(t, method, s.URL()+path, key, body)
		return status
	}
	require.Equal(t, 200, asked("GET", "/v2/pods", ""))
	require.Equal(t, 403, asked("POST", "/v2/global-volumes", `{"name":"v"}`))

	_, err = s.SetUserRole(t.Context(), "auditor", "member")
	require.NoError(t, err)
	require.Equal(t, 201, asked("POST", "/v2/global-volumes", `{"name":"v"}`))
	changed, err := s.DisableUser(t.Context(), "auditor")
	require.NoError(t, err)
	require.True(t, changed.Disabled)
	require.Equal(t, 401, asked("GET", "/v2/pods", ""))
	_, err = s.EnableUser(t.Context(), "auditor")
	require.NoError(t, err)
	require.Equal(t, 200, asked("GET", "/v2/pods", ""))
	_, err = s.SetUserRole(t.Context(), "owner", "member")
	require.ErrorContains(t, err, "the last admin")

	require.ErrorContains(t, s.DeleteUser(t.Context(), "auditor", false), "1 global volume")
	require.NoError(t, s.DeleteUser(t.Context(), "auditor", true))
	users, err := s.Users(t.Context())
	require.NoError(t, err)
	require.Len(t, users, 1)
	require.Equal(t, "owner", users[0].Name)
}

func TestUsers_OfASeedHaveTheirRolesAgainAfterAReset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(path, []byte("users:\n- {name: auditor, role: reader}\n- {name: gone, disabled: true}\n"), 0o600))
	s := berthtest.Start(t, berth.Options{Seed: path})

	roles := func() map[string]string {
		users, err := s.Users(t.Context())
		require.NoError(t, err)
		all := map[string]string{}
		for _, u := range users {
			if all[u.Name] = string(u.Role); u.Disabled {
				all[u.Name] += ", disabled"
			}
		}
		return all
	}
	planted := map[string]string{"owner": "admin", "auditor": "reader", "gone": "member, disabled"}
	require.Equal(t, planted, roles())
	_, err := s.SetUserRole(t.Context(), "auditor", "admin")
	require.NoError(t, err)
	require.NoError(t, s.DeleteUser(t.Context(), "gone", false))
	require.NoError(t, s.Reset(t.Context()))
	require.Equal(t, planted, roles())
}
