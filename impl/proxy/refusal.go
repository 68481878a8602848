package proxy

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/problem"
)

// statusTimeout is what the public service answers where a server takes too long.
const statusTimeout = 524

// refusal is an answer that the proxy gives by itself.
type refusal struct {
	status int
	title  string // empty: the text of the status
	detail string
	reason string // in the words of the public service, which clients look for; empty: it has none
	retry  bool   // it may be otherwise in a second
}

// tooLong refuses a body of more than so many bytes.
func tooLong(most int64) refusal {
	return refusal{status: http.StatusRequestEntityTooLarge, detail: "the body is over the limit of " + strconv.FormatInt(most, 10) + " bytes"}
}

// Error gives the detail.
func (r refusal) Error() string { return "proxy: " + r.detail }

// checkStatus refuses an answer whose status is none: the client of net/http takes any three digits, and its server panics at those below 100.
func checkStatus(res *http.Response, who string) error {
	if res.StatusCode >= http.StatusContinue {
		return nil
	}
	return refusal{status: http.StatusBadGateway, detail: "the " + who + " answered with a status below 100, which is none of HTTP"}
}

// refusalOf gives the refusal of an error of the rules.
func refusalOf(err error) refusal {
	p := problem.Of(err)
	return refusal{status: p.Status, title: p.Title, detail: p.Detail, retry: p.Status == http.StatusServiceUnavailable}
}

// refuse answers a request with a problem. What of its body was not read has little time to come.
func refuse(w http.ResponseWriter, r *http.Request, no refusal) {
	limit.Refused(w, r)
	say(w, no)
}

// say answers with a problem, as all interfaces do.
func say(w http.ResponseWriter, no refusal) {
	title := cmp.Or(no.title, http.StatusText(no.status), "A Timeout Occurred")
	problem := map[string]any{"status": no.status, "title": title, "detail": no.detail}
	if no.reason != "" {
		problem["error"] = no.reason
	}
	body, err := json.Marshal(problem)
	if err != nil {
		panic(err) // a number and texts
	}

	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if no.retry {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(no.status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}
