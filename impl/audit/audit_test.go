package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

var ada = audit.Actor{User: "ada", Key: "k", Request: "r", Operation: "op", Client: "192.0.2.1"}

// rows opens a store, and gives what reads its entries, oldest first, without their numbers and times.
func rows(t *testing.T) (store.Store, func() []compute.AuditEntry) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, func() (all []compute.AuditEntry) {
		require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
			newest, _, err := tx.PageAudit(store.AuditSearch{}, compute.Page{Limit: 100})
			all = nil
			for _, e := range newest {
				e.Seq, e.At = 0, time.Time{}
				all = append([]compute.AuditEntry{e}, all...)
			}
			return err
		}))
		return all
	}
}

// did is an entry of ada's.
func did(c compute.AuditChange, kind, id string, fields ...string) compute.AuditEntry {
	return compute.AuditEntry{
		UserID: "ada", KeyID: "k", Request: "r", Operation: "op", Client: "192.0.2.1", Kind: kind, ID: id, Change: c, Fields: append([]string{}, fields...),
	}
}

func TestStore_NotesWhatAnActorChanged(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	s := audit.Store(db)
	ctx := audit.With(t.Context(), ada)
	template := compute.Template{ID: "t", UserID: "ada", Image: "a"}
	insert := func(tx store.Tx) error { return tx.InsertTemplate(template) }
	require.Error(t, s.Write(ctx, func(tx store.Tx) error { return errors.Join(insert(tx), errors.New("undone")) }))
	require.NoError(t, s.Write(ctx, insert))
	require.NoError(t, s.Write(ctx, func(tx store.Tx) error { return tx.UpdateTemplate(template) }), "which is as it was")
	template.Image, template.Env = "b", map[string]string{"SECRET": "hush"}
	require.NoError(t, s.Write(ctx, func(tx store.Tx) error { return tx.UpdateTemplate(template) }))
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteTemplate("t") }), "by the server itself")
	require.NoError(t, s.Write(ctx, func(tx store.Tx) error { return tx.DeleteTemplate("t") }), "which is not there")
	require.Equal(t, []compute.AuditEntry{did(compute.AuditCreated, "template", "t"), did(compute.AuditChanged, "template", "t", "image", "env")}, entries())
}

func TestStore_MakesOneEntryOfAThing(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	volume := compute.Volume{ID: "v", UserID: "ada", Name: "one"}
	require.NoError(t, audit.StoreOf(db, ada).Write(t.Context(), func(tx store.Tx) error {
		if err := tx.InsertVolume(volume); err != nil {
			return err
		}
		volume.Name = "two"
		return errors.Join(tx.UpdateVolume(volume), tx.SetSSHKeys("ada", []string{"ssh-ed25519 AAAA"}))
	}))
	require.NoError(t, audit.StoreOf(db, ada).Write(t.Context(), func(tx store.Tx) error {
		volume.Name = "three"
		return errors.Join(tx.UpdateVolume(volume), tx.DeleteVolume("v"))
	}))
	require.Equal(t, []compute.AuditEntry{
		did(compute.AuditCreated, "volume", "v"), did(compute.AuditChanged, "ssh-keys", "ada"), did(compute.AuditDeleted, "volume", "v"),
	}, entries())
}

func TestStore_WhatIsAsItWasHasNotChanged(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	host := compute.HostChange{ID: "h", Draining: true}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.InsertCluster(compute.Cluster{ID: "c", UserID: "ada", Name: "one"}), tx.SetHostChange(host))
	}))
	s := audit.StoreOf(db, ada)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.RenameCluster("c", "one"), tx.SetHostChange(host))
	}))
	require.Empty(t, entries())
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.RenameCluster("c", "two") }))
	require.Equal(t, []compute.AuditEntry{did(compute.AuditChanged, "cluster", "c", "name")}, entries())
}

func TestStore_NotesTheTemplatesThatLoseTheirCredential(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.InsertTemplate(compute.Template{ID: "t", UserID: "ada", RegistryID: "r"}), tx.InsertTemplate(compute.Template{ID: "other", UserID: "ada"}))
	}))
	require.NoError(t, audit.StoreOf(db, ada).Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.ForgetRegistry("r")
		return err
	}))
	require.Equal(t, []compute.AuditEntry{did(compute.AuditChanged, "template", "t", "registryId")}, entries())
}

func TestStore_TellsHostsApartThatComeGoAndDrain(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	s := audit.StoreOf(db, ada)
	for _, c := range []compute.HostChange{
		{ID: "h", Added: "{}"}, {ID: "h", Added: "{}", Draining: true}, {ID: "h"}, {ID: "f", Draining: true}, {ID: "f"}, {ID: "f", Removed: true},
	} {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.SetHostChange(c) }))
	}
	require.Equal(t, []compute.AuditEntry{
		did(compute.AuditCreated, "host", "h"), did(compute.AuditChanged, "host", "h", "draining"), did(compute.AuditDeleted, "host", "h"),
		did(compute.AuditChanged, "host", "f", "draining"), did(compute.AuditChanged, "host", "f", "draining"), did(compute.AuditDeleted, "host", "f"),
	}, entries())
}

func TestStore_NotesWhatGoesWithAnApp(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	began := time.UnixMilli(1_700_000_000_000)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(
			tx.InsertFlashApp(compute.FlashApp{ID: "a", UserID: "ada", Name: "shop", CreatedAt: began}), tx.InsertFlashEnvironment(compute.FlashEnvironment{ID: "e", AppID: "a", Name: "production", CreatedAt: began}),
			tx.InsertFlashBuild(compute.FlashBuild{ID: "b", AppID: "a", UserID: "ada", PreparedAt: began}),
		)
	}))
	require.NoError(t, audit.StoreOf(db, ada).Write(t.Context(), func(tx store.Tx) error { return tx.DeleteFlashApp("a") }))
	require.Equal(t, []compute.AuditEntry{
		did(compute.AuditDeleted, "flash-app", "a"), did(compute.AuditDeleted, "flash-environment", "e"), did(compute.AuditDeleted, "flash-build", "b"),
	}, entries())
}

func TestKinds_AreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"tx.go", "tx_resources.go"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		kinds := regexp.MustCompile(`\b(?:note|done|changed|deleted)\([^"\n]*"([a-z-]+)"`).FindAllStringSubmatch(string(text), -1)
		require.Greater(t, len(kinds), 5)
		for _, kind := range kinds {
			require.True(t, controls.AuditKind(kind[1]).Valid(), "%s: AuditKind in spec/controls.yaml has no %s", file, kind[1])
		}
	}
}

func TestStore_ResetIsTheLastThing(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	require.NoError(t, audit.StoreOf(db, ada).Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.InsertVolume(compute.Volume{ID: "v"}), tx.Clear())
	}))
	require.Equal(t, []compute.AuditEntry{did(compute.AuditDeleted, "everything", "")}, entries())
}

func TestNote_BoundsWhatAClientSends(t *testing.T) {
	t.Parallel()
	db, entries := rows(t)
	require.NoError(t, audit.Note(t.Context(), db, ada, "pod", strings.Repeat("ä", 300), compute.AuditOpened))
	require.Equal(t, []compute.AuditEntry{did(compute.AuditOpened, "pod", strings.Repeat("ä", 100))}, entries())
	require.Equal(t, "2001:db8::1", audit.Client("[2001:db8::1]:443"))
	require.Equal(t, "@", audit.Client("@"), "a socket of this machine")
}
