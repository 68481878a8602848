package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const webhookFields = `seq, job_id, url, tries, next_at, status, error, created_at, coalesce(length(body), 0)`

const (
	// The number follows from the time and is above all others: it is never given again, also when older ones are deleted.
	insertWebhook = `INSERT INTO webhooks (seq, job_id, url, body, tries, next_at, status, error, created_at)
SELECT max(?1, coalesce(max(seq), 0) + 1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM webhooks`
	selectWebhook = `SELECT ` + webhookFields + `, body FROM webhooks WHERE seq = ?`
	// The log of what is over may be long: what is pending is found by its index, and what is new by its number.
	selectPending    = `SELECT ` + webhookFields + ` FROM webhooks INDEXED BY webhooks_due WHERE next_at IS NOT NULL ORDER BY seq`
	selectNewPending = `SELECT ` + webhookFields + ` FROM webhooks NOT INDEXED WHERE seq > ? AND next_at IS NOT NULL ORDER BY seq`
	setWebhook       = `UPDATE webhooks SET tries = ?1, next_at = ?2, status = ?3, error = ?4, body = CASE WHEN ?2 IS NULL THEN NULL ELSE body END WHERE seq = ?5`
	selectLog        = `SELECT ` + webhookFields + ` FROM webhooks ORDER BY seq DESC LIMIT ?`
	deleteLog        = `DELETE FROM webhooks WHERE next_at IS NULL AND seq IN (SELECT seq FROM webhooks
WHERE seq < coalesce((SELECT seq FROM webhooks WHERE created_at >= ? ORDER BY seq LIMIT 1), 1 << 62) AND next_at IS NULL ORDER BY seq LIMIT ?)`
)

// webhooksEachMilli is how many deliveries of one millisecond have numbers of their own before they take those of the next.
const webhooksEachMilli = 1 << 10

// InsertWebhook stores a delivery to be made; its Seq is given by the store.
func (tx *Tx) InsertWebhook(w compute.Webhook) error {
	_, err := tx.exec("insert webhook", insertWebhook, tx.now.UnixMilli()*webhooksEachMilli, string(w.JobID), w.URL, blob(w.Body), w.Tries,
		millis(w.NextAt), w.Status, w.Error, millis(w.CreatedAt))
	return err
}

// webhookInto gives where webhookFields go.
func webhookInto(w *compute.Webhook) []any {
	return []any{&w.Seq, &w.JobID, &w.URL, &w.Tries, instant{&w.NextAt}, &w.Status, &w.Error, instant{&w.CreatedAt}, &w.Size}
}

func scanWebhook(row scanner) (w compute.Webhook, err error) {
	err = row.Scan(webhookInto(&w)...)
	return w, err
}

// Webhook gives one delivery. NotFound for an unknown one.
func (tx *Tx) Webhook(seq int64) (w compute.Webhook, err error) {
	found, err := tx.one("read webhook", func(row scanner) error {
		return row.Scan(append(webhookInto(&w), (*[]byte)(&w.Body))...)
	}, selectWebhook, seq)
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "webhook %d does not exist", seq)
	}
	return w, err
}

// PendingWebhooks gives to each the deliveries that are to be made with a greater Seq, in its order, without their bodies.
func (tx *Tx) PendingWebhooks(after int64, each func(compute.Webhook)) error {
	scan := func(row scanner) error {
		w, err := scanWebhook(row)
		each(w)
		return err
	}
	if after == 0 {
		return tx.each("list pending webhooks", scan, selectPending)
	}
	return tx.each("list new webhooks", scan, selectNewPending, after)
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

// DeleteWebhooks removes at most limit of those that are over and older, and tells how many.
func (tx *Tx) DeleteWebhooks(before time.Time, limit int) (int, error) {
	n, err := tx.affected("delete webhooks", deleteLog, before.UnixMilli(), limit)
	tx.deleted = tx.deleted || n > 0
	return n, err
}
