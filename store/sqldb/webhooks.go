package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const (
	insertWebhook = `INSERT INTO webhooks (job_id, url, body, tries, next_at, status, error, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectDue     = `SELECT seq, job_id, url, tries, next_at, status, error, created_at, body FROM webhooks WHERE next_at <= ? ORDER BY next_at, seq LIMIT ?`
	selectNext    = `SELECT MIN(next_at) FROM webhooks WHERE next_at IS NOT NULL`
	setWebhook    = `UPDATE webhooks SET tries = ?1, next_at = ?2, status = ?3, error = ?4, body = CASE WHEN ?2 IS NULL THEN NULL ELSE body END WHERE seq = ?5`
	selectLog     = `SELECT seq, job_id, url, tries, next_at, status, error, created_at, NULL FROM webhooks ORDER BY seq DESC LIMIT ?`
	deleteLog     = `DELETE FROM webhooks WHERE next_at IS NULL AND created_at < ?`
)

// InsertWebhook stores a delivery to be made; its Seq is given by the store.
func (tx *Tx) InsertWebhook(w compute.Webhook) error {
	_, err := tx.exec("insert webhook", insertWebhook, string(w.JobID), w.URL, blob(w.Body), w.Tries, millis(w.NextAt), w.Status, w.Error, millis(w.CreatedAt))
	return err
}

func scanWebhook(row scanner) (w compute.Webhook, err error) {
	err = row.Scan(&w.Seq, &w.JobID, &w.URL, &w.Tries, instant{&w.NextAt}, &w.Status, &w.Error, instant{&w.CreatedAt}, (*[]byte)(&w.Body))
	return w, err
}

// DueWebhooks gives the deliveries whose time has come, the longest due first.
func (tx *Tx) DueWebhooks(now time.Time, limit int) ([]compute.Webhook, error) {
	return list(tx, "list due webhooks", scanWebhook, selectDue, now.UnixMilli(), limit)
}

// NextWebhook gives the earliest NextAt; zero if nothing is to be delivered.
func (tx *Tx) NextWebhook() (next time.Time, err error) {
	_, err = tx.one("find next webhook", func(row scanner) error { return row.Scan(instant{&next}) }, selectNext)
	return next, err
}

// SetWebhook writes how a try went.
func (tx *Tx) SetWebhook(w compute.Webhook) error {
	_, err := tx.exec("set webhook", setWebhook, w.Tries, millis(w.NextAt), w.Status, w.Error, w.Seq)
	return err
}

// ListWebhooks gives the log, newest first.
func (tx *Tx) ListWebhooks(limit int) ([]compute.Webhook, error) {
	return list(tx, "list webhooks", scanWebhook, selectLog, limit)
}

// DeleteWebhooks removes what is over and older.
func (tx *Tx) DeleteWebhooks(before time.Time) error {
	_, err := tx.exec("delete webhooks", deleteLog, before.UnixMilli())
	return err
}
