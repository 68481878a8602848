package control

import (
	"cmp"
	"context"
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
	Resource   *string      // this one alone; nil: all
	Detailed   bool         // a record for each resource
	Room       compute.Room // for its records; nil: for all
}

// Bill is what was billed from Start until End, which are borders of buckets.
type Bill struct {
	Start, End time.Time
	Bucket     compute.BucketSize
	Resource   *string      // as asked for
	Records    []BillRecord // newest first; a bucket in which nothing was billed has none
	Resources  int          // that are billed, if it is detailed
	Totals     Amounts      // the sum of the records
}

// BillRecord is what was billed in one bucket.
type BillRecord struct {
	Start, End time.Time
	Resource   string // empty unless the bill is detailed
	Amounts    Amounts
}

// Amounts are sums by item, in the order of billedItems.
type Amounts [7]compute.NanoUSD

// billedItems are all items.
var billedItems = [len(Amounts{})]compute.Item{
	compute.PodGPU, compute.PodCPU, compute.ServerlessGPU, compute.ServerlessCPU, compute.StorageStandard, compute.StorageHighPerformance, compute.ClusterGPU,
}

// Of gives the sum of an item.
func (a *Amounts) Of(item compute.Item) compute.NanoUSD { return a[slices.Index(billedItems[:], item)] }

// Add adds to the sum of an item.
func (a *Amounts) Add(item compute.Item, amount compute.NanoUSD) {
	a[slices.Index(billedItems[:], item)] += amount
}

// Total sums up.
func (a *Amounts) Total() (sum compute.NanoUSD) {
	for _, n := range a {
		sum += n
	}
	return sum
}

// The bounds of a bill, since it has no pages (rule billing.records.most).
const (
	MostBillRecords = 30_000
	billRecordBytes = 256       // of one, about, which its room is asked for
	mostBillParts   = 2_000_000 // of charges, by bucket, which take about a second
)

// errLongBill is that of a bill with more. What it tells the client is what the client can change.
func errLongBill() error {
	return compute.Errorf(compute.Rejected, "the bill has over %d records, or adds up too many: ask for a larger bucketSize, a shorter time or one resource", MostBillRecords)
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

// Bill gives the user's bill. What is still running is billed up to now. Rejected for a query that contradicts itself, and for a bill that is too
// long, or for which there is no room.
func (c *Control) Bill(ctx context.Context, user compute.UserID, q BillQuery) (b Bill, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		if b, err = q.window(tx.Wall()); err != nil {
			return err
		}

		t := newTab(&b, q)
		now := tx.Wall()
		err := tx.EachCharge(user, q.Items, q.Resource, b.Start, b.End, func(charge compute.Charge) error { return t.addCharge(charge, now) })
		if err == nil {
			err = tx.EachChargeSum(user, q.Items, q.Resource, b.Start, b.End, t.addSum)
		}
		if err != nil {
			return cmp.Or(t.refused, err) // the store's own says more than the client needs
		}
		t.write()
		return nil
	})
	return b, err
}

// window gives the empty bill of the query.
func (q BillQuery) window(now time.Time) (Bill, error) {
	b := Bill{Bucket: cmp.Or(q.Bucket, compute.DayBucket), Resource: q.Resource}
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
	room     compute.Room
	places   map[place]int   // among the records
	billed   map[string]bool // by resource, of a detailed bill
	parts    int             // that were added
	refused  error           // why it ended
}

// place is where an amount goes.
type place struct {
	bucket   int64 // milliseconds since 1970
	resource string
}

func newTab(b *Bill, q BillQuery) *tab {
	return &tab{bill: b, detailed: q.Detailed, room: q.Room, places: map[place]int{}, billed: map[string]bool{}}
}

// addCharge adds a charge, as it is now.
func (t *tab) addCharge(c compute.Charge, now time.Time) error {
	b := t.bill
	end := earlier(b.End, now)
	if !c.EndedAt.IsZero() { // also in times to come, if the time of day was set back
		end = earlier(b.End, c.EndedAt)
	}
	for at := b.Bucket.Start(later(b.Start, c.Since())); at.Before(end); {
		next := b.Bucket.Step(at, 1)
		if err := t.add(at, c.ResourceID, c.Item, c.Between(at, earlier(end, next))); err != nil {
			return err
		}
		at = next
	}
	return nil
}

// addSum adds the sum of a day: it goes where its day begins (rule billing.kept.hours).
func (t *tab) addSum(s compute.ChargeSum) error {
	return t.add(t.bill.Bucket.Start(s.Day), s.ResourceID, s.Item, s.Amount)
}

// add adds an amount to the bucket that begins then. The error is kept.
func (t *tab) add(bucket time.Time, resource string, item compute.Item, amount compute.NanoUSD) error {
	if t.parts++; t.parts > mostBillParts {
		t.refused = errLongBill()
		return t.refused
	}
	if amount == 0 {
		return nil
	}

	p := place{bucket: bucket.UnixMilli()}
	if t.detailed {
		p.resource = resource
		t.billed[resource] = true
	}
	i, known := t.places[p]
	if !known {
		i = len(t.bill.Records)
		if i == MostBillRecords || t.room != nil && !t.room((i+1)*billRecordBytes) {
			t.refused = errLongBill()
			return t.refused
		}
		t.places[p] = i
		t.bill.Records = append(t.bill.Records, BillRecord{Start: bucket.UTC(), End: t.bill.Bucket.Step(bucket, 1).UTC(), Resource: p.resource})
	}

	t.bill.Records[i].Amounts.Add(item, amount)
	t.bill.Totals.Add(item, amount)
	return nil
}

// write puts the records in their order.
func (t *tab) write() {
	t.bill.Resources = len(t.billed)
	slices.SortFunc(t.bill.Records, func(x, y BillRecord) int {
		return cmp.Or(y.Start.Compare(x.Start), cmp.Compare(x.Resource, y.Resource))
	})
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
