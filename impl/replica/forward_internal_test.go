package replica

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// following is a replica that serves, and knows who the owner is as the test says.
type following struct {
	*one
	server *httptest.Server
}

func follow(t *testing.T, id string) *following {
	t.Helper()
	f := &following{one: join(t, &table{}, id, nil)}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

// knows has the replica know the owner of an epoch.
func (f *following) knows(epoch int64, url string) {
	f.see(&view{owner: store.Owner{ID: url, Address: url, Epoch: epoch}})
}

// own makes a replica that owns the store and answers by the handler.
func own(t *testing.T, handler http.HandlerFunc) *following {
	t.Helper()
	f := follow(t, "owner")
	f.see(&view{owner: store.Owner{ID: "owner", Epoch: 1}, service: &played{Handler: handler}, until: (compute.SystemClock{}).Now().Add(time.Hour)})
	return f
}

// pair is a replica that owns the store, by the handler, and another one that knows it.
func pair(t *testing.T, handler http.HandlerFunc) (owner, other *following) {
	t.Helper()
	owner, other = own(t, handler), follow(t, "other")
	other.knows(1, owner.server.URL)
	return owner, other
}

// reply is an answer that was read.
type reply struct {
	StatusCode int
	Header     http.Header
}

// ask makes a request.
func ask(t *testing.T, method, url string, body io.Reader, header http.Header) (reply, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	require.NoError(t, err)
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return reply{answer.StatusCode, answer.Header}, strings.TrimSpace(string(text))
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = w.Write(body)
}

func TestForwarder_PassesTheBodyOnAsItComes(t *testing.T) {
	t.Parallel()
	got := make(chan string)
	_, other := pair(t, func(_ http.ResponseWriter, r *http.Request) {
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			got <- lines.Text()
		}
	})
	in, out := io.Pipe()
	var asking sync.WaitGroup
	asking.Go(func() { ask(t, http.MethodPost, other.server.URL, in, nil) })
	for _, line := range []string{"one", "two"} {
		_, err := io.WriteString(out, line+"\n")
		require.NoError(t, err)
		require.Equal(t, line, <-got, "before the body has ended")
	}
	require.NoError(t, out.Close())
	asking.Wait()
}

func TestForwarder_PassesTheAnswerOnAsItComes(t *testing.T) {
	t.Parallel()
	say := make(chan string)
	_, other := pair(t, func(w http.ResponseWriter, _ *http.Request) {
		for text := range say {
			_, _ = io.WriteString(w, text+"\n")
			_ = http.NewResponseController(w).Flush()
		}
	})
	say2 := func(text string) { say <- text }
	go say2("one")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.server.URL, http.NoBody)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	lines := bufio.NewReader(answer.Body)
	for _, next := range []string{"one\n", "two\n"} {
		if next == "two\n" {
			say2("two")
		}
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, next, line, "before the answer has ended")
	}
	close(say)
	require.NoError(t, answer.Body.Close())
}

func TestForwarder_OwnerSeesARequestAsItWasSent(t *testing.T) {
	t.Parallel()
	type seen struct {
		remote, uri, host string
		header            http.Header
	}
	requests := make(chan seen, 1)
	owner, other := pair(t, func(_ http.ResponseWriter, r *http.Request) {
		requests <- seen{r.RemoteAddr, r.RequestURI, r.Host, r.Header.Clone()}
	})

	for _, at := range []*following{owner, other} {
		ask(t, http.MethodGet, at.server.URL+"/v2/a%2Fb?x=1;2&y=%zz", http.NoBody, http.Header{
			"X-Forwarded-For": {"10.1.1.1"}, "X-Forwarded-Proto": {"https"}, proofHeader: {"guessed"}, clientHeader: {"6.6.6.6:6"}, fromHeader: {"x"}, leavingHeader: {"1"},
		})
		got := <-requests
		require.True(t, strings.HasPrefix(got.remote, "127.0.0.1:"), got.remote)
		require.Equal(t, "/v2/a%2Fb?x=1;2&y=%zz", got.uri)
		require.Equal(t, at.server.Listener.Addr().String(), got.host)
		require.Equal(t, []string{"10.1.1.1"}, got.header["X-Forwarded-For"])
		require.Equal(t, []string{"https"}, got.header["X-Forwarded-Proto"])
		for _, name := range []string{proofHeader, clientHeader, fromHeader, leavingHeader} {
			require.NotContains(t, got.header, name)
		}
	}
}

