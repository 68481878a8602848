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

// Rate is where a user stands in one window after a request.
type Rate struct {
	Window
	Remaining int64         // never negative
	Reset     time.Duration // until the window ends
	Exceeded  bool          // by this request
}
