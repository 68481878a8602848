package sqldb

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	releaseColumns = columns[compute.Release]{
		text("id", func(r *compute.Release) *compute.ReleaseID { return &r.ID }),
		text("endpoint_id", func(r *compute.Release) *compute.EndpointID { return &r.EndpointID }),
		whole("version", func(r *compute.Release) *int64 { return &r.Version }),
		text("created_by", func(r *compute.Release) *compute.UserID { return &r.CreatedBy }),
		text("build_id", func(r *compute.Release) *compute.BuildID { return &r.BuildID }),
		diff("fields", func(d *compute.FieldChange) *string { return &d.Field }),
		diff("old_values", func(d *compute.FieldChange) *json.RawMessage { return &d.Old }),
		diff("new_values", func(d *compute.FieldChange) *json.RawMessage { return &d.New }),
		instant("created_at", func(r *compute.Release) *time.Time { return &r.CreatedAt }),
	}

	insertRelease  = releaseColumns.insert("releases")
	selectReleases = `SELECT ` + releaseColumns.list() + ` FROM releases WHERE endpoint_id = ? AND version < ? ORDER BY version DESC` + limit
)

const forgetReleases = `DELETE FROM releases WHERE endpoint_id = ? AND version <= ?`

// diff is a column of one thing about each change of a release.
func diff[F ~string | ~[]byte](name string, field func(*compute.FieldChange) *F) column[compute.Release] {
	return custom(name, func(r *compute.Release) string {
		list := make([]string, len(r.Diff))
		for i := range r.Diff {
			list[i] = string(*field(&r.Diff[i]))
		}
		return wordsText(list)
	}, func(r *compute.Release, s string) error {
		list, err := wordsOf[string](s)
		if err != nil {
			return err
		}
		if r.Diff == nil && len(list) > 0 { // the first of the columns
			r.Diff = make([]compute.FieldChange, len(list))
		}
		if len(list) != len(r.Diff) {
			return fmt.Errorf("%d values for %d changes", len(list), len(r.Diff))
		}

		for i := range list {
			*field(&r.Diff[i]) = F(list[i])
		}
		return nil
	})
}

// InsertRelease stores a new release, and forgets all but the last compute.ReleasesKept of its endpoint. Conflict when the id is taken, or the
// version of its endpoint.
func (tx *Tx) InsertRelease(r compute.Release) error {
	_, err := tx.exec("insert release "+string(r.ID), insertRelease, releaseColumns.values(tx.args(), &r)...)
	if err == nil && r.Version > compute.ReleasesKept {
		_, err = tx.exec("forget releases of "+string(r.EndpointID), forgetReleases, string(r.EndpointID), r.Version-compute.ReleasesKept)
	}
	return err
}

// PageReleases gives a page of the endpoint's releases, newest first, and where the next one begins: their versions order them.
func (tx *Tx) PageReleases(id compute.EndpointID, p compute.Page) (all []compute.Release, next compute.Position, err error) {
	before := p.After.Seq
	if before == 0 {
		before = math.MaxInt64
	}
	f := filling[compute.Release]{room: p.Room}
	if err = f.read(tx, "list releases of "+string(id), releaseColumns, selectReleases, string(id), before, p.Limit+1); err != nil {
		return nil, next, err
	}
	all = f.all
	if f.full || len(all) > p.Limit {
		all = all[:min(len(all), p.Limit)]
		next.Seq = all[len(all)-1].Version
	}
	return all, next, err
}
