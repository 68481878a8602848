package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
)

func TestSetOf_DoesAtOnceWhatAStatementDoesForEach(t *testing.T) {
	t.Parallel()
	types := []uint32{pgtype.Int8OID, pgtype.TextOID}
	for query, want := range map[string]string{
		`INSERT INTO jobs (seq, id) VALUES ($1, $2)`: `INSERT INTO jobs (seq, id) SELECT * FROM unnest($1::bigint[], $2::text[])`,
		"UPDATE jobs SET attempt = attempt + 1, id = $2\nWHERE seq = $1\nRETURNING id, (SELECT body FROM i WHERE i.seq = jobs.seq)": "UPDATE jobs SET attempt = attempt + 1, id = of_set.a2 " +
			"FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS of_set (a1, a2, nth) WHERE seq = of_set.a1 " +
			"RETURNING of_set.nth, id, (SELECT body FROM i WHERE i.seq = jobs.seq)",
		"UPDATE jobs SET id = $2 WHERE seq = $1": "UPDATE jobs SET id = of_set.a2 FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS of_set (a1, a2, nth) " +
			"WHERE seq = of_set.a1 RETURNING of_set.nth",
		"INSERT INTO jobs (seq, id) VALUES ($1, coalesce($2, ''))":           "",
		"INSERT INTO jobs (seq, id) VALUES ($1, $2) ON CONFLICT DO NOTHING":  "",
		"INSERT INTO jobs (seq, id) SELECT seq, $2 FROM jobs WHERE seq = $1": "",
		"SELECT id FROM jobs WHERE seq = $1 AND id = $2":                     "",
		"DELETE FROM jobs WHERE seq = $1 AND id = $2":                        "",
		"UPDATE counts SET waits = waits + $1":                               "",
		"WITH old AS (SELECT 1) UPDATE jobs SET id = $2 WHERE seq = $1":      "",
	} {
		text, numbered := setOf(query, types)
		require.Equal(t, want, text, query)
		require.Equal(t, len(want) > 0 && want[0] == 'U', numbered, query)
	}

	text, _ := setOf("UPDATE jobs SET x = $1 WHERE seq = $2", []uint32{pgtype.BoolOID, pgtype.Int8OID})
	require.Empty(t, text, "a type of which there are no arrays here")
}

func TestSet_RefusesAValueOfAnotherType(t *testing.T) {
	t.Parallel()
	s := &set{types: []uint32{pgtype.Int8OID, pgtype.TextOID, pgtype.ByteaOID}}
	asked := &statement{of: &pgconn.StatementDescription{SQL: "UPDATE"}}
	args, err := s.args([]*ask{{of: asked, args: []any{int64(1), "x", []byte("y")}}, {of: asked, args: []any{nil, nil, nil}}})
	require.NoError(t, err)
	one, x, y := int64(1), "x", []byte("y")
	require.Equal(t, []any{[]*int64{&one, nil}, []*string{&x, nil}, []*[]byte{&y, nil}}, args)

	_, err = s.args([]*ask{{of: asked, args: []any{"1", "x", nil}}})
	require.ErrorContains(t, err, "argument 1")
}
