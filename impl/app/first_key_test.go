package app_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
)

const chosen = "a-token.of_our~own-0123456789"

// keysOf lists the keys of a data directory.
func keysOf(t *testing.T, dir string) (all []compute.Key) {
	keys, err := app.OpenKeys(t.Context(), dir, "")
	require.NoError(t, err)
	all = keys.Keys(false)
	require.NoError(t, keys.Close())
	return all
}

func TestFirstKey_IsThatOfTheChosenToken(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := app.Config{Data: t.TempDir(), FirstKey: chosen, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for range 2 { // of a new directory, and of one that has it
		s := start(t, c)
		require.Empty(t, s.FirstKey(), "it is not shown")
		for token, want := range map[string]int{chosen: 200, chosen + "x": 401, chosen[:20]: 401} {
			status, _ := call(t, "GET", s.URL()+"/v2/pods", token, "")
			require.Equal(t, want, status, token)
		}
		status, _ := call(t, "POST", s.URL()+"/graphql", chosen, `{"query":"mutation{podStop(input:{podId:\"x\"}){id}}"}`)
		require.Equal(t, 200, status)
		require.NoError(t, s.Close())
		all := keysOf(t, c.Data)
		require.Len(t, all, 1)
		require.Equal(t, []compute.Scope{compute.ScopeAll}, all[0].Scopes)
	}

	require.NotEmpty(t, log.String())
	require.NotContains(t, log.String(), chosen)
	files, err := filepath.Glob(filepath.Join(c.Data, "*"))
	require.NoError(t, err)
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotContains(t, string(text), chosen, path)
		}
	}

	c.FirstKey = strings.ToUpper(chosen) // beside the other one
	s := start(t, c)
	for _, token := range []string{chosen, c.FirstKey} {
		status, _ := call(t, "GET", s.URL()+"/v2/pods", token, "")
		require.Equal(t, 200, status)
	}
	require.NoError(t, s.Close())
	require.Len(t, keysOf(t, c.Data), 2)
}

func TestFirstKey_ThatWasRevokedStaysSo(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), FirstKey: chosen}
	require.NoError(t, start(t, c).Close())
	keys, err := app.OpenKeys(t.Context(), c.Data, "")
	require.NoError(t, err)
	require.NoError(t, keys.Revoke(t.Context(), keys.Keys(false)[0].ID))
	require.NoError(t, keys.Close())

	s := start(t, c)
	status, _ := call(t, "GET", s.URL()+"/v2/pods", chosen, "")
	require.Equal(t, 401, status)
	require.NoError(t, s.Close())
}

func TestFirstKey_MayHaveTheFormOfOneThatIsMade(t *testing.T) {
	t.Parallel()
	token := "brt_abcdefghij_" + strings.Repeat("0", 40)
	c := app.Config{Data: t.TempDir(), FirstKey: token}
	s := start(t, c)
	status, _ := call(t, "GET", s.URL()+"/v2/pods", token, "")
	require.Equal(t, 200, status)
	require.NoError(t, s.Close())
	require.EqualValues(t, "abcdefghij", keysOf(t, c.Data)[0].ID)

	c.FirstKey = "brt_abcdefghij_" + strings.Repeat("1", 40)
	_, err := app.Start(t.Context(), c)
	require.ErrorContains(t, err, "another key has the id abcdefghij")
}

func TestReadFirstKey(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(" "+chosen+"\n"), 0o600))
	for _, value := range []string{chosen, file} {
		token, err := app.ReadFirstKey(value)
		require.NoError(t, err)
		require.Equal(t, chosen, token)
	}

	for _, wrong := range []string{"fifteen-letters", strings.Repeat("x", 201), "sixteen letters!", "sixteen-letters\n", "ключключключключ", file + "/none", "./none"} {
		_, err := app.ReadFirstKey(wrong)
		require.Error(t, err, wrong)
		require.NotContains(t, err.Error(), "letters!")
	}
	_, err := app.ReadFirstKey("fifteen-letters")
	require.ErrorContains(t, err, "from 16 to 200")
	require.NotContains(t, err.Error(), "fifteen")
	_, err = app.Start(t.Context(), app.Config{Data: t.TempDir(), FirstKey: "short"})
	require.ErrorContains(t, err, "from 16 to 200")
}
