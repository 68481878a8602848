package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestContract_OfTheServerIsForWhoNamesNone(t *testing.T) {
	t.Parallel()
	s, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Contract: "public"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	wanted := app.NewKey("strict", []string{"all"}, false, 0)
	wanted.Contract = "2.0.0"
	_, strict, err := s.CreateKey(t.Context(), wanted)
	require.NoError(t, err)

	edition := func(key, header string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v2/pods", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		if header != "" {
			r.Header.Set("Berth-Contract", header)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
		return answer.Header.Get("Berth-Contract")
	}
	require.Equal(t, "public-2026-10", edition(s.FirstKey(), ""))
	require.Equal(t, "2.0.0", edition(strict, ""))
	require.Equal(t, "public-2026-10", edition(strict, "public"))
	require.Equal(t, "2.0.0", edition(s.FirstKey(), "2.0.0"))

	_, err = app.Start(t.Context(), app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Contract: "1.0.0"})
	require.ErrorContains(t, err, `contract "1.0.0": it must be 2.0.0, public-2026-10 or public`)
}
