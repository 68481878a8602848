package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
)

func newMigrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Copy everything from one database into an empty one",
		Long: `Copy everything from one database into an empty one, be it from SQLite to PostgreSQL or the other way, read it back and
compare it by the number of rows and a checksum of each table. The source is not changed.

A database is the URL of a PostgreSQL database, a data directory, or a SQLite file, such as a backup. The password of a URL is
never on the command line: PostgreSQL's own PGPASSWORD, PGPASSFILE and ~/.pgpass have it.

No server may use either of them. The source must be of this version of berth: start its server once after an upgrade. The
target must be empty; a SQLite file must not be there. If the command is cut off, the target is empty still.

secret.key, which opens what is sealed in the database, is not in it: copy it into the data directory of each server that is
to use the target.`,
		Example: `  berth migrate --from /var/lib/berth --to 'postgres://berth@db.internal/berth?sslmode=verify-full'
  berth migrate --from postgres://berth@db.internal/berth --to /var/lib/berth --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var places [2]app.Location
			for i, flag := range []string{"from", "to"} {
				text, _ := cmd.Flags().GetString(flag)
				var err error
				if places[i], err = app.ParseLocation(text); err != nil {
					return misuse(fmt.Errorf("--%s: %w", flag, err), "")
				}
			}
			return migrate(cmd, places[0], places[1])
		},
	}

	cmd.Flags().String("from", "", "what to copy: a data directory, a database file, or postgres://user@host/database")
	cmd.Flags().String("to", "", "where to: an empty database, or a file or directory that is created; a path that ends in .db is a file")
	return cmd
}

var copiedColumns = []column[app.CopiedTable]{
	{head: "TABLE", value: func(t app.CopiedTable) string { return t.Table }},
	{head: "ROWS", value: func(t app.CopiedTable) string { return textOf(t.Rows) }},
	{head: "CHECKSUM", value: func(t app.CopiedTable) string { return t.Checksum[:16] }},
}

// migrate copies, and reports what came.
func migrate(cmd *cobra.Command, from, to app.Location) error {
	p := newProgress(cmd)
	tables, err := app.Migrate(cmd.Context(), from, to, func(table string, rows int64) {
		p.say(fmt.Sprintf("%s: %d rows", table, rows))
	})
	p.clear()
	if err != nil {
		return err
	}

	var rows int64
	for _, t := range tables {
		rows += t.Rows
	}
	if asJSON(cmd) {
		return printJSON(cmd, map[string]any{"tables": tables, "rows": rows, "secretKey": from.SecretKey()})
	}

	key := "secret.key, which is in the data directory of each server that used the source,"
	if path := from.SecretKey(); path != "" {
		key = path
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "\n%d rows in %d tables were copied from %s to %s, read back and compared.\n", rows, len(tables), from, to)
	fmt.Fprintf(text, "Copy %s into the data directory of each server that is to use the target: it is not in the database, and what is sealed there needs it.\n", key)
	if err := printTable(cmd, copiedColumns, tables); err != nil {
		return err
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
