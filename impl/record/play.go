package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/journal/bodies"
	"github.com/berthdev/berth/spec/answers"
)

// Player answers requests from a recording. It is safe for concurrent use.
type Player struct {
	Latency bool          // answers take as long as they did
	Clock   compute.Clock // nil: the machine's

	known *interfaces
	equal map[string][]*played // exchanges of equal requests, by number
	cut   map[string][]*played // those whose request's body was not kept to its end, by what else they have in common
	all   []*played
	most  int64 // bytes of the longest request body that was recorded, as it was sent

	mu   sync.Mutex
	next map[int64]int // which of the exchanges that answer a request comes next, by the number of the first
}

// played is an exchange with its request's body, read.
type played struct {
	*Exchange
	body any
	sent sent // of a request that came
}

// NewPlayer makes a player of a recording.
func NewPlayer(r *Recording) (*Player, error) {
	known, err := loadInterfaces()
	if err != nil {
		return nil, err
	}
	p := &Player{Clock: compute.SystemClock{}, known: known, equal: map[string][]*played{}, cut: map[string][]*played{}, next: map[int64]int{}, most: graphqlBody}
	for i := range r.Exchanges {
		x := &played{Exchange: &r.Exchanges[i], body: r.Exchanges[i].Request.read()}
		if x.Request.Truncated {
			p.cut[frame(x)] = append(p.cut[frame(x)], x)
		} else {
			p.equal[key(x)] = append(p.equal[key(x)], x)
		}
		p.all = append(p.all, x)
		p.most = max(p.most, min(x.Request.Length, longestLine))
	}
	return p, nil
}

// frame is what equal requests have in common beside their bodies: the names of parameters stand in no order. Which key a request has makes no
// difference, but that it has one does.
func frame(x *played) string {
	return strings.Join([]string{x.Method, x.Path, sorted(x.Query), x.Request.Header(contractHeader), strconv.FormatBool(x.Key > 0)}, "\n")
}

// key is what equal requests have in common: the names of members stand in no order, and how a number is written makes no difference.
func key(x *played) string {
	body, err := json.Marshal(x.body)
	if err != nil {
		body = []byte(x.Request.Body)
	}
	return frame(x) + "\n" + string(body)
}

// sorted gives a query with its parameters by their names.
func sorted(query string) string {
	pairs := strings.Split(query, "&")
	slices.SortStableFunc(pairs, func(a, b string) int {
		nameA, _, _ := strings.Cut(a, "=")
		nameB, _, _ := strings.Cut(b, "=")
		return strings.Compare(nameA, nameB)
	})
	return strings.Join(pairs, "&")
}

// ServeHTTP answers as the service did: of equal requests the first as the first was, and so on; the last answer is repeated.
func (p *Player) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, document := p.known.named(req.Method, req.URL.Path)
	asked, err := p.read(w, req)
	if err != nil {
		refuse(w, document, http.StatusBadRequest, "the body cannot be read, or is longer than any that was recorded", nil)
		return
	}

	x := p.answer(asked)
	if x == nil {
		near := p.nearest(asked)
		refuse(w, document, http.StatusNotFound, missing(asked, near), near)
		return
	}
	if x.Response.Truncated && !x.streamed() {
		refuse(w, document, http.StatusBadGateway, "the answer of exchange "+strconv.FormatInt(x.Number, 10)+" was not recorded to its end: berth record --body keeps longer ones", nil)
		return
	}
	p.play(w, req, x)
}

// read reads a request as it would have been recorded, all of its body.
func (p *Player) read(w http.ResponseWriter, req *http.Request) (*played, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, p.most+journal.Slack))
	if err != nil {
		return nil, err
	}
	keys := bodies.Credentials(req)
	of := sent{method: req.Method, url: req.URL, keys: keys, request: journal.Sent{Headers: req.Header, Body: body, Length: int64(len(body))}}
	x := p.known.masked(of, math.MaxInt)
	if len(keys) > 0 {
		x.Key = 1
	}
	return &played{&x, x.Request.read(), of}, nil
}

// answer gives the exchange that answers a request; nil: none does.
func (p *Player) answer(asked *played) *played {
	all := slices.Clone(p.equal[key(asked)])
	for _, x := range p.cut[frame(asked)] {
		if p.begins(asked, x) {
			all = append(all, x)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *played) int { return cmp.Compare(a.Number, b.Number) })

	p.mu.Lock()
	defer p.mu.Unlock()
	x := all[min(p.next[all[0].Number], len(all)-1)]
	p.next[all[0].Number]++
	return x
}

// begins reports whether the body of a request is as long as the recorded one, and begins with what was kept of that. What is masked is so by what
// was seen, which was not always all: it is tried with as much of it, too.
func (p *Player) begins(asked, recorded *played) bool {
	if asked.Request.Length != recorded.Request.Length {
		return false
	}
	kept, _ := recorded.Request.bytes() // who read the recording knows that it can be decoded
	if body, _ := asked.Request.bytes(); bytes.HasPrefix(body, kept) {
		return true
	}
	cut := asked.sent
	cut.request.Body = cut.request.Body[:min(len(cut.request.Body), seen(asked.Path, len(kept)))]
	x := p.known.masked(cut, math.MaxInt)
	body, _ := x.Request.bytes()
	return bytes.HasPrefix(body, kept)
}

