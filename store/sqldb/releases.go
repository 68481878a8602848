package sqldb

import (
	"encoding/json"
	"fmt"

	"github.com/berthdev/berth/impl/compute"
)

const releaseColumns = `id, endpoint_id, version, created_by, fields, old_values, new_values, created_at`

const (
	insertRelease  = `INSERT INTO releases (` + releaseColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectReleases = `SELECT ` + releaseColumns + ` FROM releases WHERE endpoint_id = ? ORDER BY version DESC`
)

// InsertRelease stores a new release. Conflict when the id is taken, or the version of its endpoint.
func (tx *Tx) InsertRelease(r compute.Release) error {
	fields, old, now := []string{}, []string{}, []string{}
	for _, d := range r.Diff {
		fields, old, now = append(fields, d.Field), append(old, string(d.Old)), append(now, string(d.New))
	}
	_, err := tx.exec("insert release "+string(r.ID), insertRelease, string(r.ID), string(r.EndpointID), r.Version, string(r.CreatedBy),
		text(fields), text(old), text(now), millis(r.CreatedAt))
	return err
}

func scanRelease(row scanner) (r compute.Release, err error) {
	var fields, old, now []string
	err = row.Scan(&r.ID, &r.EndpointID, &r.Version, &r.CreatedBy, words[[]string]{&fields}, words[[]string]{&old}, words[[]string]{&now},
		instant{&r.CreatedAt})
	if err == nil && (len(old) != len(fields) || len(now) != len(fields)) {
		err = fmt.Errorf("release %s: %d fields with %d and %d values", r.ID, len(fields), len(old), len(now))
	}
	for i := 0; err == nil && i < len(fields); i++ {
		r.Diff = append(r.Diff, compute.FieldChange{Field: fields[i], Old: json.RawMessage(old[i]), New: json.RawMessage(now[i])})
	}
	return r, err
}

// ListReleases gives the endpoint's releases, newest first.
func (tx *Tx) ListReleases(id compute.EndpointID) ([]compute.Release, error) {
	return list(tx, "list releases of "+string(id), scanRelease, selectReleases, string(id))
}
