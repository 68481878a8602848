package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

func TestEnvironmentOf_FillsInSecrets(t *testing.T) {
	t.Parallel()
	env, filled := map[string]string{"A": "as it is sent"}, map[string]string{"A": "opened"}
	got, line, err := environmentOf(t.Context(), nil, "u", env)
	require.NoError(t, err)
	require.Empty(t, line)
	require.Equal(t, env, got, "there are none to be filled in")

	var unknown []string
	open := func(_ context.Context, user compute.UserID, of map[string]string) (map[string]string, []string, error) {
		require.Equal(t, compute.UserID("u"), user)
		require.Equal(t, env, of)
		return filled, unknown, nil
	}
	got, line, err = environmentOf(t.Context(), open, "u", env)
	require.NoError(t, err)
	require.Empty(t, line)
	require.Equal(t, filled, got)

	unknown = []string{"beta", "alpha"}
	got, line, err = environmentOf(t.Context(), open, "u", env)
	require.NoError(t, err)
	require.Equal(t, "there is no secret of this name, and the environment keeps what refers to it: alpha, beta", line)
	require.Equal(t, filled, got)

	for i := range 1000 {
		unknown = append(unknown, fmt.Sprintf("name%d", i))
	}
	_, line, err = environmentOf(t.Context(), open, "u", env)
	require.NoError(t, err)
	require.Len(t, line, 2000)
	require.True(t, strings.HasPrefix(line, "there is no secret of this name"))
}

func TestEnvironmentOf_SaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	strange := errors.New("strange")
	for _, c := range []struct {
		err, is error
		text    string
	}{
		{compute.Errorf(compute.Unavailable, "the store is away"), runtime.ErrUnavailable, ""},
		{&compute.Error{Code: compute.Rejected, Detail: "the key is another one", Cause: errors.New("cipher: message authentication failed")}, nil, "the key is another one"},
		{strange, strange, "strange"},
	} {
		_, _, err := environmentOf(t.Context(), func(context.Context, compute.UserID, map[string]string) (map[string]string, []string, error) {
			return nil, nil, c.err
		}, "u", nil)
		require.Error(t, err)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
		if c.text != "" {
			require.EqualError(t, err, c.text)
		}
	}
}
