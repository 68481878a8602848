package control_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

func newSecrets(t *testing.T, db store.Store, ids *compute.IDs) *control.Secrets {
	t.Helper()
	secrets, err := control.NewSecrets(t.Context(), db, ids, newSealer(t, 1))
	require.NoError(t, err)
	return secrets
}

// keeps stores a secret of the user.
func keeps(t *testing.T, secrets *control.Secrets, user compute.UserID, name, value string) compute.Secret {
	t.Helper()
	made, err := secrets.Create(t.Context(), user, control.NewSecret{Name: name, Value: value})
	require.NoError(t, err)
	return made
}

// refers is how an environment refers to a secret.
func refers(name string) string { return "{{ RUNPOD_SECRET_" + name + " }}" }

func TestSecrets_Fill_PutsValuesWhereTheyAreReferredTo(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	secrets := newSecrets(t, db, ids)
	keeps(t, secrets, "u", "one", "first")
	keeps(t, secrets, "u", "two", "second")
	keeps(t, secrets, "v", "theirs", "not yours")
	secrets = newSecrets(t, db, ids) // as another start of the server has them

	env := map[string]string{"A": refers("one") + "/" + refers("two"), "B": "plain", "C": refers("theirs"), "D": refers("ONE"), "E": refers("none")}
	filled, unknown, err := secrets.Fill(t.Context(), "u", env)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"A": "first/second", "B": "plain", "C": env["C"], "D": env["D"], "E": env["E"]}, filled)
	require.ElementsMatch(t, []string{"theirs", "ONE", "none"}, unknown)

	plain := map[string]string{"B": "plain"}
	filled, unknown, err = secrets.Fill(t.Context(), "u", plain)
	require.NoError(t, err)
	require.Equal(t, plain, filled)
	require.Empty(t, unknown)
}

func TestSecrets_Fill_IsBounded(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	secrets := newSecrets(t, db, ids)
	const half = compute.EnvironmentBytes / 2
	keeps(t, secrets, "u", "left", strings.Repeat("l", half))
	right := keeps(t, secrets, "u", "right", strings.Repeat("r", half))
	env := map[string]string{"A": refers("left"), "B": refers("right")}
	_, _, err := secrets.Fill(t.Context(), "u", env)
	require.ErrorContains(t, err, "with the secrets that it names, and a program takes at most", "each is too long for a variable")

	_, err = secrets.Update(t.Context(), "u", right.ID, control.SecretChange{Value: new(strings.Repeat("r", half+1))})
	require.NoError(t, err)
	filled, _, err := secrets.Fill(t.Context(), "u", env)
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "env: the secrets that it names have over 2097152 bytes together")
	require.Nil(t, filled)
}

func TestSecrets_NeedTheKeyThatSealedThem(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	_, err := control.NewSecrets(t.Context(), db, ids, newSealer(t, 2))
	require.NoError(t, err, "nothing is sealed yet")
	_, err = control.NewRegistries(t.Context(), db, ids, newSealer(t, 2))
	require.NoError(t, err)

	keeps(t, newSecrets(t, db, ids), "u", "one", "first")
	_, err = control.NewSecrets(t.Context(), db, ids, newSealer(t, 2))
	require.ErrorIs(t, err, control.ErrSecretKey)
	registries, err := control.NewRegistries(t.Context(), db, ids, newSealer(t, 1))
	require.NoError(t, err)
	_, err = registries.Create(t.Context(), "u", "r", compute.Login{Username: "n", Password: "p"})
	require.NoError(t, err)
	_, err = control.NewRegistries(t.Context(), db, ids, newSealer(t, 2))
	require.ErrorIs(t, err, control.ErrSecretKey)
}

func TestSecrets_Create_RefusesWhatNoSecretMayBe(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	secrets := newSecrets(t, db, ids)
	keeps(t, secrets, "u", "RUNPO", "a name that is not reserved")
	for _, name := range []string{"RUNPOD", "runpod", "Runpod_X"} {
		_, err := secrets.Create(t.Context(), "u", control.NewSecret{Name: name, Value: "v"})
		require.Equal(t, compute.Rejected, compute.CodeOf(err), name)
	}
	_, err := secrets.Create(t.Context(), "u", control.NewSecret{Name: "runpo", Value: "v"})
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	keeps(t, secrets, "v", "runpo", "of another user")

	for description, code := range map[string]compute.Code{
		strings.Repeat("d", compute.SecretDescriptionBytes): "", strings.Repeat("d", compute.SecretDescriptionBytes+1): compute.Rejected,
	} {
		_, err := secrets.Create(t.Context(), "w", control.NewSecret{Name: "one", Value: "v", Description: description})
		require.Equal(t, code, compute.CodeOf(err), len(description))
	}
	made := keeps(t, secrets, "x", "one", "v")
	_, err = secrets.Update(t.Context(), "x", made.ID, control.SecretChange{Description: new(strings.Repeat("d", compute.SecretDescriptionBytes+1))})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	changed, err := secrets.Update(t.Context(), "x", made.ID, control.SecretChange{Description: new("another")})
	require.NoError(t, err)
	require.Equal(t, "another", changed.Description)
	require.True(t, changed.ChangedAt.IsZero(), "its value is what it was")
}
