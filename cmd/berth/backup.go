package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
)

func newBackupCommand() *cobra.Command {
	var o app.BackupOptions
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a backup of the database, whether a server runs on it or not",
		Long: `Write a backup of the database of a data directory: one file with everything that was acknowledged before the command was
called, verified and on disk when the command ends. A running server continues meanwhile, and no write waits. berth restore puts it back.

The backup has everything except the data of pods and volumes, and the key that encrypts registry credentials, secrets and the keys of pods
in the database. --with-key copies that key into FILE.key, which is as secret as these are. Without it, keep the file that the command
names in a safe place.

A server with --backup-to ships the database as it is written; berth backup list shows what is there.

A PostgreSQL database (--store) has backups of its own: pg_dump, or pg_basebackup.`,
		Example: `  berth backup /backups/berth.db --data /var/lib/berth
  berth backup backup.db --with-key --force --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ofFile(cmd, "pg_dump, or pg_basebackup, makes backups of it"); err != nil {
				return err
			}
			o.File = args[0]
			o.Data, _ = cmd.Flags().GetString("data")
			o.SecretKey, _ = cmd.Flags().GetString("secret-key")
			b, err := app.BackUp(cmd.Context(), o)
			if err != nil {
				return err
			}
			return printBackup(cmd, b)
		},
	}

	addSettings(cmd, cmd.Flags(), settingsNamed("data", "store", "secret-key"))
	cmd.Flags().BoolVar(&o.WithKey, "with-key", false, "copy the key that encrypts values in the database into FILE.key")
	cmd.Flags().BoolVar(&o.Force, "force", false, "replace FILE if it exists")
	cmd.AddCommand(newBackupListCommand())
	return cmd
}

func newBackupListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list PLACE",
		Short: "List what a server shipped to a folder or to S3",
		Long: `List the generations that servers with --backup-to shipped to a place, a folder or s3://BUCKET/PREFIX: each begins with the start of a server.
The database can be restored as it was at any moment between FROM and TO.`,
		Example: `  berth backup list s3://backups/berth
  berth backup list /mnt/backups/berth --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			endpoint, _ := cmd.Flags().GetString("backup-endpoint")
			all, err := app.ListBackups(cmd.Context(), args[0], endpoint)
			if err != nil {
				return err
			}
			if asJSON(cmd) {
				return printJSON(cmd, all)
			}
			return printTable(cmd, generationColumns, all)
		},
	}
	addSettings(cmd, cmd.Flags(), settingsNamed("backup-endpoint"))
	return cmd
}

var generationColumns = []column[*app.Generation]{
	{head: "GENERATION", value: func(g *app.Generation) string { return g.Name }},
	{head: "FROM", value: func(g *app.Generation) string { return instant(g.From) }},
	{head: "TO", value: func(g *app.Generation) string { return instant(g.To) }},
	{head: "SEGMENTS", value: func(g *app.Generation) string { return strconv.Itoa(g.Segments) }},
	{head: "MISSING", value: func(g *app.Generation) string { return strconv.Itoa(len(g.Missing)) }},
	{head: "BYTES", value: func(g *app.Generation) string { return strconv.FormatInt(g.Bytes, 10) }},
	{head: "KEY", value: func(g *app.Generation) string { return strconv.FormatBool(g.HasKey) }},
}

// instant writes a time; - stands for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// ofFile refuses what the settings keep in PostgreSQL.
func ofFile(cmd *cobra.Command, instead string) error {
	if url, _ := cmd.Flags().GetString("store"); url != "" {
		return misuse(errors.New("the settings name a PostgreSQL database: "+instead), "without --store it is the database of the data directory")
	}
	return nil
}

