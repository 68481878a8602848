package sqldb

import (
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// The columns of a delivery: InsertWebhook writes all, SetWebhook those of a try.
var (
	webhookFixed = columns[compute.Webhook]{
		text("job_id", func(w *compute.Webhook) *compute.JobID { return &w.JobID }),
		text("url", func(w *compute.Webhook) *string { return &w.URL }),
		instant("created_at", func(w *compute.Webhook) *time.Time { return &w.CreatedAt }),
	}
	webhookTry = columns[compute.Webhook]{
		whole("tries", func(w *compute.Webhook) *int { return &w.Tries }),
		instant("next_at", func(w *compute.Webhook) *time.Time { return &w.NextAt }),
		whole("status", func(w *compute.Webhook) *int { return &w.Status }),
		text("error", func(w *compute.Webhook) *string { return &w.Error }),
	}
	webhookBody    = columns[compute.Webhook]{blob("body", func(w *compute.Webhook) *json.RawMessage { return &w.Body })}
	webhookColumns = all(webhookFixed, webhookTry, webhookBody)
	webhookWithout = all(columns[compute.Webhook]{ // its body
		whole("seq", func(w *compute.Webhook) *int64 { return &w.Seq }),
		computed("coalesce(length(body), 0)", whole("size", func(w *compute.Webhook) *int { return &w.Size })),
	}, webhookFixed, webhookTry)
	webhookWhole = all(webhookWithout, webhookBody)

	// The number follows from the time and is above all others: it is never given again, also when older ones are deleted.
	insertWebhook = `INSERT INTO webhooks (seq, ` + webhookColumns.names() + `)
SELECT max(?, coalesce(max(seq), 0) + 1), ` + webhookColumns.marks() + ` FROM webhooks`
	selectWebhook = `SELECT ` + webhookWhole.list() + ` FROM webhooks WHERE seq = ?`
	// The log of what is over may be long: what is pending is found by its index, and what is new by its number.
	selectFromWebhooks = `SELECT ` + webhookWithout.list() + ` FROM webhooks `
	selectPending      = selectFromWebhooks + `INDEXED BY webhooks_due WHERE next_at IS NOT NULL ORDER BY seq`
	selectNewPending   = selectFromWebhooks + `NOT INDEXED WHERE seq > ? AND next_at IS NOT NULL ORDER BY seq`
	selectLog          = selectFromWebhooks + `ORDER BY seq DESC` + limit
	setWebhook         = `UPDATE webhooks SET ` + webhookTry.set() + `, body = CASE WHEN ? = 1 THEN NULL ELSE body END WHERE seq = ? AND job_id = ?`
)

// Of what is older nothing comes after the first one that is not, which saves looking at the others. One that is stamped later than it is, as when
// the time of day was wrong for a while, is no such first one: nothing would be deleted until its time has come.
const deleteLog = `DELETE FROM webhooks WHERE next_at IS NULL AND seq IN (SELECT seq FROM webhooks WHERE created_at < ?1
AND seq < coalesce((SELECT seq FROM webhooks WHERE created_at >= ?1 AND created_at <= ?2 ORDER BY seq LIMIT 1), 1 << 62) AND next_at IS NULL ORDER BY seq LIMIT ?3)`

// webhooksEachMilli is how many deliveries of one millisecond have numbers of their own before they take those of the next.
const webhooksEachMilli = 1 << 10

// InsertWebhook stores a delivery to be made; its Seq is given by the store.
func (tx *Tx) InsertWebhook(w compute.Webhook) error {
	_, err := tx.exec("insert webhook", insertWebhook, webhookColumns.values(append(tx.args(), tx.now.UnixMilli()*webhooksEachMilli), &w)...)
	return err
}

// Webhook gives one delivery. NotFound for an unknown one.
func (tx *Tx) Webhook(seq int64) (compute.Webhook, error) {
	w, found, err := get(tx, "read webhook", webhookWhole, selectWebhook, seq)
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "webhook %d does not exist", seq)
	}
	return w, err
}

// PendingWebhooks gives to each the deliveries that are to be made with a greater Seq, in its order, without their bodies.
func (tx *Tx) PendingWebhooks(after int64, each func(compute.Webhook)) error {
	scan := func(r row) error {
		var w compute.Webhook
		err := webhookWithout.scan(r, &w)
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
	_, err := tx.exec("set webhook", setWebhook, webhookTry.values(tx.args(), &w, w.NextAt.IsZero(), w.Seq, string(w.JobID))...)
	return err
}

// ListWebhooks gives the log, newest first.
func (tx *Tx) ListWebhooks(limit int) ([]compute.Webhook, error) {
	return list(tx, "list webhooks", webhookWithout, selectLog, limit)
}

// DeleteWebhooks removes at most limit of those that are over and older, and reports how many.
func (tx *Tx) DeleteWebhooks(before time.Time, limit int) (int, error) {
	n, err := tx.affected("delete webhooks", deleteLog, before.UnixMilli(), tx.wall.UnixMilli(), limit)
	tx.deleted = tx.deleted || n > 0
	return n, err
}
