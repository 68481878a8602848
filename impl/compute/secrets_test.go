package compute_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"TOKEN": "{{ RUNPOD_SECRET_hf.token/a-b }}", "TIGHT": "{{RUNPOD_SECRET_one}}", "MIXED": "a{{ RUNPOD_SECRET_one }}b{{ RUNPOD_SECRET_none }}",
		"PLAIN": "RUNPOD_SECRET_one", "WRONG": "{{ RUNPOD_SECRET_1 }}",
	}

	t.Run("the names that an environment refers to", func(t *testing.T) {
		t.Parallel()
		names := compute.SecretNames(env)
		slices.Sort(names)
		require.Equal(t, []string{"hf.token/a-b", "none", "one"}, names)
	})

	t.Run("values take the place of references, and nothing else changes", func(t *testing.T) {
		t.Parallel()
		filled, err := compute.FillSecrets(env, map[string]string{"hf.token/a-b": "t", "one": "{{ RUNPOD_SECRET_none }}$1"})
		require.NoError(t, err)
		require.Equal(t, map[string]string{
			"TOKEN": "t", "TIGHT": "{{ RUNPOD_SECRET_none }}$1", "MIXED": "a{{ RUNPOD_SECRET_none }}$1b{{ RUNPOD_SECRET_none }}",
			"PLAIN": "RUNPOD_SECRET_one", "WRONG": "{{ RUNPOD_SECRET_1 }}",
		}, filled)
	})

	t.Run("a variable that no program can be started with is refused by name", func(t *testing.T) {
		t.Parallel()
		one := map[string]string{"A": "{{ RUNPOD_SECRET_one }}"}
		_, err := compute.FillSecrets(one, map[string]string{"one": strings.Repeat("x", compute.VariableBytes-2)})
		require.NoError(t, err)
		_, err = compute.FillSecrets(one, map[string]string{"one": strings.Repeat("x", compute.VariableBytes-1)})
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, "env: A has 131072 bytes")
	})

	t.Run("an environment that no program can be started with is refused before it is made", func(t *testing.T) {
		t.Parallel()
		values := map[string]string{"one": strings.Repeat("x", 100_000)}
		_, err := compute.FillSecrets(map[string]string{"A": strings.Repeat("{{RUNPOD_SECRET_one}}", 50_000)}, values)
		require.ErrorContains(t, err, "env: A has 5000000002 bytes")

		many := map[string]string{}
		for i := range 21 {
			many[strings.Repeat("A", i+1)] = "{{RUNPOD_SECRET_one}}"
		}
		_, err = compute.FillSecrets(many, values)
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, "env: it has over 2097152 bytes")
	})
}
