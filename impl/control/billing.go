package control

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// BillQuery says what bill is asked for. Zero values are absent.
type BillQuery struct {
	Start, End time.Time
	LastN      int64 // buckets, the present one included; not with Start or End
	Bucket     compute.BucketSize
	Items      []compute.Item
	Resource   *string // this one alone; nil: all
	Detailed   bool    // a record for each resource
}

// Bill is what was billed from Start until End, which are borders of buckets.
type Bill struct {
	Start, End time.Time
	Bucket     compute.BucketSize
	Resource   *string      // as asked for
	Records    []BillRecord // newest first; a bucket in which nothing was billed has none
	Resources  int          // that are billed
	Totals     Amounts      // the sum of the records
}

// BillRecord is what was billed in one bucket.
type BillRecord struct {
	Start, End time.Time
	Resource   string // empty unless the bill is detailed
	Amounts    Amounts
}

// Amounts are sums by item.
type Amounts map[compute.Item]compute.NanoUSD

// Total sums up.
func (a Amounts) Total() (sum compute.NanoUSD) {
	for _, n := range a {
		sum += n
	}
	return sum
}

// defaultWindow is how far a bill goes back by default (rule billing.window.default).
const defaultWindow = 30 * 24 * time.Hour

// maxBuckets is more than there can be since the first bill: with it a LastN reaches the earliest.
const maxBuckets = 1_000_000

// The years that a bill can be asked for.
const (
	firstYear = 1970
	lastYear  = 9998
)

// Bill gives the user's bill. What is still running is billed up to now. Rejected for a query that contradicts itself.
func (c *Control) Bill(ctx context.Context, user compute.UserID, q BillQuery) (b Bill, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		if b, err = q.window(tx.Wall()); err != nil {
			return err
		}
		charges, err := tx.ListCharges(user, q.Items, q.Resource, b.Start, b.End)
		if err != nil {
			return err
		}
		sums, err := tx.ListChargeSums(user, q.Items, q.Resource, b.Start, b.End)
		if err != nil {
			return err
		}

		t := newTab(&b, q.Detailed)
		t.addCharges(charges, tx.Wall())
		t.addSums(sums)
		t.write()
		return nil
	})
	return b, err
}

// window gives the empty bill of the query.
func (q BillQuery) window(now time.Time) (Bill, error) {
	b := Bill{Bucket: cmp.Or(q.Bucket, compute.DayBucket), Resource: q.Resource, Totals: Amounts{}}
	if q.LastN > 0 {
		if !q.Start.IsZero() || !q.End.IsZero() {
			return b, compute.Errorf(compute.Rejected, "lastN cannot be set together with startTime or endTime")
		}
		last := b.Bucket.Start(now)
		b.Start, b.End = b.Bucket.Step(last, 1-int(min(q.LastN, maxBuckets))), b.Bucket.Step(last, 1)
		if earliest := b.Bucket.Start(time.UnixMilli(0)); b.Start.Before(earliest) {
			b.Start = earliest
		}
		return b, nil
	}

	start, end := q.Start, q.End
	if end.IsZero() {
		end = now
	}
	if start.IsZero() {
		start = end.Add(-defaultWindow)
	}

	for _, at := range []struct {
		name string
		time time.Time
	}{{"endTime", end}, {"startTime", start}} { // the start may come from the end
		if year := at.time.UTC().Year(); year < firstYear || year > lastYear {
			return b, compute.Errorf(compute.Rejected, "%s must be between the years %d and %d", at.name, firstYear, lastYear)
		}
	}

	if !start.Before(end) {
		return b, compute.Errorf(compute.Rejected, "startTime must be before endTime, which is now by default")
	}
	b.Start, b.End = b.Bucket.Start(start), b.Bucket.End(end)
	return b, nil
}

// tab adds up what a bill has.
type tab struct {
	bill     *Bill
	detailed bool
	sums     map[place]Amounts
	billed   map[string]bool // by resource
}

// place is where an amount goes.
type place struct {
	bucket   int64 // milliseconds since 1970
	resource string
}

func newTab(b *Bill, detailed bool) *tab {
	return &tab{b, detailed, map[place]Amounts{}, map[string]bool{}}
}

// addCharges adds the charges, as they are now.
func (t *tab) addCharges(charges []compute.Charge, now time.Time) {
	b := t.bill
	for _, c := range charges {
		end := earlier(b.End, now)
		if !c.EndedAt.IsZero() { // also in times to come, if the time of day was set back
			end = earlier(b.End, c.EndedAt)
		}
		for at := b.Bucket.Start(later(b.Start, c.Since())); at.Before(end); at = b.Bucket.Step(at, 1) {
			t.add(at, c.ResourceID, c.Item, c.Between(at, earlier(end, b.Bucket.Step(at, 1))))
		}
	}
}

// addSums adds the sums of days: each goes where its day begins (rule billing.kept.hours).
func (t *tab) addSums(sums []compute.ChargeSum) {
	for _, s := range sums {
		t.add(t.bill.Bucket.Start(s.Day), s.ResourceID, s.Item, s.Amount)
	}
}

// add adds an amount to the bucket that begins then.
func (t *tab) add(bucket time.Time, resource string, item compute.Item, amount compute.NanoUSD) {
	if amount == 0 {
		return
	}

	p := place{bucket: bucket.UnixMilli()}
	if t.detailed {
		p.resource = resource
	}
	if t.sums[p] == nil {
		t.sums[p] = Amounts{}
	}
	t.sums[p][item] += amount
	t.bill.Totals[item] += amount
	t.billed[resource] = true
}

// write makes the records of the bill.
func (t *tab) write() {
	b := t.bill
	b.Resources = len(t.billed)
	for _, p := range slices.SortedFunc(maps.Keys(t.sums), func(x, y place) int {
		return cmp.Or(cmp.Compare(y.bucket, x.bucket), cmp.Compare(x.resource, y.resource))
	}) {
		at := time.UnixMilli(p.bucket).UTC()
		b.Records = append(b.Records, BillRecord{Start: at, End: b.Bucket.Step(at, 1), Resource: p.resource, Amounts: t.sums[p]})
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
