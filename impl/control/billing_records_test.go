package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// bill gives the user's bill of all items.
func (m *metered) bill(q control.BillQuery) control.Bill {
	q.Items = allItems
	b, err := m.ctl.Bill(m.t.Context(), "u", q)
	require.NoError(m.t, err)
	return b
}

// amounts gives those of three items.
func amounts(podCPU, serverlessCPU, serverlessGPU compute.NanoUSD) (a control.Amounts) {
	a.Add(compute.PodCPU, podCPU)
	a.Add(compute.ServerlessCPU, serverlessCPU)
	a.Add(compute.ServerlessGPU, serverlessGPU)
	return a
}

func TestBill_HasARecordForEachBucketAndResource(t *testing.T) {
	t.Parallel()
	m := newMetered(t) // at noon
	m.spends("u", compute.PodCPU, "b", "b", 100)
	m.spends("u", compute.ServerlessCPU, "a", "w1", 10)
	m.spends("u", compute.ServerlessCPU, "a", "w2", 10)
	m.spends("u", compute.ServerlessGPU, "a", "w3", 1000)
	m.spends("v", compute.PodCPU, "theirs", "theirs", 7)
	m.clock.Advance(time.Hour)
	m.closes("b")
	m.clock.Advance(30 * time.Minute)

	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	q := control.BillQuery{Bucket: compute.HourBucket, Start: at(11), End: at(15), Detailed: true}
	b := m.bill(q)
	require.Equal(t, []control.BillRecord{
		{Start: at(13), End: at(14), Resource: "a", Amounts: amounts(0, 10, 500)},
		{Start: at(12), End: at(13), Resource: "a", Amounts: amounts(0, 20, 1000)},
		{Start: at(12), End: at(13), Resource: "b", Amounts: amounts(100, 0, 0)},
	}, b.Records)
	require.Equal(t, amounts(100, 30, 1500), b.Totals)
	require.EqualValues(t, 1630, b.Totals.Total())
	require.Equal(t, 2, b.Resources)

	q.Detailed = false
	b = m.bill(q)
	require.Equal(t, []control.BillRecord{
		{Start: at(13), End: at(14), Amounts: amounts(0, 10, 500)},
		{Start: at(12), End: at(13), Amounts: amounts(100, 20, 1000)},
	}, b.Records)
	require.EqualValues(t, 1630, b.Totals.Total())

	q.Resource, q.Detailed = new("b"), true
	b = m.bill(q)
	require.Equal(t, amounts(100, 0, 0), b.Totals)
	require.Equal(t, 1, b.Resources)
	require.Equal(t, "b", *b.Resource)
}

func TestBill_NamesTheTimeThatIsOutOfRange(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	early, late := time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, one := range []struct {
		start, end time.Time
		name       string
	}{{early, time.Time{}, "startTime"}, {early, late, "endTime"}, {time.Time{}, early, "endTime"}, {time.Time{}, late, "endTime"}} {
		_, err := m.ctl.Bill(t.Context(), "u", control.BillQuery{Start: one.start, End: one.end})
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, one.name+" must be between the years 1970 and 9998", "%v", one)
	}
}

func TestBill_OmitsWhatCostsNothing(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	m.spends("u", compute.PodCPU, "free", "free", 0)
	m.spends("u", compute.PodCPU, "paid", "paid", 60)
	m.clock.Advance(time.Hour)

	b := m.bill(control.BillQuery{Bucket: compute.HourBucket, LastN: 3, Detailed: true})
	require.Len(t, b.Records, 1)
	require.Equal(t, "paid", b.Records[0].Resource)
	require.Equal(t, 1, b.Resources)
	require.Empty(t, m.bill(control.BillQuery{Resource: new("free")}).Records)
}

func TestBill_IsRefusedWithMoreRecordsThanItMayHave(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	for _, id := range []string{"a", "b", "c"} {
		m.spends("u", compute.PodCPU, id, id, 10)
	}
	m.clock.Advance(control.MostBillRecords / 3 * time.Hour)

	q := control.BillQuery{Bucket: compute.HourBucket, Start: m.clock.Now().Add(-control.MostBillRecords / 3 * time.Hour), Items: allItems, Detailed: true}
	b, err := m.ctl.Bill(t.Context(), "u", q)
	require.NoError(t, err)
	require.Len(t, b.Records, control.MostBillRecords)
	m.clock.Advance(time.Hour)
	for what, longer := range map[string]func(*control.BillQuery){
		"detailed": func(*control.BillQuery) {},
		"room": func(q *control.BillQuery) {
			q.Bucket, q.Room = compute.MonthBucket, func(bytes int) bool { return bytes < 1000 }
		},
	} {
		long := q
		longer(&long)
		_, err = m.ctl.Bill(t.Context(), "u", long)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), what)
		require.ErrorContains(t, err, "the bill has over 30000 records, or adds up too many: ask for a larger bucketSize, a shorter time or one resource", what)
	}

	q.Resource = new("a")
	b, err = m.ctl.Bill(t.Context(), "u", q)
	require.NoError(t, err)
	require.Len(t, b.Records, control.MostBillRecords/3+1)
}

// TestBill_IsRefusedWhereItAddsUpTooMuch: few records may take many parts.
func TestBill_IsRefusedWhereItAddsUpTooMuch(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	for i := range 110 {
		id := fmt.Sprint(i)
		m.spends("u", compute.PodCPU, id, id, 1)
	}
	m.clock.Advance(20_000 * time.Hour)
	q := control.BillQuery{Bucket: compute.HourBucket, LastN: 20_000, Items: allItems}
	_, err := m.ctl.Bill(t.Context(), "u", q)
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	q.Bucket = compute.DayBucket
	require.NotEmpty(t, m.bill(q).Records)
}
