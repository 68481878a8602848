package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/journal"
)

func TestJournal_QueriesKeepTheirOrderAndWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]controls.JournalHeader{
		"":                 {},
		"&":                {},
		"b=1&a=2&&b=3":     {{Name: "b", Value: "1"}, {Name: "a", Value: "2"}, {Name: "b", Value: "3"}},
		"a%20b=c+d&e":      {{Name: "a b", Value: "c d"}, {Name: "e"}},
		"a=%zz&b=1%3D2=3&": {{Name: "a", Value: "%zz"}, {Name: "b", Value: "1=2=3"}},
	} {
		require.Equal(t, want, queryView(raw), raw)
	}
}

func TestJournal_HARHasTheWholeExchange(t *testing.T) {
	t.Parallel()
	e := journal.Entry{
		Number: 7, Time: time.UnixMilli(1_700_000_000_000), Duration: 1500 * time.Millisecond, Method: "POST", Path: "/v2/pods", Query: "a=b", Host: "berth.example",
		Protocol: "HTTP/1.1", Operation: "createPod", KeyID: "k", Status: 201,
		Request:  journal.Message{Headers: []journal.Header{{Name: "Content-Type", Value: "application/json"}}, Body: journal.Body{Text: "{}", Length: 2}},
		Response: journal.Message{Headers: []journal.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "Location", Value: "/there"}}, Body: journal.Body{Text: "done", Length: 4}},
	}
	v := harView(&e)
	require.Equal(t, "http://berth.example/v2/pods?a=b", v.Request.URL)
	require.Equal(t, "7 createPod k", v.Comment)
	require.EqualValues(t, 1500, v.Time)
	require.EqualValues(t, 1500, v.Timings.Wait)
	require.EqualValues(t, -1, v.Request.HeadersSize, "HAR has -1 for what is not known")
	require.EqualValues(t, -1, v.Response.HeadersSize)
	require.EqualValues(t, 2, v.Request.BodySize)
	require.EqualValues(t, 4, v.Response.BodySize)
	require.Equal(t, &controls.HarPostData{MimeType: "application/json", Text: "{}"}, v.Request.PostData)
	require.Equal(t, controls.HarContent{Size: 4, MimeType: "text/plain", Text: "done"}, v.Response.Content)
	require.Equal(t, "/there", v.Response.RedirectURL)
	require.Equal(t, "Created", v.Response.StatusText)

	e.Query, e.KeyID, e.Request.Body = "", "", journal.Body{}
	v = harView(&e)
	require.Equal(t, "http://berth.example/v2/pods", v.Request.URL)
	require.Equal(t, "7 createPod", v.Comment)
	require.Nil(t, v.Request.PostData, "it had no body")
	e.Request.Body, e.Response.Body.Base64 = journal.Body{Text: "/w==", Base64: true, Length: 1}, true
	v = harView(&e)
	require.EqualValues(t, "base64", *v.Request.PostData.UnderscoreEncoding)
	require.EqualValues(t, "base64", *v.Response.Content.Encoding)
}

func TestJournal_EntriesShowWhatTheyHave(t *testing.T) {
	t.Parallel()
	e := journal.Entry{Duration: 1500 * time.Millisecond, Resources: []journal.Resource{{Kind: "pod", ID: "a"}}, Response: journal.Message{Body: journal.Body{Text: "x", Length: 9, Truncated: true}}}
	v := journalView(&e)
	require.EqualValues(t, 1500, v.Duration)
	require.Equal(t, map[string]string{"pod": "a"}, v.Resources)
	require.Nil(t, v.Graphql)
	require.Nil(t, v.Fault)
	require.Equal(t, controls.JournalBody{Text: "x", Length: 9, Truncated: true}, v.Response.Body)
	require.Equal(t, []controls.JournalHeader{}, v.Request.Headers)
	require.Nil(t, failureView(journal.Failure{Expectation: 1}).Nearest)

	e.Fault = &journal.Fault{ID: "f", Latency: 250 * time.Millisecond}
	shown := journalView(&e).Fault
	require.EqualValues(t, 250, *shown.Latency)
	require.Nil(t, shown.Status)
	require.Nil(t, shown.Garbage)
}
