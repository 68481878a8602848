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
		b.add(charges, q.Detailed, tx.Wall())
		return err
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

	for name, t := range map[string]time.Time{"startTime": start, "endTime": end} {
		if year := t.UTC().Year(); year < firstYear || year > lastYear {
			return b, compute.Errorf(compute.Rejected, "%s must be between the years %d and %d", name, firstYear, lastYear)
		}
	}

	if !start.Before(end) {
		return b, compute.Errorf(compute.Rejected, "startTime must be before endTime, which is now by default")
	}
	b.Start, b.End = b.Bucket.Start(start), b.Bucket.End(end)
	return b, nil
}

// add makes the records of the charges, as they are now.
func (b *Bill) add(charges []compute.Charge, detailed bool, now time.Time) {
	type place struct {
		bucket   int64 // milliseconds since 1970
		resource string
	}
	sums := map[place]Amounts{}

	billed := map[string]bool{}
	for _, c := range charges {
		end := earlier(b.End, now)
		if !c.EndedAt.IsZero() { // also in times to come, if the time of day was set back
			end = earlier(b.End, c.EndedAt)
		}

		for at := b.Bucket.Start(later(b.Start, c.BeganAt)); at.Before(end); at = b.Bucket.Step(at, 1) {
			sum := c.Between(at, earlier(end, b.Bucket.Step(at, 1)))
			if sum == 0 {
				continue
			}
			p := place{bucket: at.UnixMilli()}
			if detailed {
				p.resource = c.ResourceID
			}
			if sums[p] == nil {
				sums[p] = Amounts{}
			}
			sums[p][c.Item] += sum
			b.Totals[c.Item] += sum
			billed[c.ResourceID] = true
		}
	}

	b.Resources = len(billed)
	for _, p := range slices.SortedFunc(maps.Keys(sums), func(x, y place) int {
		return cmp.Or(cmp.Compare(y.bucket, x.bucket), cmp.Compare(x.resource, y.resource))
	}) {
		at := time.UnixMilli(p.bucket).UTC()
		b.Records = append(b.Records, BillRecord{Start: at, End: b.Bucket.Step(at, 1), Resource: p.resource, Amounts: sums[p]})
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
