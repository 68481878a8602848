package control_test

import (
	"cmp"
	"database/sql"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

const aDay = 24 * time.Hour

// sums puts what ended until then into sums, so many days at a time; at most so many times, or 0: until there is no more.
func (m *metered) sums(until time.Time, most, times int) {
	for i := 0; times == 0 || i < times; i++ {
		n := 0
		require.NoError(m.t, m.db.Write(m.t.Context(), func(tx store.Tx) (err error) {
			n, err = tx.SumCharges(until, most)
			return err
		}))
		if n < most {
			return
		}
	}
}

// closes closes the holder's charge.
func (m *metered) closes(holder string) {
	require.NoError(m.t, m.db.Write(m.t.Context(), func(tx store.Tx) error { return tx.CloseCharge(holder) }))
}

// rows counts those of a table, in a copy of the file.
func (m *metered) rows(table string) (n int) {
	m.kill(0)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(m.dir, "berth.db"))
	require.NoError(m.t, err)
	defer func() { require.NoError(m.t, db.Close()) }()
	require.NoError(m.t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// asked is what was asked of bills and costs, and what the answers were.
type asked struct {
	bills  []control.BillQuery
	costs  []control.CostQuery
	billed []control.Bill
	cost   []control.Costs
}

// ask makes random questions about ranges that begin and end at borders of days, and has them answered.
func (m *metered) ask(random *mathrand.Rand, first time.Time, days int) (a asked) {
	border := func() (from, to time.Time) {
		n := random.IntN(days)
		return first.Add(time.Duration(n) * aDay), first.Add(time.Duration(n+1+random.IntN(days-n)) * aDay)
	}
	for _, size := range []compute.BucketSize{compute.DayBucket, compute.WeekBucket, compute.MonthBucket, compute.YearBucket} {
		for i := range 6 {
			q := control.BillQuery{Bucket: size, Items: allItems, Detailed: i%2 == 0}
			q.Start, q.End = border()
			if i == 4 {
				q.Resource = new(fmt.Sprintf("r%d", random.IntN(4)))
			}
			a.bills = append(a.bills, q)
		}
	}
	for _, by := range []control.CostBy{control.CostByResource, control.CostByKind, control.CostByUser} {
		for i := range 6 {
			q := control.CostQuery{By: by}
			if i > 0 {
				q.Since, q.Until = border()
			}
			if i%3 == 1 {
				q.User = "u"
			}
			a.costs = append(a.costs, q)
		}
	}
	m.answer(&a)
	return a
}

// answer answers what was asked.
func (m *metered) answer(a *asked) {
	a.billed, a.cost = nil, nil
	for _, q := range a.bills {
		b, err := m.ctl.Bill(m.t.Context(), "u", q)
		require.NoError(m.t, err)
		a.billed = append(a.billed, b)
	}
	for _, q := range a.costs {
		a.cost = append(a.cost, m.costs(q))
	}
}

// live has things run for a random while, over steps of the time of day; some of them still do at the end.
func (m *metered) live(random *mathrand.Rand) {
	items := []compute.Item{compute.PodCPU, compute.PodGPU, compute.ServerlessCPU, compute.StorageStandard}
	for range 120 {
		who := random.IntN(8)
		holder := fmt.Sprintf("h%d", who)
		switch random.IntN(10) {
		case 0:
			step := time.Duration(random.Int64N(int64(4*aDay)) - int64(2*aDay)).Truncate(time.Millisecond)
			require.NoError(m.t, m.db.Write(m.t.Context(), func(tx store.Tx) error { return tx.StepCharges(tx.Wall(), step) }))
			m.clock.Running().Adjust(step)
		case 1, 2, 3, 4:
			m.closes(holder)
		default:
			user := compute.UserID(cmp.Or(map[int]string{7: "v"}[who], "u"))
			m.spends(user, items[who%4], fmt.Sprintf("r%d", who%5), holder, compute.NanoUSD(random.Int64N(1e10)))
		}

		pauses := []time.Duration{time.Hour, aDay, 5 * time.Millisecond, 3 * aDay}
		m.clock.Advance(time.Duration(random.Int64N(int64(pauses[random.IntN(4)]))).Truncate(time.Millisecond))
	}
}

func TestChargeSums_BillsOfDaysAreAsBefore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newMetered(t)
			first := compute.DayBucket.Start(m.clock.Wall()).Add(-10 * aDay)
			random := mathrand.New(mathrand.NewPCG(seed, 5))
			m.live(random)
			a := m.ask(random, first, 140)
			require.Positive(t, a.cost[0].Total)

			before := a
			for range 4 { // somewhere, also in the middle of a charge, and killed there
				m.sums(first.Add(time.Duration(random.Int64N(int64(100*aDay))).Truncate(time.Millisecond)), 1+random.IntN(9), 1+random.IntN(5))
				m.kill(0)
				m.answer(&a)
				require.Equal(t, before, a)
			}
			m.sums(first.Add(1000*aDay), 7, 0)
			m.answer(&a)
			require.Equal(t, before, a)
			require.Positive(t, m.rows("charge_sums"))

			open := m.rows("charges")
			m.closes("h0")
			m.live(random) // time goes on, and days that have sums get more
			a = m.ask(random, first, 280)
			before = a
			m.sums(first.Add(1000*aDay), 50, 0)
			m.answer(&a)
			require.Equal(t, before, a)
			require.LessOrEqual(t, open, 8, "what is open stays")
		})
	}
}

