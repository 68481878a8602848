package sqldb

import "github.com/berthdev/berth/impl/compute"

const (
	upsertRequestCount = `INSERT INTO request_counts (user_id, window_name, window_start, requests) VALUES (?, ?, ?, ?)
ON CONFLICT (user_id, window_name) DO UPDATE SET window_start = excluded.window_start, requests = excluded.requests`
	selectRequestCounts = `SELECT user_id, window_name, window_start, requests FROM request_counts ORDER BY user_id, window_name`
	deleteRequestCount  = `DELETE FROM request_counts WHERE user_id = ? AND window_name = ? AND window_start <= ?`
)

// SetRequestCount replaces the user's count in the window of that name.
func (tx *Tx) SetRequestCount(c compute.RequestCount) error {
	_, err := tx.exec("set request count", upsertRequestCount, string(c.UserID), c.Window, millis(c.Start), c.Requests)
	return err
}

// DeleteRequestCount removes the count, unless it is of a later window meanwhile.
func (tx *Tx) DeleteRequestCount(c compute.RequestCount) error {
	_, err := tx.exec("delete request count", deleteRequestCount, string(c.UserID), c.Window, millis(c.Start))
	return err
}

// RequestCounts gives all counts, by user and window.
func (tx *Tx) RequestCounts() ([]compute.RequestCount, error) {
	return list(tx, "list request counts", func(row scanner) (c compute.RequestCount, err error) {
		return c, row.Scan(&c.UserID, &c.Window, instant{&c.Start}, &c.Requests)
	}, selectRequestCounts)
}
