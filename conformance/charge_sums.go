package conformance

import (
	"time"

	"github.com/stretchr/testify/require"
)

// keptFor is longer than charges are kept by default, before they are summed by day.
const keptFor = 92 * 24 * time.Hour

// overMidnight has a pod run for two hours before midnight and two after it, deletes it, and gives when the first of the two days began. The
// clock, which is frozen, is at the end of the second one.
func (c *Check) overMidnight() (first time.Time, id string) {
	first = c.now().Add(24 * time.Hour).Truncate(24 * time.Hour)
	c.advance(first.Add(22 * time.Hour).Sub(c.now()))
	id = c.runs(cpuPod, 4*time.Hour)["id"].(string)
	require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+id, "").Status)
	c.advance(first.Add(48 * time.Hour).Sub(c.now()))
	return first, id
}

var _ = area(func() {
	add("billing.kept.days", []string{"listPodBilling", "listBilling"}, func(c *Check) {
		c.spender(func(c *Check) {
			first, id := c.overMidnight()
			span := "&startTime=" + isoTime(first) + "&endTime=" + isoTime(first.Add(48*time.Hour)) // days that are over
			ask := func() (all []map[string]any) {
				for _, size := range []string{"day", "week", "month", "year"} {
					all = append(all, c.bill("?bucketSize="+size+span), c.bill("/pods?podId="+id+"&bucketSize="+size+span))
				}
				return all
			}

			before := ask()
			require.Len(c, records(before[1]), 2)
			c.advance(keptFor)
			require.Equal(c, before, ask())
		})
	})

	add("billing.kept.hours", []string{"listPodBilling"}, func(c *Check) {
		c.spender(func(c *Check) {
			first, id := c.overMidnight()
			hours := func() (all map[time.Time]int64) {
				all = map[time.Time]int64{}
				for _, r := range records(c.bill("/pods?bucketSize=hour&podId=" + id + "&startTime=" + isoTime(first) + "&endTime=" + isoTime(first.Add(48*time.Hour)))) {
					all[c.time(r["startTime"])] = nano(r["totalAmount"])
				}
				return all
			}

			before := hours()
			require.GreaterOrEqual(c, len(before), 4)
			want := map[time.Time]int64{}
			for hour, amount := range before {
				want[hour.Truncate(24*time.Hour)] += amount
			}
			c.advance(keptFor)
			require.Equal(c, want, hours())
		})
	})

	add("controls.costs.kept", []string{"getCosts"}, func(c *Check) {
		c.spender(func(c *Check) {
			first, _ := c.overMidnight()
			costsOf := func(since, until time.Time) any {
				report := c.costsOf("spender", "&since="+isoTime(since)+"&until="+isoTime(until))
				return []any{report["total"], report["costs"]}
			}
			next := first.Add(24 * time.Hour)
			days, one, other := costsOf(first, next.Add(24*time.Hour)), costsOf(first, next), costsOf(next, next.Add(24*time.Hour))
			c.advance(keptFor)

			require.Equal(c, days, costsOf(first, next.Add(24*time.Hour)))
			require.Equal(c, one, costsOf(first, next))
			require.Equal(c, other, costsOf(next, next.Add(24*time.Hour)))
			require.Equal(c, one, costsOf(first, first.Add(time.Minute)), "the whole day where it begins")
			require.Equal(c, other, costsOf(first.Add(time.Minute), next.Add(time.Minute)))
		})
	})
})
