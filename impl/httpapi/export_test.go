package httpapi

// BoundHeld sets how many requests may wait for jobs at a time, of a key and in all.
func (h *Handler) BoundHeld(n int) { h.services.held = newStreams("requests that wait for jobs", n, n) }
