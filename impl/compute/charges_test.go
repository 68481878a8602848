package compute_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

var began = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

func TestCharge_HourCostsExactlyTheHourlyPrice(t *testing.T) {
	t.Parallel()
	for _, price := range []float64{0.69 * 3, 0.0001 * 4096, 0.43, 35.92, 1e-9, 0} {
		c := compute.Charge{Rate: compute.ToNanoUSD(price), BeganAt: began}
		require.Equal(t, compute.ToNanoUSD(price), c.Until(began.Add(time.Hour)))
		require.InDelta(t, price, c.Until(began.Add(time.Hour)).USD(), 1e-12)
	}
}

func TestCharge_SpansComeToTheWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		c := compute.Charge{Rate: compute.NanoUSD(random.Int64N(1e12)), BeganAt: began}
		c.EndedAt = began.Add(time.Duration(random.Int64N(1e11)) * time.Millisecond)
		sum, from := compute.NanoUSD(0), began.Add(-time.Hour)
		for from.Before(c.EndedAt) {
			to := from.Add(time.Duration(1+random.Int64N(1e10)) * time.Millisecond)
			sum += c.Between(from, to)
			from = to
		}

		require.Equal(t, c.Until(c.EndedAt), sum)
		require.Equal(t, sum, c.Until(c.EndedAt.Add(time.Hour)))
	}
}

func TestCharge_DoesNotOverflow(t *testing.T) {
	t.Parallel()
	c := compute.Charge{Rate: math.MaxInt64, BeganAt: began}
	require.EqualValues(t, math.MaxInt64, c.Until(began.Add(math.MaxInt64)))
	require.EqualValues(t, math.MaxInt64, c.Until(began.Add(2*time.Hour)))
	c.Rate = -1
	require.Zero(t, c.Until(began.Add(time.Hour)))
}

func TestBucketSize_BucketsFollowWithoutGaps(t *testing.T) {
	t.Parallel()
	for size, want := range map[compute.BucketSize]time.Time{
		compute.HourBucket: began.Truncate(time.Hour), compute.DayBucket: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC),
		compute.WeekBucket: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), compute.MonthBucket: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		compute.YearBucket: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		at := size.Start(began)
		require.Equal(t, want, at, size)
		for range 100 {
			next := size.Step(at, 1)
			require.Equal(t, next, size.Start(next), size)
			require.Equal(t, at, size.Start(next.Add(-time.Nanosecond)), size)
			require.Equal(t, at, size.Step(next, -1), size)
			require.Equal(t, next, size.End(at.Add(time.Nanosecond)), size)
			require.Equal(t, at, size.End(at), size)
			at = next
		}
	}
}

func TestToNanoUSD_OfTooMuchIsTheMost(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]compute.NanoUSD{0.4: 400_000_000, 1e10: 9_000_000_000_000_000_000, 1e300: 9_000_000_000_000_000_000, -1e10: -9_000_000_000_000_000_000} {
		require.Equal(t, want, compute.ToNanoUSD(usd), usd)
	}
}
