package journal

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// began is when the tests begin.
var began = time.UnixMilli(1_700_000_000_000).UTC()

// sent notes a request, whose members the test says.
func sent(j *Journal, x Exchange) *Entry {
	r := j.Begin(began)
	r.By(compute.Key{ID: "key1", UserID: "somebody"})
	x.At = began.Add(time.Duration(r.arrived) * time.Second)
	x.End = began
	j.End(r, x)
	all, _ := j.all()
	return all[len(all)-1]
}

func numbersOf(entries []*Entry) (all []int64) {
	for _, e := range entries {
		all = append(all, e.Number)
	}
	return all
}

func TestJournal_DropsTheOldest(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 3, Body: 10, Bytes: 1 << 20})
	for range 5 {
		sent(j, Exchange{Method: "GET"})
	}
	found, dropped := j.List(Filter{})
	require.Equal(t, []int64{3, 4, 5}, numbersOf(found))
	require.EqualValues(t, 2, dropped)
	_, err := j.Get(2)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	e, err := j.Get(4)
	require.NoError(t, err)
	require.EqualValues(t, 4, e.Number)

	j.Clear()
	found, dropped = j.List(Filter{})
	require.Empty(t, found)
	require.Zero(t, dropped)
	require.EqualValues(t, 6, sent(j, Exchange{}).Number)
}

func TestJournal_ForgetsWhatCameBeforeItWasCleared(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	before := j.Begin(time.Time{})
	j.Clear()
	after := j.Begin(time.Time{})
	j.End(before, Exchange{Method: "GET"})
	j.End(after, Exchange{Method: "PUT"})
	found, _ := j.List(Filter{})
	require.Len(t, found, 1)
	require.Equal(t, "PUT", found[0].Method)
}

func TestJournal_BoundsAllBytesTogether(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 1000, Body: 10_000, Bytes: 50_000})
	body := []byte(strings.Repeat("x", 10_000))
	for range 20 {
		sent(j, Exchange{Request: Sent{Body: body, Length: 10_000}})
	}
	found, dropped := j.List(Filter{})
	require.Len(t, found, 4)
	require.EqualValues(t, 16, dropped)
	require.LessOrEqual(t, j.bytes, j.bounds.Bytes)

	j.Clear()
	require.Zero(t, j.bytes)
}

func TestJournal_KeepsTheLastEntryHoweverLong(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 5, Body: 1000, Bytes: 10})
	sent(j, Exchange{})
	sent(j, Exchange{})
	found, _ := j.List(Filter{})
	require.Equal(t, []int64{2}, numbersOf(found))
}

func TestJournal_BoundsABody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, text   string
		length       int64
		base64, rest bool
	}{
		"whole":              {"0123456789", "0123456789", 10, false, false},
		"longer":             {"0123456789ab", "0123456789", 12, false, true},
		"not seen":           {"", "", 70, false, true},
		"within a character": {"012345678€", "012345678", 12, false, true},
		"no text":            {"\xff\xfe", "//4=", 2, true, false},
		"no text, longer":    {"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff", "//7//v/+//7//g==", 11, true, true},
		"ends wrongly":       {"abc\xe2\x82", "YWJj4oI=", 5, true, false},
	} {
		e := sent(New(Bounds{Entries: 9, Body: 10, Bytes: 1 << 20}), Exchange{Request: Sent{Body: []byte(c.body), Length: c.length}})
		require.Equal(t, Body{Text: c.text, Base64: c.base64, Length: c.length, Truncated: c.rest}, e.Request.Body, name)
	}
}

func TestJournal_BoundsWhatIsNoBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	e := sent(New(DefaultBounds()), Exchange{Path: "/" + long, Query: long, Method: long, Host: long, Request: Sent{Headers: map[string][]string{"A": {long}}}, Resources: []Resource{{"pod", long}}})
	require.Less(t, e.size(), int64(100<<10))
	require.Len(t, e.Request.Headers[0].Value, mostText)
	require.Len(t, e.Path, mostText)
}

func TestJournal_CountsWhatEntriesHaveManyOf(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 1000, Body: 10, Bytes: 1 << 20})
	x := Exchange{
		Method: "POST", Request: Sent{Headers: map[string][]string{"A": make([]string, 5000)}}, Resources: []Resource{{"pod", "p"}},
		Document: &Document{Name: "Stop", Fields: []string{"podStop", "pod"}},
	}
	e := sent(j, x)
	require.EqualValues(t, 1024+len("POST")+5000*(len("A")+48)+len("p")+32+len("Stop")+len("podStop")+len("pod")+2*24, e.size())

	for range 9 {
		sent(j, x)
	}
	found, _ := j.List(Filter{})
	require.Len(t, found, 4, "most of it is none of their texts")
}

