package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	requestCountColumns = columns[compute.RequestCount]{
		text("user_id", func(c *compute.RequestCount) *compute.UserID { return &c.UserID }),
		text("window_name", func(c *compute.RequestCount) *string { return &c.Window }),
		instant("window_start", func(c *compute.RequestCount) *time.Time { return &c.Start }),
		whole("requests", func(c *compute.RequestCount) *int64 { return &c.Requests }),
	}
	upsertRequestCount = requestCountColumns.insert("request_counts") + `
ON CONFLICT (user_id, window_name) DO UPDATE SET window_start = excluded.window_start, requests = excluded.requests`
	selectRequestCounts = `SELECT ` + requestCountColumns.list() + ` FROM request_counts ORDER BY user_id, window_name`
)

const deleteRequestCount = `DELETE FROM request_counts WHERE user_id = ? AND window_name = ? AND window_start <= ?`

// SetRequestCount replaces the user's count in the window of that name.
func (tx *Tx) SetRequestCount(c compute.RequestCount) error {
	_, err := tx.exec("set request count", upsertRequestCount, requestCountColumns.values(tx.args(), &c)...)
	return err
}

// DeleteRequestCount removes the count, unless it is of a later window meanwhile.
func (tx *Tx) DeleteRequestCount(c compute.RequestCount) error {
	_, err := tx.exec("delete request count", deleteRequestCount, string(c.UserID), c.Window, millis(c.Start))
	return err
}

// RequestCounts gives all counts, by user and window.
func (tx *Tx) RequestCounts() ([]compute.RequestCount, error) {
	return list(tx, "list request counts", requestCountColumns, selectRequestCounts)
}