// streamed reports whether the answer came piece by piece, so that a part of it is good for something.
func (x *Exchange) streamed() bool {
	return strings.HasPrefix(x.Response.Header("Content-Type"), answers.EventStream)
}

// play writes a recorded answer.
func (p *Player) play(w http.ResponseWriter, req *http.Request, x *played) {
	began := p.Clock.Now()
	if !p.wait(req.Context(), began, x.HeadMs) {
		panic(http.ErrAbortHandler) // nobody waits for it
	}
	for _, h := range x.Response.Headers {
		w.Header().Add(h.Name, h.Value)
	}
	body, _ := x.Response.bytes() // who read the recording knows that it can be decoded
	if !x.streamed() && req.Method != http.MethodHead && x.Status != http.StatusNoContent && x.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(x.Status)
	_ = http.NewResponseController(w).Flush()
	if p.wait(req.Context(), began, x.TookMs) {
		_, _ = io.Copy(w, bytes.NewReader(body)) // the client may have gone
	}
}

// wait waits until so many milliseconds have passed, if answers take their time. It reports whether the client still waits.
func (p *Player) wait(ctx context.Context, began time.Time, ms float64) bool {
	if !p.Latency {
		return ctx.Err() == nil
	}
	left := time.Duration(ms*float64(time.Millisecond)) - p.Clock.Now().Sub(began)
	if left <= 0 {
		return ctx.Err() == nil
	}
	over, stop := p.Clock.After(left)
	defer stop()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// near is the exchange whose request is most like one that nothing answers.
type near struct {
	Number      int64     `json:"number"`
	Differences []differs `json:"differences"`
	request     string
}

// differs is a part of a request that another one has otherwise, as in the journal.
type differs struct {
	Member   string `json:"member"`
	Expected string `json:"expected"` // in the recording
	Found    string `json:"found"`
}

// nearest gives the exchange whose request has the fewest differences from the one that came; of several the last. One for something else
// altogether is none.
func (p *Player) nearest(asked *played) *near {
	var best *near
	for _, x := range p.all {
		if x.Operation != asked.Operation || x.Operation == unknownOperation && x.Path != asked.Path || !slices.Equal(x.Fields, asked.Fields) {
			continue
		}
		found := differences(x, asked)
		if best == nil || len(found) <= len(best.Differences) {
			best = &near{x.Number, found, x.Method + " " + x.address()}
		}
	}
	return best
}

// differences gives what is otherwise in a request than in the recorded one.
func differences(recorded, asked *played) (all []differs) {
	add := func(member, expected, found string) {
		if expected != found {
			all = append(all, differs{member, shortened(expected), shortened(found)})
		}
	}
	add("method", recorded.Method, asked.Method)
	add("path", recorded.Path, asked.Path)
	parametersOf(recorded.Query, asked.Query, add)
	add("header "+contractHeader, recorded.Request.Header(contractHeader), asked.Request.Header(contractHeader))
	add("key", keyed(recorded.Key), keyed(asked.Key))
	if recorded.Request.Truncated {
		add("length of the body", strconv.FormatInt(recorded.Request.Length, 10), strconv.FormatInt(asked.Request.Length, 10))
		kept := recorded.Request.Body
		add("beginning of the body", kept, strings.ToValidUTF8(asked.Request.Body[:min(len(asked.Request.Body), len(kept))], ""))
		return all
	}

	d := differ{exact: true}
	d.values(at{}, recorded.body, asked.body)
	for _, one := range d.found {
		member := strings.TrimSuffix("body "+one.pointer, " ")
		if one.kind == Order {
			member = "order of " + member
		}
		add(member, orNothing(one.left), orNothing(one.right))
	}
	return all
}

func keyed(n int) string {
	if n > 0 {
		return "one"
	}
	return "none"
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// parametersOf compares the parameters of two queries.
func parametersOf(recorded, asked string, add func(member, expected, found string)) {
	a, errA := url.ParseQuery(recorded)
	b, errB := url.ParseQuery(asked)
	if errA != nil || errB != nil {
		add("query", recorded, asked)
		return
	}
	names := map[string]bool{}
	for _, values := range []url.Values{a, b} {
		for name := range values {
			names[name] = true
		}
	}
	for _, name := range sortedKeys(names) {
		add("query "+name, orNothing(strings.Join(a[name], ", ")), orNothing(strings.Join(b[name], ", ")))
	}
}

func sortedKeys(m map[string]bool) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// missing says that nothing answers a request, and what the nearest recorded one has otherwise.
func missing(asked *played, n *near) string {
	text := "nothing in the recording answers " + asked.Method + " " + asked.address()
	if n == nil {
		return text + ", and no exchange is for that operation"
	}
	text += "; the nearest is exchange " + strconv.FormatInt(n.Number, 10) + ", " + n.request
	for i, d := range n.Differences {
		if i == mostNamed {
			text += "; …"
			break
		}
		text += "; " + d.Member + " is " + d.Found + ", recorded is " + d.Expected
	}
	return text
}

// mostNamed bounds the differences that a sentence names.
const mostNamed = 5
