package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

func TestTroubleOf_EndedConnectionIsAway(t *testing.T) {
	t.Parallel()
	idle := &pgconn.PgError{Code: "25P03"} // a transaction that did nothing for too long
	require.Equal(t, store.Away, troubleOf(&awayError{idle}))
	require.Empty(t, troubleOf(idle))
	require.Equal(t, store.Away, troubleOf(&pgconn.PgError{Code: "57P01"}))
	require.Equal(t, store.Full, troubleOf(&awayError{&pgconn.PgError{Code: "53100"}}))
	require.Empty(t, troubleOf(errors.New("another")))
}