func TestForwarder_OwnerTakesTheAddressAReplicaSays(t *testing.T) {
	t.Parallel()
	owner := own(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	_, remote := ask(t, http.MethodGet, owner.server.URL, http.NoBody, http.Header{proofHeader: {owner.proof}, clientHeader: {"6.6.6.6:6"}})
	require.Equal(t, "6.6.6.6:6", remote)
	_, remote = ask(t, http.MethodGet, owner.server.URL, http.NoBody, http.Header{proofHeader: {owner.proof, owner.proof}, clientHeader: {"6.6.6.6:6"}})
	require.NotEqual(t, "6.6.6.6:6", remote)
}

func TestForwarder_SaysFromWhereItsClientIs(t *testing.T) {
	t.Parallel()
	_, other := pair(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) })
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v2/pods", http.NoBody)
	r.RemoteAddr = "6.6.6.6:6"
	other.ServeHTTP(w, r)
	require.Equal(t, "6.6.6.6:6", w.Body.String())
}

func TestForwarder_NewOwnerReadsABodyFromItsBeginning(t *testing.T) {
	t.Parallel()
	former, _ := seeing(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set(movedHeader, proofOf([]byte("key"), "not the owner"))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	other := follow(t, "other")
	other.knows(1, former.URL)
	var asking sync.WaitGroup
	asking.Go(func() {
		_, text := ask(t, http.MethodPost, other.server.URL, strings.NewReader("hello"), nil)
		require.Equal(t, "hello", text)
	})
	require.Eventually(t, func() bool { return len(other.look) > 0 }, 10*time.Second, time.Millisecond)
	other.see(&view{owner: store.Owner{ID: "other", Epoch: 2}, service: &played{Handler: http.HandlerFunc(echo)}, until: (compute.SystemClock{}).Now().Add(time.Hour)})
	asking.Wait()
}

func TestForwarder_GoesOneHopAtMost(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	_, other := pair(t, func(http.ResponseWriter, *http.Request) { seen.Add(1) })
	answer, _ := ask(t, http.MethodGet, other.server.URL, http.NoBody, http.Header{proofHeader: {other.proof}})
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	require.NotEmpty(t, answer.Header.Get(movedHeader))
	require.Zero(t, seen.Load())
}

// TestForwarder_TriesTheNextIfTheFirstDeclines: what a replica knew is over, and it asks the owner that it then finds.
func TestForwarder_TriesTheNextIfTheFirstDeclines(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"short": "hello", "long": strings.Repeat("x", 3*mostKept)} {
		former, owner, other := follow(t, "former"), own(t, echo), follow(t, "other")
		other.knows(1, former.server.URL)
		var asking sync.WaitGroup
		asking.Go(func() {
			answer, text := ask(t, http.MethodPost, other.server.URL, strings.NewReader(body), nil)
			require.Equal(t, http.StatusOK, answer.StatusCode, name)
			require.Equal(t, body, text, name)
			require.Empty(t, answer.Header.Get(movedHeader))
		})
		require.Eventually(t, func() bool { return len(other.look) > 0 }, 10*time.Second, time.Millisecond, "it doubts who the owner is")
		other.knows(2, owner.server.URL)
		asking.Wait()
	}
}

// seeing answers requests as the test says, and counts them.
func seeing(t *testing.T, answer http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s, &seen
}

func cutOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestForwarder_OnlyWhoExpectsContinueGetsIt(t *testing.T) {
	t.Parallel()
	_, other := pair(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	for _, c := range []struct {
		header string
		first  int
	}{{"", http.StatusOK}, {"Expect: 100-continue\r\n", http.StatusContinue}} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", other.server.Listener.Addr().String())
		require.NoError(t, err)
		_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n%s\r\n%s", mostKept+1, c.header, strings.Repeat("x", mostKept+1))
		require.NoError(t, err)
		first, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, c.first, first.StatusCode)
		require.NoError(t, first.Body.Close())
		require.NoError(t, conn.Close())
	}
}

func TestForwarder_WhatAPodAnswersIsNoWordOfAReplica(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	_, other := pair(t, func(w http.ResponseWriter, _ *http.Request) {
		seen.Add(1)
		w.Header().Set(movedHeader, "1")
	})
	answer, _ := ask(t, http.MethodPost, other.server.URL, strings.NewReader("pay"), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "1", answer.Header.Get(movedHeader))
	require.EqualValues(t, 1, seen.Load())
}

func TestForwarder_LongBodyIsNotSentTwice(t *testing.T) {
	t.Parallel()
	former, seen := seeing(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set(movedHeader, proofOf([]byte("key"), "not the owner"))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	other := follow(t, "other")
	other.knows(1, former.URL)
	answer, _ := ask(t, http.MethodPost, other.server.URL, strings.NewReader(strings.Repeat("x", 3*mostKept)), nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	require.Empty(t, answer.Header.Get(movedHeader), "it is between replicas")
	require.EqualValues(t, 1, seen.Load())
}

func TestForwarder_PostThatWasSeenIsNotRepeated(t *testing.T) {
	t.Parallel()
	owner, seen := seeing(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cutOff(w, r)
	})
	other := follow(t, "other")
	other.knows(1, owner.URL)
	answer, text := ask(t, http.MethodPost, other.server.URL, strings.NewReader("hello"), nil)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	require.NotEmpty(t, answer.Header.Get("Retry-After"))
	require.Contains(t, text, "may have been done")
	require.EqualValues(t, 1, seen.Load())
}

func TestForwarder_ReadIsRepeatedIfItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	lost, seen := seeing(t, cutOff)
	owner, other := own(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "read") }), follow(t, "other")
	other.knows(1, lost.URL)
	var asking sync.WaitGroup
	asking.Go(func() {
		_, text := ask(t, http.MethodGet, other.server.URL, http.NoBody, nil)
		require.Equal(t, "read", text)
	})
	require.Eventually(t, func() bool { return len(other.look) > 0 }, 10*time.Second, time.Millisecond)
	other.knows(2, owner.server.URL)
	asking.Wait()
	require.NotZero(t, seen.Load())
}

// takesAway is the path of what is asked for by GET and gone once it was answered.
const takesAway = "/taken"

// TestForwarder_OnlyWhatReadsIsRepeated: nor does net/http send anything else again, over a connection that was used before.
func TestForwarder_OnlyWhatReadsIsRepeated(t *testing.T) {
	t.Parallel()
	lost, seen := seeing(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/warm" {
			cutOff(w, r)
		}
	})
	other := follow(t, "other")
	other.knows(1, lost.URL)
	for method, header := range map[string]http.Header{
		http.MethodGet: nil, http.MethodHead: nil, http.MethodOptions: nil, http.MethodPost: {"Idempotency-Key": {"a"}}, http.MethodPatch: {"X-Idempotency-Key": {"a"}},
	} {
		ask(t, http.MethodGet, other.server.URL+"/warm", http.NoBody, nil)
		before := seen.Load()
		answer, _ := ask(t, method, other.server.URL+takesAway, http.NoBody, header)
		require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, method)
		require.EqualValues(t, 1, seen.Load()-before, method)
	}
}

