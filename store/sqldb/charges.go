package sqldb

import (
	"cmp"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const chargeColumns = `user_id, item, resource_id, holder_id, rate, began_at, seen_at, ended_at`

const (
	openCharge = `INSERT INTO charges (` + chargeColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, NULL)
ON CONFLICT (holder_id) WHERE ended_at IS NULL DO NOTHING`
	closeCharge  = `UPDATE charges SET ended_at = ? WHERE holder_id = ? AND ended_at IS NULL`
	seeCharges   = `UPDATE charges SET seen_at = ? WHERE ended_at IS NULL AND seen_at IS NOT NULL`
	splitCharges = `INSERT INTO charges (` + chargeColumns + `)
SELECT user_id, item, resource_id, holder_id, rate, began_at, seen_at, ?1 FROM charges WHERE ended_at IS NULL AND began_at < ?1`
	stepCharges = `UPDATE charges SET began_at = max(began_at, ?1) + ?2, seen_at = seen_at + ?2 WHERE ended_at IS NULL`
	closeUnseen = `UPDATE charges SET ended_at = seen_at WHERE holder_id = ? AND ended_at IS NULL AND seen_at IS NOT NULL`
	chargesOf   = `SELECT ` + chargeColumns + ` FROM charges WHERE user_id = ? AND item = ? AND began_at < ? AND resource_id = coalesce(?, resource_id) AND `
	listCharges = chargesOf + `ended_at IS NULL UNION ALL ` + chargesOf + `ended_at > ?` // each part reads its range of the index
)

// OpenCharge begins a charge now, unless its holder has an open one.
func (tx *Tx) OpenCharge(c compute.Charge) error {
	var seen any
	if !c.SeenAt.IsZero() {
		seen = millis(tx.wall)
	}
	_, err := tx.exec("open charge of "+c.HolderID, openCharge, string(c.UserID), string(c.Item), c.ResourceID, c.HolderID, int64(c.Rate), millis(tx.wall), seen)
	return err
}

// CloseCharge ends the holder's open charge now, if it has one.
func (tx *Tx) CloseCharge(holder string) error {
	_, err := tx.exec("close charge of "+holder, closeCharge, millis(tx.wall), holder)
	return err
}

// StepCharges splits every open charge at a step of the time of day.
func (tx *Tx) StepCharges(step time.Duration) error {
	if _, err := tx.exec("split the open charges", splitCharges, millis(tx.wall)); err != nil {
		return err
	}
	_, err := tx.exec("step the open charges", stepCharges, millis(tx.wall), step.Milliseconds())
	return err
}

// SeeCharges notes that what has the open charges that are watched runs now.
func (tx *Tx) SeeCharges() error {
	_, err := tx.exec("see charges", seeCharges, millis(tx.wall))
	return err
}

// CloseUnseen ends the holder's open charge, if it is watched, when it was seen last.
func (tx *Tx) CloseUnseen(holder string) error {
	_, err := tx.exec("close unseen charge of "+holder, closeUnseen, holder)
	return err
}

func scanCharge(row scanner) (c compute.Charge, err error) {
	err = row.Scan(&c.UserID, &c.Item, &c.ResourceID, &c.HolderID, &c.Rate, instant{&c.BeganAt}, instant{&c.SeenAt}, instant{&c.EndedAt})
	return c, err
}

// ListCharges gives the user's charges of the items between the times. It asks for each item alone, which the index serves.
func (tx *Tx) ListCharges(user compute.UserID, items []compute.Item, resource *string, from, to time.Time) ([]compute.Charge, error) {
	var all []compute.Charge
	for _, item := range items {
		some, err := list(tx, "list charges", scanCharge, listCharges, string(user), string(item), to.UnixMilli(), resource,
			string(user), string(item), to.UnixMilli(), resource, from.UnixMilli())
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b compute.Charge) int {
		return cmp.Or(a.BeganAt.Compare(b.BeganAt), cmp.Compare(a.HolderID, b.HolderID))
	})
	return all, nil
}
