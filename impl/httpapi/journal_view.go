package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/journal"
)

func journalFilter(p controls.ListJournalParams) journal.Filter {
	return journal.Filter{
		Operation: value(p.Operation), Method: value(p.Method), PathPrefix: value(p.PathPrefix), KeyID: value(p.KeyID), Resource: value(p.Resource),
		Status: value(p.Status), Since: value(p.Since), Until: given(p.Until), AfterNumber: p.AfterNumber, Limit: int(value(p.Limit)),
	}
}

func expectation(x controls.Expectation) journal.Expectation {
	e := journal.Expectation{Filter: journalFilter(controls.ListJournalParams{
		Operation: x.Operation, Method: x.Method, PathPrefix: x.PathPrefix, KeyID: x.KeyID, Resource: x.Resource, Status: x.Status, Since: x.Since, Until: x.Until,
		AfterNumber: x.AfterNumber,
	})}
	for _, h := range x.Headers {
		e.Headers = append(e.Headers, journal.Header{Name: h.Name, Value: h.Value})
	}
	e.Body = bodyValues(x.Body)
	t := value(x.Times)
	e.Exactly, e.AtLeast, e.AtMost = t.Exactly, t.AtLeast, t.AtMost
	return e
}

func failureView(f journal.Failure) controls.VerificationFailure {
	v := controls.VerificationFailure{Expectation: int64(f.Expectation), Says: f.Says}
	if f.Nearest != nil {
		v.Nearest = &controls.NearMiss{Number: f.Nearest.Number, Differences: views(f.Nearest.Differences, func(d journal.Difference) controls.Difference {
			return controls.Difference{Member: d.Member, Expected: d.Expected, Found: d.Found}
		})}
	}
	return v
}

func journalView(e *journal.Entry) controls.JournalEntry {
	v := controls.JournalEntry{
		Number: e.Number, Time: e.Time, Duration: e.Duration.Milliseconds(), Method: e.Method, Path: e.Path, Query: e.Query, Operation: e.Operation,
		Resources: map[string]string{}, KeyID: string(e.KeyID), User: string(e.User), Status: int64(e.Status),
		Request: messageView(e.Request), Response: messageView(e.Response),
	}
	for _, r := range e.Resources {
		v.Resources[r.Kind] = r.ID
	}
	if e.Document != nil {
		v.Graphql = &controls.JournalDocument{Name: e.Document.Name, Fields: append([]string{}, e.Document.Fields...)}
	}

	if e.Fault != nil {
		v.Fault = journalFaultView(e.Fault)
	}
	return v
}

func messageView(m journal.Message) controls.JournalMessage {
	return controls.JournalMessage{Headers: views(m.Headers, headerView), Body: controls.JournalBody{
		Text: m.Body.Text, Base64: m.Body.Base64, Length: m.Body.Length, Truncated: m.Body.Truncated,
	}}
}

func headerView(h journal.Header) controls.JournalHeader {
	return controls.JournalHeader{Name: h.Name, Value: h.Value}
}

// unknownSize is what HAR has where a size is not known.
const unknownSize = -1

// harView gives the entry as HAR has it. All of its time is waiting.
func harView(e *journal.Entry) controls.HarEntry {
	ms, address := e.Duration.Milliseconds(), "http://"+e.Host+e.Path
	if e.Query != "" {
		address += "?" + e.Query
	}
	v := controls.HarEntry{
		StartedDateTime: e.Time, Time: ms, Cache: controls.HarCache{}, Timings: controls.HarTimings{Wait: ms},
		Comment: strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Number, e.Operation, e.KeyID)),
		Request: controls.HarRequest{
			Method: e.Method, URL: address, HTTPVersion: e.Protocol, Cookies: []controls.JournalHeader{}, Headers: views(e.Request.Headers, headerView),
			QueryString: queryView(e.Query), HeadersSize: unknownSize, BodySize: e.Request.Body.Length,
		},
		Response: controls.HarResponse{
			Status: int64(e.Status), StatusText: http.StatusText(e.Status), HTTPVersion: e.Protocol, Cookies: []controls.JournalHeader{},
			Headers: views(e.Response.Headers, headerView), RedirectURL: e.Response.Header(echo.HeaderLocation), HeadersSize: unknownSize, BodySize: e.Response.Body.Length,
			Content: controls.HarContent{Size: e.Response.Body.Length, MimeType: e.Response.Header(echo.HeaderContentType), Text: e.Response.Body.Text},
		},
	}

	if e.Response.Body.Base64 {
		v.Response.Content.Encoding = new(controls.HarContentEncodingBase64)
	}
	if b := e.Request.Body; b.Length > 0 {
		v.Request.PostData = &controls.HarPostData{MimeType: e.Request.Header(echo.HeaderContentType), Text: b.Text}
		if b.Base64 {
			v.Request.PostData.UnderscoreEncoding = new(controls.HarPostDataEncodingBase64)
		}
	}
	return v
}

// queryView gives the parameters of a query, in their order.
func queryView(raw string) []controls.JournalHeader {
	list := []controls.JournalHeader{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		list = append(list, controls.JournalHeader{Name: unescaped(name), Value: unescaped(text)})
	}
	return list
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
