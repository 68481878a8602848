package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// CostBy says what each cost is of.
type CostBy string

// What a cost can be of.
const (
	CostByResource CostBy = "resource"
	CostByKind     CostBy = "kind"
	CostByUser     CostBy = "user"
)

// The bounds of how many costs are given.
const (
	DefaultCosts = 100
	MostCosts    = 1000
)

// CostQuery says what costs are asked for. Zero values are absent.
type CostQuery struct {
	By           CostBy
	User         compute.UserID // this one's alone
	Since, Until time.Time      // in whole milliseconds
	Limit        int64          // at most MostCosts
}

// Costs are what users would have paid.
type Costs struct {
	Until time.Time       // up to which they are
	Total compute.NanoUSD // of all
	Count int64           // of all
	Costs []Cost          // the highest first, at most as many as the limit
}

// Cost is what a resource, a kind of them or a user would have paid for.
type Cost struct {
	Kind   compute.Billed // empty by user
	ID     string         // empty but by resource
	User   compute.UserID // empty by kind
	Amount compute.NanoUSD
	Ran    time.Duration // the sum of all that ran
}

// endOfTime is after everything that is billed.
var endOfTime = time.Date(lastYear, 12, 31, 0, 0, 0, 0, time.UTC)

// Costs gives what users would have paid for what ran (rule controls.costs). What goes on costs up to now.
func (c *Control) Costs(ctx context.Context, q CostQuery) (all Costs, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		now := tx.Wall().Truncate(time.Millisecond) // which is what charges are stored in: so spans that meet miss nothing
		from, to := q.Since.Truncate(time.Millisecond), endOfTime
		all = Costs{Until: now}
		if !q.Until.IsZero() {
			to = q.Until.Truncate(time.Millisecond)
			all.Until = later(earlier(to, now), time.UnixMilli(0)).UTC() // nothing is billed before
		}

		t := tally{by: q.By, limit: int(cmp.Or(min(q.Limit, MostCosts), DefaultCosts)), costs: &all}
		err := tx.EachSpent(q.User, from, to, func(charge compute.Charge) error {
			t.addCharge(charge, from, to, now)
			return nil
		}, func(sum compute.ChargeSum) error {
			t.add(Cost{Kind: sum.Item.Billed(), ID: sum.ResourceID, User: sum.UserID, Amount: sum.Amount, Ran: sum.Ran})
			return nil
		})
		t.end()
		return err
	})
	return all, err
}

// tally adds up charges and sums of them that come in the order of users, resources and items, and keeps the highest costs alone: however many charges there are,
// there is little in memory.
type tally struct {
	by    CostBy
	limit int
	costs *Costs
	open  Cost   // that the last charge went to
	kinds []Cost // by kind
}

// addCharge adds what the charge came to between the times, up to now while it is open.
func (t *tally) addCharge(c compute.Charge, from, to, now time.Time) {
	end := earlier(to, now)
	if !c.EndedAt.IsZero() { // also in times to come, if the time of day was set back
		end = earlier(to, c.EndedAt)
	}
	if ran := end.Sub(later(from, c.Since())); ran > 0 {
		t.add(Cost{Kind: c.Item.Billed(), ID: c.ResourceID, User: c.UserID, Amount: c.Between(from, end), Ran: ran})
	}
}

// add adds what a resource cost.
func (t *tally) add(one Cost) {
	of := Cost{Kind: one.Kind, ID: one.ID, User: one.User}
	switch t.by {
	case CostByUser:
		of.Kind, of.ID = "", ""
	case CostByKind:
		of.ID, of.User = "", ""
	}
	if t.open.Kind != of.Kind || t.open.ID != of.ID || t.open.User != of.User {
		t.close()
		t.open = of
	}

	t.open.Amount += one.Amount
	t.open.Ran += one.Ran
	t.costs.Total += one.Amount
}

// close puts the open cost to the others.
func (t *tally) close() {
	if t.open.Ran == 0 {
		return
	}
	if t.by == CostByKind {
		t.merge()
		return
	}

	t.costs.Count++
	t.costs.Costs = append(t.costs.Costs, t.open)
	if len(t.costs.Costs) >= 2*t.limit {
		t.keepHighest()
	}
}

// merge adds the open cost to that of its kind, of which there are few.
func (t *tally) merge() {
	i := slices.IndexFunc(t.kinds, func(k Cost) bool { return k.Kind == t.open.Kind })
	if i < 0 {
		t.kinds = append(t.kinds, t.open)
		return
	}
	t.kinds[i].Amount += t.open.Amount
	t.kinds[i].Ran += t.open.Ran
}

// end closes what is open, and puts the costs in their order.
func (t *tally) end() {
	t.close()
	if t.by == CostByKind {
		t.costs.Costs, t.costs.Count = t.kinds, int64(len(t.kinds))
	}
	t.keepHighest()
}

// keepHighest drops the costs that are not shown.
func (t *tally) keepHighest() {
	slices.SortFunc(t.costs.Costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Amount, a.Amount), cmp.Compare(a.User, b.User), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	if len(t.costs.Costs) > t.limit {
		t.costs.Costs = slices.Clone(t.costs.Costs[:t.limit])
	}
}
