package fault_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal"
)

var quiet = slog.New(slog.DiscardHandler)

// call is a call of the operation with that body.
func call(operation, body string) fault.Call {
	return fault.Call{Operation: operation, Body: func() []byte { return []byte(body) }}
}

// show shows the fault before a call of run, and gives its status; 0: there is none.
func show(t *testing.T, s *fault.Script, c fault.Call) int {
	_, err := s.Show(t.Context(), c, compute.SystemClock{}, quiet)
	if err == nil {
		return 0
	}
	of := &fault.Answer{}
	require.ErrorAs(t, err, &of)
	return of.Status
}

func script(t *testing.T, faults ...fault.Fault) *fault.Script {
	s := &fault.Script{}
	require.NoError(t, s.Set(faults))
	return s
}

// held writes an answer in pieces of that length, and gives what came of it.
func held(t *testing.T, s *fault.Script, status int, pieces ...string) (w *httptest.ResponseRecorder, err error, cut bool) {
	w = httptest.NewRecorder()
	h := s.Hold(t.Context(), w, false, compute.SystemClock{}, quiet, call("run", ""))
	require.NotNil(t, h)
	defer func() {
		if trouble := recover(); trouble != nil {
			require.Equal(t, http.ErrAbortHandler, trouble)
			cut = true
		}
	}()

	h.Header().Set("X-Mine", "yes")
	h.WriteHeader(status)
	for _, p := range pieces {
		n, err := h.Write([]byte(p))
		require.NoError(t, err)
		require.Equal(t, len(p), n)
	}
	return w, h.End(), false
}

func TestScript_HasNoneAtFirst(t *testing.T) {
	t.Parallel()
	var none *fault.Script
	require.True(t, none.None())
	require.Zero(t, show(t, none, call("run", "")))
	s := &fault.Script{}
	require.True(t, s.None())
	require.Nil(t, s.Hold(t.Context(), httptest.NewRecorder(), false, compute.SystemClock{}, quiet, call("run", "")))
	f, err := s.Add(fault.Fault{Operation: "run", When: fault.Before, Status: 500})
	require.NoError(t, err)
	require.False(t, s.None())
	require.NoError(t, s.Delete(f.ID))
	require.True(t, s.None())
}

func TestScript_GivesIDsThatNobodyHas(t *testing.T) {
	t.Parallel()
	s := script(t, fault.Fault{ID: "fault-2", Operation: "run"}, fault.Fault{Operation: "run"}, fault.Fault{Operation: "run"})
	ids := map[string]bool{}
	for _, f := range s.List() {
		ids[f.ID] = true
	}
	require.Len(t, ids, 3)
	require.Equal(t, compute.Rejected, compute.CodeOf(s.Set([]fault.Fault{{ID: "a"}, {ID: "a"}})))
	require.Len(t, s.List(), 3, "what is refused changes nothing")
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Delete("a")))
	_, err := s.Add(fault.Fault{ID: "fault-2"})
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
}

func TestScript_ReadsABodyOnlyIfAFaultDependsOnIt(t *testing.T) {
	t.Parallel()
	read := 0
	c := fault.Call{Operation: "run", Body: func() []byte { read++; return []byte(`{"n":7}`) }}
	s := script(t, fault.Fault{Operation: "run", When: fault.Before, Status: 500, Nth: 9}, fault.Fault{
		Operation: "cancel", When: fault.Before, Status: 500, Body: []journal.Value{{Pointer: "/n", Equals: []byte("7")}},
	})
	require.Zero(t, show(t, s, c))
	require.Zero(t, read)
	of := fault.Fault{Operation: fault.Every, When: fault.Before, Status: 501, Body: []journal.Value{{Pointer: "/n", Equals: []byte("7")}}}
	require.Equal(t, 501, show(t, script(t, of, of), c))
	require.Equal(t, 1, read)
}

func TestScript_CountsCallsThatComeTogether(t *testing.T) {
	t.Parallel()
	s := script(t, fault.Fault{Operation: "run", When: fault.Before, Status: 500, Times: 10})
	var together sync.WaitGroup
	var met atomic.Int64
	for range 100 {
		together.Go(func() {
			if _, err := s.Show(t.Context(), call("run", ""), compute.SystemClock{}, quiet); err != nil {
				met.Add(1)
			}
			_, _ = s.List(), s.None()
		})
	}

	together.Wait()
	require.EqualValues(t, 10, met.Load())
	require.EqualValues(t, 100, s.List()[0].Calls)
}

func TestScript_HoldsNoLongBodies(t *testing.T) {
	t.Parallel()
	of := fault.Fault{Operation: "run", When: fault.Before, Status: 500, Body: []journal.Value{{Pointer: "/n", Equals: []byte("7")}}}
	s := script(t, of)
	const body = `{"n":7}`
	require.Equal(t, 500, show(t, s, call("run", body+strings.Repeat(" ", 1<<20-len(body)))))
	require.Zero(t, show(t, s, call("run", body+strings.Repeat(" ", 1<<20))))
}