func TestChargeSums_CountWhereTheirDayBegins(t *testing.T) {
	t.Parallel()
	m := newMetered(t) // at noon
	day := compute.DayBucket.Start(m.clock.Wall())
	m.spends("u", compute.PodCPU, "p", "p", 100)
	m.clock.Advance(3 * time.Hour)
	m.closes("p")
	m.clock.Advance(30 * aDay)

	hours := func(from, to time.Duration) (all map[int]compute.NanoUSD) {
		b, err := m.ctl.Bill(t.Context(), "u", control.BillQuery{Bucket: compute.HourBucket, Items: allItems, Start: day.Add(from), End: day.Add(to)})
		require.NoError(t, err)
		all = map[int]compute.NanoUSD{}
		for _, r := range b.Records {
			all[r.Start.Hour()] = r.Amounts.Total()
		}
		return all
	}
	costs := func(from, to time.Duration) compute.NanoUSD {
		return m.costs(control.CostQuery{Since: day.Add(from), Until: day.Add(to)}).Total
	}
	require.Equal(t, map[int]compute.NanoUSD{12: 100, 13: 100, 14: 100}, hours(0, aDay))
	require.Equal(t, compute.NanoUSD(150), costs(13*time.Hour+30*time.Minute, aDay))

	m.sums(day.Add(aDay), 100, 0)
	require.Equal(t, map[int]compute.NanoUSD{0: 300}, hours(0, aDay), "the whole day in its first hour")
	require.Equal(t, map[int]compute.NanoUSD{0: 300}, hours(0, time.Hour))
	require.Empty(t, hours(time.Hour, aDay), "and nothing of it in the others")
	require.Equal(t, compute.NanoUSD(300), costs(0, time.Millisecond))
	require.Zero(t, costs(time.Millisecond, aDay))
}

func TestChargeSums_ShrinkAYear(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	const pods, days = 10, 12
	for range days * 24 { // each hour every pod is started and stopped
		require.NoError(t, m.db.Write(t.Context(), func(tx store.Tx) error {
			for i := range pods {
				id := fmt.Sprintf("p%d", i)
				if err := tx.CloseCharge(id); err != nil {
					return err
				}
				if err := tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: id, HolderID: id, Rate: 60}); err != nil {
					return err
				}
			}
			return nil
		}))
		m.clock.Advance(time.Hour)
	}

	before := m.total()
	require.Equal(t, pods*days*24, m.rows("charges"))
	m.sums(m.clock.Wall(), 500, 0)
	require.Equal(t, pods, m.rows("charges"), "those that are open")
	require.Equal(t, pods*(days+1), m.rows("charge_sums"), "one for each pod and day, from noon to noon") // instead of 24
	require.Equal(t, before, m.total())
}
