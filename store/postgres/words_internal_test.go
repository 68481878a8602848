package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestStatement_NumbersItsArguments(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"SELECT 1":                              "SELECT 1",
		"UPDATE a SET b = ?, c = ? WHERE d = ?": "UPDATE a SET b = $1, c = $2 WHERE d = $3",
		"SELECT a FROM b WHERE c = ?2 AND d = ?1 AND e = ?2":            "SELECT a FROM b WHERE c = $2 AND d = $1 AND e = $2",
		"SELECT a FROM jobs INDEXED BY jobs_open_or_failed WHERE b = ?": "SELECT a FROM jobs  WHERE b = $1",
		"SELECT a FROM jobs INDEXED BY jobs_open WHERE b = ?":           "SELECT a FROM jobs  WHERE b = $1",
		"SELECT a FROM b WHERE ended_at IS ? AND c = ?":                 "SELECT a FROM b WHERE ended_at IS NOT DISTINCT FROM $1 AND c = $2",
		"UPDATE charges SET began_at = max(began_at, ?1) + ?2":          "UPDATE charges SET began_at = greatest(began_at, $1) + $2",
		"SELECT max(?, coalesce(max(seq), 0) + 1), ? FROM webhooks":     "SELECT greatest($1, coalesce(max(seq), 0) + 1), $2 FROM webhooks",
		"SELECT a FROM b WHERE declared AND c = ?":                      "SELECT a FROM b WHERE declared <> 0 AND c = $1",
	} {
		require.Equal(t, want, dialect{}.Statement(query))
	}
}

func TestIsUnique_GoesByTheCode(t *testing.T) {
	t.Parallel()
	require.True(t, dialect{}.IsUnique(fmt.Errorf("insert: %w", &pgconn.PgError{Code: "23505"})))
	require.False(t, dialect{}.IsUnique(&pgconn.PgError{Code: "23503"}))
	require.False(t, dialect{}.IsUnique(errors.New("23505")))
	require.False(t, dialect{}.IsUnique(nil))
}

func TestRefusable_AreStatementsThatAUniqueValueMayRefuse(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"INSERT INTO keys (id) VALUES ($1)": true, "INSERT INTO jobs (seq) VALUES ($1)": true, "UPDATE pods SET a = $1": true, "UPDATE endpoints SET a = $1": true, "UPDATE secrets SET a = $1": true,
		"INSERT INTO chunks (n) VALUES ($1)": false, "INSERT INTO job_inputs (seq) VALUES ($1)": false, "INSERT INTO webhooks (seq) SELECT 1": false,
		"UPDATE jobs SET a = $1": false, "UPDATE podsx SET a = $1": false, "DELETE FROM pods": false, "SELECT 1": false,
	} {
		require.Equal(t, want, refusable(query), query)
	}
}

func TestTroubleOf_GoesByTheCodeOrItsClass(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]store.Trouble{
		"53100": store.Full, "53200": store.Away, "53300": store.Away, "08006": store.Away, "57P03": store.Away, "57014": store.Away, "25006": store.Away,
		"58030": store.Failing, "XX001": store.Failing, "40001": store.Locked, "40P01": store.Locked, "55P03": store.Locked, "55006": "", "23505": "", "42601": "", "25P02": "",
	} {
		err := fmt.Errorf("write: %w", &pgconn.PgError{Code: code})
		require.Equal(t, want, troubleOf(err), code)
		require.Equal(t, want, store.TroubleOf(reported(err)), code)
		if want == "" {
			require.Same(t, err, reported(err), "it is no trouble")
		}
	}
	require.Empty(t, troubleOf(nil))
	require.NoError(t, reported(nil))
	require.Equal(t, store.Moved, troubleOf(fmt.Errorf("begin: %w", errMoved)))
	require.Equal(t, store.Away, troubleOf(driver.ErrBadConn))
	require.Equal(t, store.Away, troubleOf(sql.ErrConnDone))

	own := compute.Errorf(compute.NotFound, "no")
	require.Same(t, own, reported(own))
	wrapped := &compute.Error{Code: compute.Conflict, Cause: &pgconn.PgError{Code: "40001"}}
	require.Same(t, wrapped, reported(wrapped), "what says what it is, is left as it is")
	canceled := &awayError{context.Canceled}
	require.Same(t, canceled, reported(canceled), "who asked has gone")
}

func TestValue_GivesWhatSqldbReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ of, want any }{
		{nil, nil}, {int64(7), int64(7)}, {1.5, 1.5}, {"text", "text"}, {mark + "00", "\x00"}, {int32(-3), int64(-3)}, {true, int64(1)}, {false, int64(0)},
		{pgtype.Numeric{Int: big.NewInt(12), Valid: true}, int64(12)}, {pgtype.Numeric{Int: big.NewInt(12), Exp: 2, Valid: true}, int64(1200)},
	} {
		got, err := value(c.of)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	got, err := value([]byte("b"))
	require.NoError(t, err)
	require.Equal(t, []byte("b"), got)
	for _, v := range []any{int16(1), time.Time{}, pgtype.Numeric{Int: big.NewInt(15), Exp: -1, Valid: true}, mark + "zz"} {
		_, err := value(v)
		require.Error(t, err, "%v", v)
	}
}

func TestStored_KeepsOnlyTextsThatPostgreSQLCannotHold(t *testing.T) {
	t.Parallel()
	args := []driver.NamedValue{{Value: int64(1)}, {Value: "plain"}, {Value: "a\x00b"}, {Value: []byte("a\x00b")}, {Value: nil}}
	require.Equal(t, []any{int64(1), "plain", "a" + mark + "00b", []byte("a\x00b"), nil}, stored(args))
	require.Equal(t, "\x00", args[2].Value.(string)[1:2], "what was given stays")
}

func TestParse_SetsHowConnectionsAreOpened(t *testing.T) {
	t.Parallel()
	config, err := parse("postgres://berth:hunter2@one:5433/jobs?sslmode=prefer")
	require.NoError(t, err)
	require.EqualValues(t, 1, hosts(config), "with TLS and without it is one host")
	require.Equal(t, connectTimeout, config.ConnectTimeout)
	require.Equal(t, "postgres://one:5433/jobs", nameOf(config))
	for name, want := range map[string]string{
		"application_name": "berth", "synchronous_commit": "on", "statement_timeout": statementTimeout, "idle_in_transaction_session_timeout": idleTimeout, "timezone": "UTC",
	} {
		require.Equal(t, want, config.RuntimeParams[name], name)
	}

	config, err = parse("postgres://berth@/jobs?host=one,two,one&port=5432,5432,5433&sslmode=disable")
	require.NoError(t, err)
	require.EqualValues(t, 3, hosts(config))
	require.Equal(t, connectTimeout/3, config.ConnectTimeout, "all of them are tried within the time for one")
}

func TestCheck_RefusesWhatIsNoURLAndSaysNothingOfIt(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://u@h/d", "postgresql://u:p@h:5432/d?sslmode=disable", "postgres:///d?host=/tmp"} {
		require.NoError(t, Check(url), url)
	}
	for _, url := range []string{"", "hunter2", "mysql://u:hunter2@h/d", "host=h password=hunter2", "postgres:/u:hunter2@h/d", "postgres://u:hunter2@h:port/d", "postgres://u:hunter2@h/d?sslmode=never"} {
		err := Check(url)
		require.ErrorIs(t, err, errNoURL, url)
		require.NotContains(t, err.Error(), "hunter2")
		_, err = parse(url)
		require.ErrorIs(t, err, errNoURL)
	}
}