func TestScript_DrawsTheSameWhateverElseIsCalled(t *testing.T) {
	t.Parallel()
	half := 0.5
	run := func(between int) (statuses []int) {
		s := script(t, fault.Fault{Operation: "run", When: fault.Before, Status: 500, Probability: &half, Seed: new(int64(5))},
			fault.Fault{Operation: "cancel", When: fault.Before, Status: 501, Probability: &half})
		for range 50 {
			for range between {
				show(t, s, call("cancel", ""))
			}
			statuses = append(statuses, show(t, s, call("run", "")))
		}
		return statuses
	}

	require.Equal(t, run(0), run(3))
	require.Contains(t, run(0), 500)
	require.Contains(t, run(0), 0)
}

func TestHeld_IsAsItWasWithoutAFault(t *testing.T) {
	t.Parallel()
	never := fault.Fault{Operation: "run", When: fault.After, Drop: true, Nth: 1 << 40}
	for _, pieces := range [][]string{nil, {"a", "b"}, {strings.Repeat("x", 3<<19), strings.Repeat("y", 3<<19), "z"}} {
		w, err, cut := held(t, script(t, never), 201, pieces...)
		require.NoError(t, err)
		require.False(t, cut)
		require.Equal(t, 201, w.Code)
		require.Equal(t, "yes", w.Header().Get("X-Mine"))
		require.Empty(t, w.Header().Get("Content-Length"), "it is for net/http to say")
		require.Equal(t, strings.Join(pieces, ""), w.Body.String())
	}
}

func TestHeld_GivesNothingOfAnAnswerThatIsReplaced(t *testing.T) {
	t.Parallel()
	for _, f := range []fault.Fault{{Status: 503}, {Drop: true}} {
		f.Operation, f.When = "run", fault.After
		w, err, cut := held(t, script(t, f), 200, strings.Repeat("x", 3<<19), "end")
		require.Equal(t, f.Drop, cut)
		require.Equal(t, !f.Drop, err != nil)
		require.Zero(t, w.Body.Len())
		require.Empty(t, w.Header())
	}
}

func TestHeld_SendsAPartOfTheBody(t *testing.T) {
	t.Parallel()
	f := fault.Fault{Operation: "run", When: fault.After, Half: new(int64(75))}
	w, _, cut := held(t, script(t, f), 200, "abcd", "efgh")
	require.True(t, cut)
	require.Equal(t, "abcdef", w.Body.String())
	require.Equal(t, "8", w.Header().Get("Content-Length"))

	long := strings.Repeat("x", 1<<20)
	w, _, cut = held(t, script(t, f), 200, long, long, long, long)
	require.True(t, cut)
	require.Equal(t, 1<<20, w.Body.Len(), "no more is kept")
	require.Equal(t, "4194304", w.Header().Get("Content-Length"))
}

func TestHeld_HasNothingToSpoilWithoutABody(t *testing.T) {
	t.Parallel()
	f := fault.Fault{Operation: "run", When: fault.After, Half: new(int64(75)), Garbage: true}
	w, err, cut := held(t, script(t, f), 204)
	require.NoError(t, err)
	require.False(t, cut)
	require.Equal(t, 204, w.Code)
	require.Empty(t, w.Header().Get("Content-Length"))
}

func TestHeld_SpoilsLongBodiesAsTheyCome(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	w, err, _ := held(t, script(t, fault.Fault{Operation: "run", When: fault.After, Garbage: true}), 200, long, "end")
	require.NoError(t, err)
	require.Equal(t, len(long)+3, w.Body.Len())
	require.Equal(t, byte(0xff), w.Body.Bytes()[0])
	require.NotContains(t, w.Body.String(), "xxxx")
}

func TestHeld_TakesTheTimeOfItsBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w, err, _ := held(t, script(t, fault.Fault{Operation: "run", When: fault.After, BytesPerSecond: 100, Latency: 3 * time.Second}), 200, strings.Repeat("x", 1000))
		require.NoError(t, err)
		require.Equal(t, 1000, w.Body.Len())
		require.Equal(t, 13*time.Second, time.Since(began))
		require.Equal(t, "1000", w.Header().Get("Content-Length"))
	})
}

func TestHeld_LeavesRefusalsAndStreamsAlone(t *testing.T) {
	t.Parallel()
	s := script(t, fault.Fault{Operation: "run", When: fault.After, Drop: true})
	w, err, cut := held(t, s, 404, "no")
	require.NoError(t, err)
	require.False(t, cut)
	require.Equal(t, 404, w.Code)
	require.Zero(t, s.List()[0].Calls)

	w = httptest.NewRecorder()
	h := s.Hold(t.Context(), w, false, compute.SystemClock{}, quiet, call("run", ""))
	h.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, err = h.Write([]byte("data: 1\n\n"))
	require.NoError(t, err)
	require.NoError(t, http.NewResponseController(h).Flush())
	require.Equal(t, "data: 1\n\n", w.Body.String(), "before it ends")
	require.True(t, w.Flushed)
	require.NoError(t, h.End())
	require.Zero(t, s.List()[0].Calls)
}

func TestHeld_EndsWithItsClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := script(t, fault.Fault{Operation: "run", When: fault.After, Latency: time.Hour})
	w := httptest.NewRecorder()
	h := s.Hold(ctx, w, false, compute.SystemClock{}, quiet, call("run", ""))
	h.WriteHeader(200)
	require.NoError(t, h.FlushError())
	cancel()
	require.ErrorIs(t, h.FlushError(), context.Canceled)
	require.ErrorIs(t, h.End(), context.Canceled)
	require.False(t, h.Begun())
}
