package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/transfer"
)

func everything(t *testing.T, open Open) {
	s, _ := begin(t, open)
	login := []byte{0, 255}
	write(t, s, func(tx store.Tx) error {
		return tx.InsertRegistry(compute.Registry{ID: "r", UserID: "u", Name: "a\x00b", Login: login, CreatedAt: tx.Wall()})
	})

	rows := read(t, s, func(tx store.Tx) (rows [][]any, err error) {
		for row, err := range tx.Rows(transfer.Table{Name: "registries", Columns: []transfer.Column{{Name: "created_at"}, {Name: "id"}, {Name: "login"}, {Name: "name"}}}) {
			if err != nil {
				return nil, err
			}
			rows = append(rows, append([]any{}, row...))
		}
		return rows, nil
	})
	require.Equal(t, [][]any{{start.UnixMilli(), "r", login, "a\x00b"}}, rows)

	write(t, s, func(tx store.Tx) error {
		_, found, err := tx.TakeState()
		require.False(t, found, "it is none")
		return err
	})
}
