package compute

import "time"

// BucketSize is the published word for how long the buckets of a bill are. They follow the calendar, in UTC.
type BucketSize string

// The sizes of buckets.
const (
	HourBucket  BucketSize = "hour"
	DayBucket   BucketSize = "day"
	WeekBucket  BucketSize = "week" // begins on Monday
	MonthBucket BucketSize = "month"
	YearBucket  BucketSize = "year"
)

// Start gives the beginning of the bucket that the time is in.
func (b BucketSize) Start(t time.Time) time.Time {
	t = t.UTC()
	year, month, day := t.Date()
	hour := 0
	switch b {
	case HourBucket:
		hour = t.Hour()
	case WeekBucket:
		day -= (int(t.Weekday()) + 6) % 7
	case MonthBucket:
		day = 1
	case YearBucket:
		month, day = time.January, 1
	}

	return time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
}

// Step gives the beginning of the bucket that lies n further than the one that begins at start; n may be negative.
func (b BucketSize) Step(start time.Time, n int) time.Time {
	switch b {
	case HourBucket:
		return start.Add(time.Duration(n) * time.Hour)
	case WeekBucket:
		return start.AddDate(0, 0, 7*n)
	case MonthBucket:
		return start.AddDate(0, n, 0)
	case YearBucket:
		return start.AddDate(n, 0, 0)
	}
	return start.AddDate(0, 0, n)
}

// End gives the end of the bucket that the time is in or ends; it is the beginning of the next.
func (b BucketSize) End(t time.Time) time.Time {
	start := b.Start(t)
	if start.Equal(t) {
		return start
	}
	return b.Step(start, 1)
}