// TestJournal_KeepsNothingElseOfARequest sends texts as net/http has them: parts of longer ones.
func TestJournal_KeepsNothingElseOfARequest(t *testing.T) {
	t.Parallel()
	line := "GET /v2/pods?" + strings.Repeat("x", 1<<20) + " HTTP/1.1"
	method, query, protocol := line[:3], line[13:len(line)-9], line[len(line)-8:]
	e := sent(New(DefaultBounds()), Exchange{Method: method, Path: line[4:12], Query: query, Protocol: protocol, Host: line[5:7], Resources: []Resource{{"pod", line[8:12]}}})
	require.Equal(t, []string{"GET", "/v2/pods", "HTTP/1.1", "v2", "pods"}, []string{e.Method, e.Path, e.Protocol, e.Host, e.Resources[0].ID})
	within := func(text string) bool {
		at, from := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(line)))
		return at >= from && at < from+uintptr(len(line))
	}
	require.True(t, within(method))
	for _, kept := range []string{e.Method, e.Path, e.Query, e.Protocol, e.Host, e.Resources[0].ID, bounded(query)} {
		require.False(t, within(kept), kept[:2])
	}
}

func TestJournal_Filters(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	sent(j, Exchange{Method: "POST", Path: "/v2/e1/run", Operation: "run", Status: 200, Resources: []Resource{{"endpoint", "e1"}}})
	sent(j, Exchange{Method: "GET", Path: "/v2/pods", Operation: "listPods", Status: 404})
	sent(j, Exchange{Method: "POST", Path: "/graphql", Operation: "graphql", Status: 200, Document: &Document{Name: "Stop", Fields: []string{"podStop", "podTerminate"}}})
	j.End(j.Begin(began), Exchange{Method: "GET", Path: "/v2/pods/p", Operation: "getPod", At: began.Add(4 * time.Second)})

	number := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		filter Filter
		want   []int64
	}{
		"none":           {Filter{}, []int64{1, 2, 3, 4}},
		"operation":      {Filter{Operation: "run"}, []int64{1}},
		"graphql":        {Filter{Operation: "graphql"}, []int64{3}},
		"a field":        {Filter{Operation: "graphql.podTerminate"}, []int64{3}},
		"no field":       {Filter{Operation: "podStop"}, nil},
		"method":         {Filter{Method: "POST"}, []int64{1, 3}},
		"path":           {Filter{PathPrefix: "/v2/pods"}, []int64{2, 4}},
		"key":            {Filter{KeyID: "key1"}, []int64{1, 2, 3}},
		"resource":       {Filter{Resource: "e1"}, []int64{1}},
		"status":         {Filter{Status: "404"}, []int64{2}},
		"class":          {Filter{Status: "2xx"}, []int64{1, 3}},
		"no answer":      {Filter{Status: "0"}, []int64{4}},
		"since":          {Filter{Since: began.Add(3 * time.Second)}, []int64{3, 4}},
		"until":          {Filter{Until: began.Add(3 * time.Second)}, []int64{1, 2}},
		"after":          {Filter{AfterNumber: number(2)}, []int64{3, 4}},
		"the last":       {Filter{Limit: 2}, []int64{3, 4}},
		"the first":      {Filter{Limit: 2, AfterNumber: number(0)}, []int64{1, 2}},
		"more than one":  {Filter{Method: "POST", Status: "2xx", Operation: "run"}, []int64{1}},
		"nothing at all": {Filter{Method: "POST", Status: "4xx"}, nil},
	} {
		found, _ := j.List(c.filter)
		require.Equal(t, c.want, numbersOf(found), name)
	}
}

func TestJournal_NumbersByTheEndAndTimesByTheStart(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	first, second := j.Begin(began), j.Begin(began.Add(time.Second))
	j.End(second, Exchange{At: began.Add(time.Second), End: began.Add(2 * time.Second), Operation: "second"})
	first.Met(Fault{Operation: "*", Drop: true})
	j.End(first, Exchange{At: began, End: began.Add(5 * time.Second), Operation: "first"})
	all, _ := j.all()
	require.Equal(t, "second", all[0].Operation)
	require.Equal(t, time.Second, all[0].Duration)
	require.Nil(t, all[0].Fault)
	require.Equal(t, 5*time.Second, all[1].Duration)
	require.Equal(t, &Fault{Operation: "*", Drop: true}, all[1].Fault)
}

func TestJournal_IsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 10, Body: 10, Bytes: 1 << 20})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				r := j.Begin(began)
				j.End(r, Exchange{Operation: "x"})
				j.List(Filter{Operation: "x"})
			}
		})
	}
	all.Wait()
	found, dropped := j.List(Filter{})
	require.Len(t, found, 10)
	require.EqualValues(t, 390, dropped)
}

func TestRecord_OfNobodyTakesWhatItIsTold(t *testing.T) {
	t.Parallel()
	r := Of(t.Context())
	require.Nil(t, r)
	r.By(compute.Key{ID: "a"})
	r.Met(Fault{})
	with := New(DefaultBounds()).Begin(began)
	require.Same(t, with, Of(With(t.Context(), with)))
}

func TestVerify_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	sent(j, Exchange{})
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	_, _, err := j.Verify(ctx, []Expectation{{}}, false)
	require.ErrorIs(t, err, context.Canceled)
}
