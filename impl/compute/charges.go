package compute

import (
	"math"
	"math/bits"
	"time"
)

// NanoUSD is money in billionths of a US dollar, so that sums are exact.
type NanoUSD int64

// ToNanoUSD rounds US dollars to the nearest billionth.
func ToNanoUSD(usd float64) NanoUSD {
	const most = 9e9 // USD: what is beyond it is as much, and never the other way round
	return NanoUSD(math.Round(min(max(usd, -most), most) * 1e9))
}

// USD gives US dollars. It prints with nine decimals at most.
func (n NanoUSD) USD() float64 { return float64(n) / 1e9 }

// Item is what is billed.
type Item string

// The items of a bill.
const (
	PodGPU                 Item = "POD_GPU"
	PodCPU                 Item = "POD_CPU"
	ServerlessGPU          Item = "SERVERLESS_GPU"
	ServerlessCPU          Item = "SERVERLESS_CPU"
	StorageStandard        Item = "STORAGE_STANDARD"
	StorageHighPerformance Item = "STORAGE_HIGH_PERFORMANCE"
	ClusterGPU             Item = "CLUSTER_GPU"
)

// Billed is the kind of resource that an item is billed to.
type Billed string

// The kinds.
const (
	BilledPod      Billed = "pod"
	BilledCluster  Billed = "cluster"
	BilledEndpoint Billed = "endpoint"
	BilledVolume   Billed = "volume"
)

// Billed gives what the item is billed to.
func (i Item) Billed() Billed {
	switch i {
	case ClusterGPU:
		return BilledCluster
	case ServerlessGPU, ServerlessCPU:
		return BilledEndpoint
	case StorageStandard, StorageHighPerformance:
		return BilledVolume
	default:
		return BilledPod
	}
}

// Charge is a time in which something cost the user money. It is written with what begins and ends it, so a bill follows
// from what is stored alone.
type Charge struct {
	UserID     UserID
	Item       Item
	ResourceID string  // what it is billed to: a pod, cluster, endpoint or network volume
	HolderID   string  // what ran: a pod, worker or network volume, which has one open charge at most
	Rate       NanoUSD // an hour; not negative
	BeganAt    time.Time
	SeenAt     time.Time // of what does not outlive berth: when it was last known to run; else zero
	EndedAt    time.Time // zero while it is open

	// SummedUntil is up to when sums have what it came to, a border of days: it counts from then on. Zero: none has.
	SummedUntil time.Time
}

// ChargeSum is what the charges of an item of a resource came to in a day of UTC: all that is left of those that ended long ago.
type ChargeSum struct {
	UserID     UserID
	Item       Item
	ResourceID string
	Day        time.Time // its beginning
	Amount     NanoUSD
	Ran        time.Duration // of all that ran, in whole milliseconds
}

// Until gives what the charge comes to from its beginning to the time or its end. Of that whole sum what is less than a
// billionth is cut off, so two spans that meet come to exactly as much as the one that they make.
func (c Charge) Until(t time.Time) NanoUSD {
	if !c.EndedAt.IsZero() && c.EndedAt.Before(t) {
		t = c.EndedAt
	}
	if !t.After(c.BeganAt) || c.Rate <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(c.Rate), uint64(t.Sub(c.BeganAt)))
	if high >= uint64(time.Hour) { // over what a NanoUSD holds, which no bill comes to
		return math.MaxInt64
	}
	sum, _ := bits.Div64(high, low, uint64(time.Hour))
	return NanoUSD(min(sum, math.MaxInt64))
}

// Since gives when the charge begins to count: what it came to before is in sums.
func (c Charge) Since() time.Time {
	if c.SummedUntil.After(c.BeganAt) {
		return c.SummedUntil
	}
	return c.BeganAt
}

// Between gives what the charge comes to from one time to another, without what sums have.
func (c Charge) Between(from, to time.Time) NanoUSD {
	if since := c.Since(); from.Before(since) {
		from = since
	}
	if !to.After(from) {
		return 0
	}
	return c.Until(to) - c.Until(from)
}

// ByDay gives what the charge, which has ended, came to in the first days in which it counts, at most so many, and when the last of them ends:
// from there on it counts still, unless it has ended by then. The days come to exactly as much as the charge.
func (c Charge) ByDay(most int) (sums []ChargeSum, until time.Time) {
	until = c.Since()
	for len(sums) < most && until.Before(c.EndedAt) {
		day := DayBucket.Start(until)
		next := DayBucket.Step(day, 1)
		end := next
		if c.EndedAt.Before(end) {
			end = c.EndedAt
		}

		sums = append(sums, ChargeSum{c.UserID, c.Item, c.ResourceID, day, c.Between(until, end), end.Sub(until)})
		until = next
	}
	return sums, until
}
