package graphql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

func TestUsers_SSHKeysCountAsOftenAsTheAnswerHasThem(t *testing.T) {
	t.Parallel()
	const instead = "read them with GET /v2/account/ssh-keys"
	e := open(t, nil)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error { return tx.SetSSHKeys("u", []string{megabyte["A"]}) }))
	for fields, refused := range map[string]bool{
		`myself{` + named(16, "x%d:pubKey") + `}`: false, `myself{` + named(17, "x%d:pubKey") + `}`: true, named(17, "x%d:myself{pubKey}"): true,
	} {
		_, body := e.send(`{` + fields + `}`)
		require.Equal(t, refused, strings.Contains(body, instead), fields)
		require.Equal(t, refused, strings.Contains(body, `"code":"REJECTED"`), fields)
	}
}