func printBackup(cmd *cobra.Command, b app.Backup) error {
	if asJSON(cmd) {
		return printJSON(cmd, b)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s has a backup of %d bytes, of version %d of the schema.\n", b.File, b.Bytes, b.Schema)
	switch {
	case b.KeyFile != "":
		fmt.Fprintf(out, "%s has the key of what is encrypted in it: both together are as secret as that is.\n", b.KeyFile)
	case b.SecretKey != "":
		fmt.Fprintf(out, "It needs the key in %s for what is encrypted in it: keep a copy of that too, or use --with-key.\n", b.SecretKey)
	}
	return nil
}

func newRestoreCommand() *cobra.Command {
	var o app.RestoreOptions
	var at string
	cmd := &cobra.Command{
		Use:   "restore FILE|PLACE",
		Short: "Replace the database of a data directory by a backup",
		Long: `Replace the database of a data directory by a backup that berth backup wrote. The directory is created if it is missing, and no server may
run on it. The backup is verified first: one that is damaged, or that a newer berth wrote, is refused. The next start of a server upgrades
an older one.

What a server shipped with --backup-to is restored from its PLACE, a folder or s3://BUCKET/PREFIX, as it was at the last moment that is there, or
at --at. Every checksum is verified. If something is missing or damaged, the command refuses, and says up to which moment it can restore.

FILE.key, if it exists, or the key that was shipped, becomes the key of the data directory. If there is a database or another key already, use --force: it
renames them, with .replaced at the end, and the next restore removes those.

Everything is as it was when the backup was made: keys that were revoked since then are valid again. Pods and workers that the backup does not
know are removed when a server starts on their machine. A server finds its containers and volumes by the name in the file runtime-owner: in another
data directory than before, put that file there before the start.`,
		Example: `  berth restore /backups/berth.db --data /var/lib/berth
  berth restore s3://backups/berth --data /var/lib/berth --at 2026-11-23T10:00:00Z
  berth restore backup.db --force --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ofFile(cmd, "pg_restore restores what pg_dump made"); err != nil {
				return err
			}
			o.File = args[0]
			o.Data, _ = cmd.Flags().GetString("data")
			o.SecretKey, _ = cmd.Flags().GetString("secret-key")
			o.Endpoint, _ = cmd.Flags().GetString("backup-endpoint")
			if at != "" {
				var err error
				if o.At, err = time.Parse(time.RFC3339, at); err != nil {
					return misuse(fmt.Errorf("--at %q is no time such as 2026-11-23T10:00:00Z", at), "")
				}
			}
			r, err := app.Restore(cmd.Context(), o)
			if errors.Is(err, app.ErrOneMoment) {
				return misuse(err, "")
			}
			if err != nil {
				return err
			}
			return printRestored(cmd, o, r)
		},
	}

	addSettings(cmd, cmd.Flags(), settingsNamed("data", "store", "secret-key", "backup-endpoint"))
	cmd.Flags().StringVar(&at, "at", "", "of what was shipped: as it was at the last moment before this time, such as 2026-11-23T10:00:00Z")
	cmd.Flags().StringVar(&o.Generation, "generation", "", "of what was shipped: the generation of berth backup list; the last one without it")
	cmd.Flags().BoolVar(&o.Force, "force", false, "rename a database and a key that are there already")
	return cmd
}

func printRestored(cmd *cobra.Command, o app.RestoreOptions, r app.Restored) error {
	if asJSON(cmd) {
		if r.Replaced == nil {
			r.Replaced = []string{}
		}
		return printJSON(cmd, r)
	}

	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s is restored from %s.\n", r.Database, o.File)
	if s := r.Shipped; s != nil {
		fmt.Fprintf(out, "All that was acknowledged before %s is in it, of generation %s; what came after is not.\n", instant(s.Upto), s.Generation)
		if len(s.Later) > 0 {
			fmt.Fprintf(out, "Nothing is in it of %s: what began later, and has no base.\n", join(s.Later))
		}
		if s.KeyDamaged != "" {
			fmt.Fprintf(out, "The key that was shipped, %s, cannot be read: %s must be the key of the server that shipped.\n", s.KeyDamaged, r.SecretKey)
		}
		if len(s.Damaged) > 0 {
			fmt.Fprintf(out, "What cannot be read, and was not needed for that: %s.\n", join(s.Damaged))
		}
	}

	if r.Schema < r.Program {
		fmt.Fprintf(out, "Its schema is version %d: the next start of a server brings it to %d.\n", r.Schema, r.Program)
	}
	if len(r.Replaced) > 0 {
		fmt.Fprintf(out, "What was there is in %s.\n", join(r.Replaced))
	}

	if !r.HasKey {
		fmt.Fprintf(out, "%s is missing: put it there before the start if the backup has credentials, secrets or pods.\n", r.SecretKey)
	}
	if r.MissingOwner != "" {
		fmt.Fprintf(out, "%s is missing: copy it from the data directory of before, or the server finds neither the containers nor the volumes of these pods.\n", r.MissingOwner)
	}
	return nil
}
