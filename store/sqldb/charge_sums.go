package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// spent is a row of what was spent: a charge, or a sum of them.
type spent struct {
	isSum  bool
	charge compute.Charge // of a sum: its user, item and resource, and its day in BeganAt
	amount compute.NanoUSD
	ran    time.Duration
}

// endedCharge is a charge with its row.
type endedCharge struct {
	seq    int64
	charge compute.Charge
}

var (
	chargeSumColumns = columns[compute.ChargeSum]{
		text("user_id", func(s *compute.ChargeSum) *compute.UserID { return &s.UserID }),
		text("item", func(s *compute.ChargeSum) *compute.Item { return &s.Item }),
		instant("day", func(s *compute.ChargeSum) *time.Time { return &s.Day }),
		text("resource_id", func(s *compute.ChargeSum) *string { return &s.ResourceID }),
		whole("amount", func(s *compute.ChargeSum) *compute.NanoUSD { return &s.Amount }),
		span("ran", func(s *compute.ChargeSum) *time.Duration { return &s.Ran }),
	}
	spentColumns = all(
		columns[spent]{computed("0", flag("is_sum", func(s *spent) *bool { return &s.isSum }))},
		embedded(func(s *spent) *compute.Charge { return &s.charge }, chargeColumns),
		columns[spent]{
			computed("0", whole("amount", func(s *spent) *compute.NanoUSD { return &s.amount })),
			computed("0", span("ran", func(s *spent) *time.Duration { return &s.ran })),
		},
	)
	rowsOfEnded = all(
		columns[endedCharge]{whole("seq", func(c *endedCharge) *int64 { return &c.seq })},
		embedded(func(c *endedCharge) *compute.Charge { return &c.charge }, chargeColumns),
	)

	eachChargeSum = `SELECT ` + chargeSumColumns.list() + ` FROM charge_sums
WHERE user_id = ? AND item = ? AND day >= ? AND day < ? AND resource_id = coalesce(?, resource_id)`
	addChargeSum = chargeSumColumns.insert("charge_sums") + ` ON CONFLICT (user_id, item, day, resource_id)
DO UPDATE SET amount = charge_sums.amount + excluded.amount, ran = charge_sums.ran + excluded.ran`
	endedCharges = `SELECT ` + rowsOfEnded.list() + ` FROM charges WHERE ended_at <= ? ORDER BY ended_at, seq LIMIT ?`

	eachSpent   = spentBetween("")
	eachSpentOf = spentBetween("user_id = ?3 AND ")
)

// spentBetween reads charges and sums in one order: by user, resource, item, beginning and holder, which have these numbers since the columns of a
// sum, in the places of those of a charge, have other names.
func spentBetween(of string) string {
	return `SELECT ` + spentColumns.list() + ` FROM charges WHERE ` + of + `began_at < ?2 AND (ended_at IS NULL OR ended_at > ?1)
UNION ALL SELECT 1, user_id, item, resource_id, '', 0, day, NULL, NULL, NULL, amount, ran FROM charge_sums WHERE ` + of + `day >= ?1 AND day < ?2
ORDER BY 2, 4, 3, 7, 5`
}

const (
	deleteCharge = `DELETE FROM charges WHERE seq = ? AND ended_at IS NOT NULL`
	partCharge   = `UPDATE charges SET summed_until = ? WHERE seq = ? AND ended_at IS NOT NULL`
)

// EachChargeSum calls f for the user's sums of the items of days that begin between the times. It asks for each item alone, which the key serves.
func (tx *Tx) EachChargeSum(user compute.UserID, items []compute.Item, resource *string, from, to time.Time, f func(compute.ChargeSum) error) error {
	for _, item := range items {
		if err := eachOf(tx, "read sums of charges", chargeSumColumns, f, eachChargeSum,
			string(user), string(item), from.UnixMilli(), to.UnixMilli(), resource); err != nil {
			return err
		}
	}
	return nil
}

// EachSpent calls one of the functions for each charge and each sum of all users, or of one, between the times.
func (tx *Tx) EachSpent(user compute.UserID, from, to time.Time, charge func(compute.Charge) error, sum func(compute.ChargeSum) error) error {
	query, args := eachSpent, []any{from.UnixMilli(), to.UnixMilli()}
	if user != "" {
		query, args = eachSpentOf, append(args, string(user))
	}
	return tx.each("read what was spent", func(r row) error {
		var s spent
		if err := spentColumns.scan(r, &s); err != nil {
			return err
		}
		if !s.isSum {
			return charge(s.charge)
		}
		c := s.charge
		return sum(compute.ChargeSum{UserID: c.UserID, Item: c.Item, ResourceID: c.ResourceID, Day: c.BeganAt, Amount: s.amount, Ran: s.ran})
	}, query, args...)
}

// SumCharges puts charges that ended until then into the sums of their days and deletes them, at most so many days of them.
func (tx *Tx) SumCharges(until time.Time, most int) (days int, err error) {
	charges, err := list(tx, "list ended charges", rowsOfEnded, endedCharges, until.UnixMilli(), most)
	if err != nil {
		return 0, err
	}

	var sums sumsOfDays
	for i := 0; i < len(charges) && days < most; i++ {
		ended := &charges[i]
		parts, until := ended.charge.ByDay(most - days)
		if err := tx.takeCharge(ended, until); err != nil {
			return 0, err
		}
		sums.add(parts)
		days += max(len(parts), 1) // one that cost nothing is work, too
	}

	for i := range sums.all {
		if _, err := tx.exec("add to the sum of a day", addChargeSum, chargeSumColumns.values(tx.args(), &sums.all[i])...); err != nil {
			return 0, err
		}
	}
	tx.deleted = tx.deleted || days > 0
	return days, nil
}

// takeCharge deletes the charge, which is in sums up to then, or, where more of it is left, notes how far it is.
func (tx *Tx) takeCharge(c *endedCharge, until time.Time) error {
	what, query, args := "delete a charge", deleteCharge, []any{c.seq}
	if until.Before(c.charge.EndedAt) {
		what, query, args = "take a part of a charge", partCharge, []any{until.UnixMilli(), c.seq}
	}
	taken, err := tx.changed(what, query, args...)
	if err == nil && !taken {
		err = compute.Errorf(compute.Conflict, "%s: somebody else did", what)
	}
	return err
}

// sumsOfDays adds up what goes to the same row, so that it is written once.
type sumsOfDays struct {
	all   []compute.ChargeSum
	place map[compute.ChargeSum]int // by what makes the row
}

func (s *sumsOfDays) add(parts []compute.ChargeSum) {
	for _, part := range parts {
		key := part
		key.Amount, key.Ran = 0, 0
		i, known := s.place[key]
		if !known {
			if s.place == nil {
				s.place = map[compute.ChargeSum]int{}
			}
			s.place[key] = len(s.all)
			s.all = append(s.all, part)
			continue
		}

		s.all[i].Amount += part.Amount
		s.all[i].Ran += part.Ran
	}
}
