package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	buildFixed = columns[compute.Build]{
		text("id", func(b *compute.Build) *compute.BuildID { return &b.ID }),
		text("endpoint_id", func(b *compute.Build) *compute.EndpointID { return &b.EndpointID }),
		text("image", func(b *compute.Build) *string { return &b.Image }),
		instant("created_at", func(b *compute.Build) *time.Time { return &b.CreatedAt }),
	}
	buildMoves = columns[compute.Build]{ // written by MoveBuild
		text("status", func(b *compute.Build) *compute.BuildStatus { return &b.Status }),
		text("error", func(b *compute.Build) *string { return &b.Error }),
		instant("started_at", func(b *compute.Build) *time.Time { return &b.StartedAt }),
		instant("ended_at", func(b *compute.Build) *time.Time { return &b.EndedAt }),
	}
	buildColumns    = all(buildFixed, buildMoves)
	buildLogColumns = columns[[]compute.LogLine]{
		custom("lines", func(l *[]compute.LogLine) string { return wordsText(lineTexts(*l)) }, func(l *[]compute.LogLine, s string) error {
			lines, err := wordsOf[string](s)
			if err == nil {
				*l, err = logLines(lines)
			}
			return err
		}),
	}

	insertBuild     = all(buildColumns, columns[compute.Build]{custom("lines", func(*compute.Build) string { return "[]" }, nil)})
	selectBuild     = `SELECT ` + buildColumns.list() + ` FROM builds WHERE id = ?`
	selectLive      = `SELECT ` + buildColumns.list() + ` FROM builds WHERE ended_at IS NULL ORDER BY seq`
	pagesBuilds     = pagesOf("builds", buildColumns, `endpoint_id = ?`, func(one *compute.Build) string { return string(one.ID) })
	moveBuild       = `UPDATE builds SET ` + buildMoves.set() + ` WHERE id = ? AND status = ?`
	insertBuildText = insertBuild.insert("builds")
	updateBuildLog  = `UPDATE builds SET ` + buildLogColumns.set() + ` WHERE id = ?`
	selectBuildLog  = `SELECT ` + buildLogColumns.list() + ` FROM builds WHERE id = ?`
)

const (
	forgetBuilds = `DELETE FROM builds WHERE endpoint_id = ?1 AND ended_at IS NOT NULL AND image NOT IN (SELECT image FROM endpoints WHERE id = ?1) AND seq <=
(SELECT seq FROM builds WHERE endpoint_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`
	deleteBuilds = `DELETE FROM builds WHERE endpoint_id = ?`
)

// InsertBuild stores a new build, and forgets all but the last compute.BuildsKept of its endpoint, that of its image, and those that
// have not ended. Conflict when the id is taken.
func (tx *Tx) InsertBuild(b compute.Build) error {
	if _, err := tx.exec("insert build "+string(b.ID), insertBuildText, insertBuild.values(tx.args(), &b)...); err != nil {
		return err
	}
	_, err := tx.exec("forget builds of "+string(b.EndpointID), forgetBuilds, string(b.EndpointID), compute.BuildsKept)
	return err
}

// Build gives one build. NotFound for an unknown id.
func (tx *Tx) Build(id compute.BuildID) (compute.Build, error) {
	b, found, err := get(tx, "read build "+string(id), buildColumns, selectBuild, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "build %q does not exist", id)
	}
	return b, err
}

// BuildLog gives the log that is stored of a build, none of an unknown one.
func (tx *Tx) BuildLog(id compute.BuildID) ([]compute.LogLine, error) {
	log, _, err := get(tx, "read log of build "+string(id), buildLogColumns, selectBuildLog, string(id))
	return log, err
}

// PageBuilds gives a page of the endpoint's builds, newest first, and where the next one begins.
func (tx *Tx) PageBuilds(id compute.EndpointID, p compute.Page) ([]compute.Build, compute.Position, error) {
	return pagesBuilds.page(tx, "list builds of "+string(id), string(id), p)
}

// LiveBuilds gives the builds that have not ended, oldest first.
func (tx *Tx) LiveBuilds() ([]compute.Build, error) {
	return list(tx, "list builds under way", buildColumns, selectLive)
}

// MoveBuild writes status, error and times if the status is still that one, and reports whether it was; with them the log, unless that is
// nil.
func (tx *Tx) MoveBuild(b compute.Build, from compute.BuildStatus, log []compute.LogLine) (bool, error) {
	ok, err := tx.changed("move build "+string(b.ID), moveBuild, buildMoves.values(tx.args(), &b, string(b.ID), string(from))...)
	if err == nil && ok && log != nil {
		_, err = tx.exec("write log of build "+string(b.ID), updateBuildLog, buildLogColumns.values(tx.args(), &log, string(b.ID))...)
	}
	return ok, err
}
