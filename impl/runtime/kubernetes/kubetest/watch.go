package kubetest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// bookmarkTime is the time between two bookmarks: far less than of the real one.
const bookmarkTime = 100 * time.Millisecond

// watch answers with the changes since a version, until the time has passed that was asked for, or the watch is cut.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, resource string) {
	query := r.URL.Query()
	version, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if err != nil {
		refuse(http.StatusBadRequest, "BadRequest", "resourceVersion: %v", err).write(w)
		return
	}
	seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
	timeout, stop := s.clock.After(time.Duration(max(1, seconds)) * time.Second)
	defer stop()

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	events := json.NewEncoder(w)
	s.mu.Lock()
	s.watches++
	cuts := s.cuts
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.watches--
		s.mu.Unlock()
	}()

	for {
		s.mu.Lock()
		changed, gone := s.changed, version < s.oldest
		var news []change
		for i := len(s.history) - 1; i >= 0 && s.history[i].version > version; i-- {
			news = append(news, s.history[i])
		}
		latest := s.version
		s.mu.Unlock()

		if gone {
			expired := refuse(http.StatusGone, "Expired", "too old resource version: %d (%d)", version, latest)
			_ = events.Encode(object{"type": "ERROR", "object": expired.status()})
			return
		}
		for i := len(news) - 1; i >= 0; i-- {
			if c := news[i]; c.resource == resource && selects(query.Get("labelSelector"), c.object) {
				o := clone(c.object)
				o["kind"], o["apiVersion"] = kinds[resource], versionOf(resource)
				if events.Encode(object{"type": c.kind, "object": o}) != nil {
					return
				}
			}
		}
		version = latest
		if stream.Flush() != nil {
			return
		}

		bookmark, stop := s.clock.After(bookmarkTime)
		select {
		case <-changed:
		case <-bookmark:
			mark := object{"kind": kinds[resource], "apiVersion": versionOf(resource), "metadata": object{"resourceVersion": strconv.FormatUint(version, 10), "creationTimestamp": nil}}
			_ = events.Encode(object{"type": "BOOKMARK", "object": mark})
		case <-timeout:
			stop()
			return
		case <-cuts:
			stop()
			panic(http.ErrAbortHandler) // in the midst of the answer
		case <-r.Context().Done():
			stop()
			return
		case <-s.done:
			stop()
			return
		}
		stop()
	}
}
