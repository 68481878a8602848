package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

func sshKeys(t *testing.T, open Open) {
	s, _ := begin(t, open)
	get := func() []string {
		return read(t, s, func(tx store.Tx) ([]string, error) { return tx.SSHKeys("u") })
	}
	require.Empty(t, get())
	for _, lines := range [][]string{{"b", "a"}, {"ssh-rsa A \"x\""}, nil} {
		write(t, s, func(tx store.Tx) error { return tx.SetSSHKeys("u", lines) })
		require.Equal(t, lines, get())
	}
	write(t, s, func(tx store.Tx) error { return tx.SetSSHKeys("v", []string{"c"}) })
	require.Empty(t, get())
}
