package sqldb

import (
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	flashAppColumns = columns[compute.FlashApp]{
		text("id", func(a *compute.FlashApp) *compute.FlashAppID { return &a.ID }),
		text("user_id", func(a *compute.FlashApp) *compute.UserID { return &a.UserID }),
		text("name", func(a *compute.FlashApp) *string { return &a.Name }),
		instant("created_at", func(a *compute.FlashApp) *time.Time { return &a.CreatedAt }),
	}
	flashEnvironmentColumns = columns[compute.FlashEnvironment]{
		text("id", func(e *compute.FlashEnvironment) *compute.FlashEnvironmentID { return &e.ID }),
		text("app_id", func(e *compute.FlashEnvironment) *compute.FlashAppID { return &e.AppID }),
		text("name", func(e *compute.FlashEnvironment) *string { return &e.Name }),
		text("build_id", func(e *compute.FlashEnvironment) *compute.FlashBuildID { return &e.BuildID }),
		instant("created_at", func(e *compute.FlashEnvironment) *time.Time { return &e.CreatedAt }),
	}

	insertFlashApp          = flashAppColumns.insert("flash_apps")
	selectFlashApp          = `SELECT ` + flashAppColumns.list() + ` FROM flash_apps WHERE id = ?`
	selectFlashApps         = `SELECT ` + flashAppColumns.list() + ` FROM flash_apps WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	insertFlashEnvironment  = flashEnvironmentColumns.insert("flash_environments")
	selectFlashEnvironment  = `SELECT ` + flashEnvironmentColumns.list() + ` FROM flash_environments WHERE id = ?`
	selectFlashEnvironments = `SELECT ` + flashEnvironmentColumns.list() + ` FROM flash_environments WHERE app_id = ? ORDER BY created_at DESC, seq DESC`
)

const (
	setFlashEnvironmentBuild = `UPDATE flash_environments SET build_id = ? WHERE id = ?`
	deleteFlashEnvironment   = `DELETE FROM flash_environments WHERE id = ?`
)

// deletesFlashApp remove an app with all that it has.
var deletesFlashApp = []string{
	`DELETE FROM flash_builds WHERE app_id = ?`, `DELETE FROM flash_environments WHERE app_id = ?`, `DELETE FROM flash_apps WHERE id = ?`,
}

// InsertFlashApp stores a new app. Conflict when the id is taken, or the user's name.
func (tx *Tx) InsertFlashApp(a compute.FlashApp) error {
	_, err := tx.exec("insert flash app "+string(a.ID), insertFlashApp, flashAppColumns.values(tx.args(), &a)...)
	return err
}

// FlashApp gives one app. NotFound for an unknown id.
func (tx *Tx) FlashApp(id compute.FlashAppID) (compute.FlashApp, error) {
	a, found, err := get(tx, "read flash app "+string(id), flashAppColumns, selectFlashApp, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "flash app %q does not exist", id)
	}
	return a, err
}

// ListFlashApps gives the user's apps, newest first.
func (tx *Tx) ListFlashApps(user compute.UserID) ([]compute.FlashApp, error) {
	return list(tx, "list flash apps", flashAppColumns, selectFlashApps, string(user))
}

// DeleteFlashApp removes the app with its environments and builds, known or not.
func (tx *Tx) DeleteFlashApp(id compute.FlashAppID) error {
	for _, statement := range deletesFlashApp {
		if _, err := tx.exec("delete flash app "+string(id), statement, string(id)); err != nil {
			return err
		}
	}
	return nil
}

// InsertFlashEnvironment stores a new environment. Conflict when the id is taken, or the app's name.
func (tx *Tx) InsertFlashEnvironment(e compute.FlashEnvironment) error {
	_, err := tx.exec("insert flash environment "+string(e.ID), insertFlashEnvironment, flashEnvironmentColumns.values(tx.args(), &e)...)
	return err
}

// FlashEnvironment gives one environment. NotFound for an unknown id.
func (tx *Tx) FlashEnvironment(id compute.FlashEnvironmentID) (compute.FlashEnvironment, error) {
	e, found, err := get(tx, "read flash environment "+string(id), flashEnvironmentColumns, selectFlashEnvironment, string(id))
	if err == nil && !found {
		err = noFlashEnvironment(id)
	}
	return e, err
}

// ListFlashEnvironments gives the app's environments, newest first.
func (tx *Tx) ListFlashEnvironments(app compute.FlashAppID) ([]compute.FlashEnvironment, error) {
	return list(tx, "list environments of "+string(app), flashEnvironmentColumns, selectFlashEnvironments, string(app))
}

// SetFlashEnvironmentBuild writes which build runs there. NotFound for an unknown id.
func (tx *Tx) SetFlashEnvironmentBuild(id compute.FlashEnvironmentID, build compute.FlashBuildID) error {
	ok, err := tx.changed("set build of "+string(id), setFlashEnvironmentBuild, string(build), string(id))
	if err == nil && !ok {
		err = noFlashEnvironment(id)
	}
	return err
}

// DeleteFlashEnvironment removes the environment, known or not.
func (tx *Tx) DeleteFlashEnvironment(id compute.FlashEnvironmentID) error {
	_, err := tx.exec("delete flash environment "+string(id), deleteFlashEnvironment, string(id))
	return err
}

func noFlashEnvironment(id compute.FlashEnvironmentID) error {
	return compute.Errorf(compute.NotFound, "flash environment %q does not exist", id)
}

var (
	flashBuildFixed = columns[compute.FlashBuild]{
		text("id", func(b *compute.FlashBuild) *compute.FlashBuildID { return &b.ID }),
		text("app_id", func(b *compute.FlashBuild) *compute.FlashAppID { return &b.AppID }),
		text("user_id", func(b *compute.FlashBuild) *compute.UserID { return &b.UserID }),
		whole("size", func(b *compute.FlashBuild) *int64 { return &b.Size }),
		instant("prepared_at", func(b *compute.FlashBuild) *time.Time { return &b.PreparedAt }),
	}
	flashBuildMoves = columns[compute.FlashBuild]{
		instant("received_at", func(b *compute.FlashBuild) *time.Time { return &b.ReceivedAt }),
		instant("created_at", func(b *compute.FlashBuild) *time.Time { return &b.CreatedAt }),
	}
	flashBuildColumns = all(flashBuildFixed, flashBuildMoves)
	flashManifest     = columns[json.RawMessage]{blob("manifest", itself[json.RawMessage])}
	flashBuildID      = columns[compute.FlashBuildID]{text("id", itself[compute.FlashBuildID])}

	insertFlashBuild    = flashBuildColumns.insert("flash_builds")
	selectFlashBuild    = `SELECT ` + flashBuildColumns.list() + ` FROM flash_builds WHERE id = ?`
	selectFlashManifest = `SELECT ` + flashManifest.list() + ` FROM flash_builds WHERE id = ?`
	selectFlashBuilds   = `SELECT ` + flashBuildColumns.list() + ` FROM flash_builds WHERE app_id = ? ORDER BY prepared_at DESC, seq DESC`
	selectFlashBuildsOf = `SELECT ` + flashBuildColumns.list() + ` FROM flash_builds WHERE user_id = ? ORDER BY prepared_at DESC, seq DESC`
	selectFlashBuildIDs = `SELECT ` + flashBuildID.list() + ` FROM flash_builds`
	updateFlashBuild    = `UPDATE flash_builds SET ` + flashBuildMoves.set() + ` WHERE id = ?`
	setFlashManifest    = `UPDATE flash_builds SET ` + flashManifest.set() + ` WHERE id = ?`
)

const (
	deleteFlashBuild   = `DELETE FROM flash_builds WHERE id = ?`
	deleteFlashUploads = `DELETE FROM flash_builds WHERE seq IN (SELECT seq FROM flash_builds WHERE created_at IS NULL AND prepared_at < ? ORDER BY seq LIMIT ?)`
)

// InsertFlashBuild stores a new upload. Conflict when the id is taken.
func (tx *Tx) InsertFlashBuild(b compute.FlashBuild) error {
	_, err := tx.exec("insert flash build "+string(b.ID), insertFlashBuild, flashBuildColumns.values(tx.args(), &b)...)
	return err
}

// FlashBuild gives one build. NotFound for an unknown id.
func (tx *Tx) FlashBuild(id compute.FlashBuildID) (compute.FlashBuild, error) {
	b, found, err := get(tx, "read flash build "+string(id), flashBuildColumns, selectFlashBuild, string(id))
	if err == nil && !found {
		err = noFlashBuild(id)
	}
	return b, err
}

// FlashManifest gives the manifest of a build, nil if it has none. NotFound for an unknown id.
func (tx *Tx) FlashManifest(id compute.FlashBuildID) (json.RawMessage, error) {
	manifest, found, err := get(tx, "read manifest of "+string(id), flashManifest, selectFlashManifest, string(id))
	if err == nil && !found {
		err = noFlashBuild(id)
	}
	return manifest, err
}

// ListFlashBuilds gives the app's builds and uploads, newest first.
func (tx *Tx) ListFlashBuilds(app compute.FlashAppID) ([]compute.FlashBuild, error) {
	return list(tx, "list flash builds of "+string(app), flashBuildColumns, selectFlashBuilds, string(app))
}

// ListFlashBuildsOf gives those of the user's apps, newest first.
func (tx *Tx) ListFlashBuildsOf(user compute.UserID) ([]compute.FlashBuild, error) {
	return list(tx, "list flash builds of a user", flashBuildColumns, selectFlashBuildsOf, string(user))
}

// FlashBuildIDs gives the ids of all, in no order.
func (tx *Tx) FlashBuildIDs() ([]compute.FlashBuildID, error) {
	return list(tx, "list ids of flash builds", flashBuildID, selectFlashBuildIDs)
}

// UpdateFlashBuild writes ReceivedAt and CreatedAt. NotFound for an unknown id.
func (tx *Tx) UpdateFlashBuild(b compute.FlashBuild) error {
	return tx.ofFlashBuild(b.ID, updateFlashBuild, flashBuildMoves.values(tx.args(), &b, string(b.ID)))
}

// SetFlashManifest replaces the manifest. NotFound for an unknown id.
func (tx *Tx) SetFlashManifest(id compute.FlashBuildID, manifest json.RawMessage) error {
	return tx.ofFlashBuild(id, setFlashManifest, flashManifest.values(tx.args(), &manifest, string(id)))
}

func (tx *Tx) ofFlashBuild(id compute.FlashBuildID, statement string, args []any) error {
	ok, err := tx.changed("update flash build "+string(id), statement, args...)
	if err == nil && !ok {
		err = noFlashBuild(id)
	}
	return err
}

// DeleteFlashBuild removes the build, known or not.
func (tx *Tx) DeleteFlashBuild(id compute.FlashBuildID) error {
	_, err := tx.exec("delete flash build "+string(id), deleteFlashBuild, string(id))
	return err
}

func noFlashBuild(id compute.FlashBuildID) error {
	return compute.Errorf(compute.NotFound, "flash build %q does not exist", id)
}

// DeleteFlashUploads removes at most limit uploads that were prepared before the time, and reports how many.
func (tx *Tx) DeleteFlashUploads(before time.Time, limit int) (int, error) {
	return tx.affected("delete flash uploads", deleteFlashUploads, before.UnixMilli(), limit)
}
