package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	chargeFields = columns[compute.Charge]{
		text("user_id", func(c *compute.Charge) *compute.UserID { return &c.UserID }),
		text("item", func(c *compute.Charge) *compute.Item { return &c.Item }),
		text("resource_id", func(c *compute.Charge) *string { return &c.ResourceID }),
		text("holder_id", func(c *compute.Charge) *string { return &c.HolderID }),
		whole("rate", func(c *compute.Charge) *compute.NanoUSD { return &c.Rate }),
		instant("began_at", func(c *compute.Charge) *time.Time { return &c.BeganAt }),
		instant("seen_at", func(c *compute.Charge) *time.Time { return &c.SeenAt }),
	}
	chargeColumns = all(chargeFields, columns[compute.Charge]{
		instant("ended_at", func(c *compute.Charge) *time.Time { return &c.EndedAt }),
		instant("summed_until", func(c *compute.Charge) *time.Time { return &c.SummedUntil }),
	})

	openCharge   = chargeColumns.insert("charges") + ` ON CONFLICT (holder_id) WHERE ended_at IS NULL DO NOTHING`
	splitCharges = `INSERT INTO charges (` + chargeFields.names() + `, ended_at)
SELECT ` + chargeFields.names() + `, ?1 FROM charges WHERE ended_at IS NULL AND began_at < ?1`
	chargesOf  = `SELECT ` + chargeColumns.list() + ` FROM charges WHERE user_id = ? AND item = ? AND began_at < ? AND resource_id = coalesce(?, resource_id) AND `
	eachCharge = chargesOf + `ended_at IS NULL UNION ALL ` + chargesOf + `ended_at > ?` // each part reads its range of the index
)

const (
	closeCharge    = `UPDATE charges SET ended_at = ? WHERE holder_id = ? AND ended_at IS NULL`
	seeCharges     = `UPDATE charges SET seen_at = ? WHERE ended_at IS NULL AND seen_at IS NOT NULL`
	stepCharges    = `UPDATE charges SET began_at = max(began_at, ?1) + ?2, seen_at = seen_at + ?2 WHERE ended_at IS NULL`
	restartCharges = `UPDATE charges SET began_at = ?1, seen_at = CASE WHEN seen_at IS NULL THEN seen_at ELSE ?1 END WHERE ended_at IS NULL`
	openCharges    = `SELECT count(*) FROM (SELECT 1 FROM charges WHERE ended_at IS NULL LIMIT 1) AS one`
	closeUnseen    = `UPDATE charges SET ended_at = coalesce(seen_at, ?1) WHERE holder_id = ?2 AND ended_at IS NULL AND began_at <= coalesce(seen_at, ?1)`
)

// OpenCharge begins a charge now, unless its holder has an open one.
func (tx *Tx) OpenCharge(c compute.Charge) error {
	c.BeganAt, c.EndedAt, c.SummedUntil = tx.wall, time.Time{}, time.Time{}
	if !c.SeenAt.IsZero() {
		c.SeenAt = tx.wall
	}
	_, err := tx.exec("open charge of "+c.HolderID, openCharge, chargeColumns.values(tx.args(), &c)...)
	return err
}

// CloseCharge ends the holder's open charge now, if it has one.
func (tx *Tx) CloseCharge(holder string) error {
	_, err := tx.exec("close charge of "+holder, closeCharge, millis(tx.wall), holder)
	return err
}

// StepCharges splits every open charge at a step of the time of day, which came at that one.
func (tx *Tx) StepCharges(at time.Time, step time.Duration) error {
	if _, err := tx.exec("split the open charges", splitCharges, millis(at)); err != nil {
		return err
	}
	_, err := tx.exec("step the open charges", stepCharges, millis(at), step.Milliseconds())
	return err
}

// HasOpenCharges reports whether something is being billed.
func (tx *Tx) HasOpenCharges() (bool, error) {
	n, _, err := get(tx, "look for open charges", columns[int64]{whole("count", itself[int64])}, openCharges)
	return n > 0, err
}

// SeeCharges notes that what has the open charges that are watched runs now.
func (tx *Tx) SeeCharges() error {
	_, err := tx.exec("see charges", seeCharges, millis(tx.wall))
	return err
}

// CloseUnseen ends the holder's open charge when it was seen last, or at that time if it is not watched, unless it began later.
func (tx *Tx) CloseUnseen(holder string, at time.Time) error {
	_, err := tx.exec("close unseen charge of "+holder, closeUnseen, millis(at), holder)
	return err
}

// EachCharge calls f for the user's charges of the items between the times. It asks for each item alone, which the index serves.
func (tx *Tx) EachCharge(user compute.UserID, items []compute.Item, resource *string, from, to time.Time, f func(compute.Charge) error) error {
	for _, item := range items {
		if err := eachOf(tx, "read charges", chargeColumns, f, eachCharge, string(user), string(item), to.UnixMilli(), resource,
			string(user), string(item), to.UnixMilli(), resource, from.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
