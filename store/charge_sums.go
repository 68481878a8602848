package store

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// ChargeSums stores what charges came to that ended long ago, by day of UTC. A sum counts where its day begins.
type ChargeSums interface {
	// SumCharges adds charges that ended at the time or before it to the sums of their days, the first ended first, and deletes them. It takes at
	// most so many days of charges and reports how many: fewer mean that there are no more. One that has more days than are left stays,
	// SummedUntil being how far it was taken. Open ones are left alone.
	SumCharges(until time.Time, most int) (days int, err error)
	// EachChargeSum calls f for the user's sums of the items whose day begins at from or later, and before to, in no certain order; for those of one
	// resource alone if it is not nil. An error of f ends it.
	EachChargeSum(user compute.UserID, items []compute.Item, resource *string, from, to time.Time, f func(compute.ChargeSum) error) error
	// EachSpent calls charge for the charges of all users, or of one, as EachCharge finds them, and sum for the sums, as EachChargeSum
	// does: all in the order of users, resources and items.
	EachSpent(user compute.UserID, from, to time.Time, charge func(compute.Charge) error, sum func(compute.ChargeSum) error) error
}
