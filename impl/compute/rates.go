package compute

import "time"

// Window is one of the windows in which a user's requests are counted. It is fixed: it begins at a multiple of its length.
type Window struct {
	Name   string
	Length time.Duration
	Quota  int64 // requests
}

// Windows gives the three documented windows with their quotas (rule rates.windows).
func Windows(minute, hour, day int64) []Window {
	return []Window{{"minute", time.Minute, minute}, {"hour", time.Hour, hour}, {"day", 24 * time.Hour, day}}
}

// RequestCount is how many requests a user made in the window that began at Start.
type RequestCount struct {
	UserID   UserID
	Window   string
	Start    time.Time
	Requests int64
}

// Count counts a request made at now into c, which begins anew with every window, and gives where that leaves the user.
func (w Window) Count(c *RequestCount, now time.Time) Rate {
	if start := now.Truncate(w.Length); !c.Start.Equal(start) {
		c.Start, c.Requests = start, 0
	}
	c.Requests++
	return Rate{
		Window: w, Remaining: max(0, w.Quota-c.Requests), Reset: c.Start.Add(w.Length).Sub(now), Exceeded: c.Requests > w.Quota,
	}
}

// QueuePreset names a set of limits on the requests of queues.
type QueuePreset string

// The presets.
const (
	QueueUnlimited QueuePreset = "none"
	QueuePublished QueuePreset = "published"
)

// QueueWindow is the window in which requests of queues are counted.
const QueueWindow = 10 * time.Second

// QueueQuotas gives how many requests a user may make in a QueueWindow to each limited operation of an endpoint (rule
// queue.rates.preset). The empty preset has no limits; one that does not exist is Rejected.
func QueueQuotas(p QueuePreset) (map[string]int64, error) {
	switch p {
	case "", QueueUnlimited:
		return nil, nil
	case QueuePublished:
		return map[string]int64{
			"run": 1_000, "runsync": 2_000, "status": 2_000, "stream": 2_000, "cancel": 100, "purge-queue": 2, "openai": 2_000,
		}, nil
	}
	return nil, Errorf(Rejected, "there are no queue rates %q: they are %s or %s", p, QueueUnlimited, QueuePublished)
}

// Rate is where a user stands in one window after a request.
type Rate struct {
	Window
	Remaining int64         // never negative
	Reset     time.Duration // until the window ends
	Exceeded  bool          // by this request
}