func TestForwarder_PostToAGoneOwnerGoesToTheNext(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	owner, other := own(t, echo), follow(t, "other")
	other.knows(1, gone.URL)
	var asking sync.WaitGroup
	asking.Go(func() {
		_, text := ask(t, http.MethodPost, other.server.URL, strings.NewReader("hello"), nil)
		require.Equal(t, "hello", text)
	})
	require.Eventually(t, func() bool { return len(other.look) > 0 }, 10*time.Second, time.Millisecond)
	other.knows(2, owner.server.URL)
	asking.Wait()
}

// TestForwarder_WaitsForASilentOwnerUntilAnother: one that is stopped keeps its connections open.
func TestForwarder_WaitsForASilentOwnerUntilAnother(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	stopped, seen := seeing(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-over
	})
	defer close(over)
	owner, other := own(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }), follow(t, "other")
	other.knows(1, stopped.URL)

	var asking sync.WaitGroup
	asking.Go(func() {
		_, text := ask(t, http.MethodGet, other.server.URL, http.NoBody, nil)
		require.Equal(t, "here", text)
	})
	asking.Go(func() {
		answer, _ := ask(t, http.MethodPost, other.server.URL, strings.NewReader("hello"), nil)
		require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, "nobody knows what became of it")
	})
	require.Eventually(t, func() bool { return seen.Load() == 2 }, 10*time.Second, time.Millisecond)
	other.knows(2, owner.server.URL)
	asking.Wait()
	require.EqualValues(t, 2, seen.Load())
}

func TestForwarder_KeepsOnlySoMuchOfAllBodies(t *testing.T) {
	t.Parallel()
	const requests = 5
	held, over := make(chan struct{}, requests), make(chan struct{})
	_, other := pair(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		held <- struct{}{}
		<-over
		_, _ = w.Write(body)
	})
	other.forward.kept.most = 3 * mostKept
	body := bytes.Repeat([]byte("x"), mostKept)

	var asking sync.WaitGroup
	for range requests {
		asking.Go(func() {
			_, text := ask(t, http.MethodPost, other.server.URL, bytes.NewReader(body), nil)
			require.Len(t, text, mostKept, "what is not kept arrives, too")
		})
	}
	for range requests {
		<-held
	}
	require.LessOrEqual(t, other.forward.kept.now.Load(), other.forward.kept.most)
	require.Greater(t, other.forward.kept.now.Load(), int64(mostKept))
	close(over)
	asking.Wait()
	require.Eventually(t, func() bool { return other.forward.kept.now.Load() == 0 }, 10*time.Second, time.Millisecond)
}

func TestForwarder_LeavingReplicasRequestsAreHeldNoLonger(t *testing.T) {
	t.Parallel()
	held := make(chan struct{}, 1)
	owner, other := pair(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		held <- struct{}{}
		select {
		case <-compute.Leaving(r.Context()):
			_, _ = io.WriteString(w, "left")
		case <-r.Context().Done():
		}
	})

	// A stranger's word does nothing.
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, owner.server.URL, http.NoBody)
	require.NoError(t, err)
	r.Header[fromHeader], r.Header[leavingHeader] = []string{"other"}, []string{"1"}
	var asking sync.WaitGroup
	asking.Go(func() {
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		require.ErrorIs(t, err, context.Canceled)
	})
	<-held
	cancel()
	asking.Wait()

	asking.Go(func() {
		_, text := ask(t, http.MethodGet, other.server.URL, http.NoBody, nil)
		require.Equal(t, "left", text)
	})
	<-held
	other.Hurry(t.Context())
	asking.Wait()

	_, text := ask(t, http.MethodGet, other.server.URL, http.NoBody, nil)
	<-held
	require.Equal(t, "left", text, "what comes then is not held either")
	require.Eventually(t, func() bool {
		owner.senders.mu.Lock()
		defer owner.senders.mu.Unlock()
		return len(owner.senders.all) == 0
	}, 10*time.Second, time.Millisecond)
}
