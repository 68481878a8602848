package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// fakeEngine answers as an engine does that has containers, of which it knows but the name and whether they are up. It is for what
// becomes of calls: that what is asked for can be run, the tests with real engines show.
type fakeEngine struct {
	*httptest.Server
	ending     context.Context // ended by Close: a stream of events ends by itself
	end        context.CancelFunc
	mu         sync.Mutex
	containers map[string]bool  // by their names: they are up
	ended      map[string]any   // what else it says of one that is not up
	looks      int              // at containers
	images     http.HandlerFunc // what it says of images; nil: all are there
}

func newFakeEngine(t *testing.T) *fakeEngine {
	f := &fakeEngine{containers: map[string]bool{}}
	f.ending, f.end = context.WithCancel(context.Background())
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// Close ends the engine, whoever listens to its events.
func (f *fakeEngine) Close() {
	f.end()
	f.Server.Close()
}

func (f *fakeEngine) address() string { return "tcp://" + f.Listener.Addr().String() }

// answers has it say that of images.
func (f *fakeEngine) answers(of http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.images = of
}

func (f *fakeEngine) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, has := f.containers[name]
	return has
}

func (f *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	say := func(status int, v any) {
		w.Header().Set("Api-Version", "1.47")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1"), "/") // behind the version
	what, rest, _ := strings.Cut(path, "/")
	name, action, _ := strings.Cut(rest, "/")

	f.mu.Lock()
	defer f.mu.Unlock()
	up, has := f.containers[name]
	switch {
	case what == "events":
		f.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-f.ending.Done():
		}
		f.mu.Lock()
	case what == "images" && f.images != nil:
		f.beside(f.images, w, r)
	case what == "_ping", what == "info", what == "images":
		say(http.StatusOK, map[string]any{})
	case what == "containers" && name == "create":
		f.containers[r.URL.Query().Get("name")] = false
		say(http.StatusCreated, map[string]any{"Id": "x"})
	case what != "containers" || !has:
		say(http.StatusNotFound, map[string]any{"message": "there is none"})
	case r.Method == http.MethodDelete:
		delete(f.containers, name)
		say(http.StatusNoContent, nil)
	case action == "json":
		f.looks++
		state := map[string]any{"Running": up, "Status": map[bool]string{true: "running", false: "exited"}[up]}
		if !up {
			maps.Copy(state, f.ended)
		}
		say(http.StatusOK, map[string]any{"Id": name, "State": state, "Config": map[string]any{"Labels": map[string]any{}}, "HostConfig": map[string]any{}, "NetworkSettings": map[string]any{}})
	default:
		f.containers[name] = action == "start"
		say(http.StatusNoContent, nil)
	}
}

// beside has somebody answer without the lock, which the caller has.
func (f *fakeEngine) beside(answer http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	f.mu.Unlock()
	defer f.mu.Lock()
	answer(w, r)
}

// openFleet gives a fleet of the hosts 1, 2 and so on, whose engines answer.
func openFleet(t *testing.T, log *slog.Logger, engines ...*fakeEngine) *Fleet {
	f, err := NewFleet(FleetConfig{Config: Config{Owner: "o", Host: "unix:///nowhere/docker.sock", Clock: compute.SystemClock{}, Log: log}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	var all []runtime.Engine
	for i, e := range engines {
		all = append(all, runtime.Engine{HostID: string(rune('1' + i)), Address: e.address()})
	}
	require.NoError(t, f.SetEngines(all, false))
	require.Eventually(t, func() bool { return len(f.reached()) == len(engines) }, 10*time.Second, time.Millisecond)
	return f
}

// A pod without a persistent mount is started again wherever there is room.
func TestFleet_LeavesNothingOnTheHostOfAnEarlierRun(t *testing.T) {
	t.Parallel()
	first, second := newFakeEngine(t), newFakeEngine(t)
	f := openFleet(t, nil, first, second)
	up := func() bool {
		state, err := f.Inspect(t.Context(), "a")
		return err == nil && state.Phase == runtime.Up
	}
	require.NoError(t, f.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i", HostID: "1"}))
	require.Eventually(t, up, 10*time.Second, time.Millisecond)
	require.NoError(t, f.Stop(t.Context(), "a", 0))
	require.True(t, first.has("berth-o-a"), "its log can be read")

	require.NoError(t, f.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i", HostID: "2"}))
	require.False(t, first.has("berth-o-a"))
	require.Eventually(t, up, 10*time.Second, time.Millisecond)
	require.True(t, second.has("berth-o-a"))
}

// Users read why their pods do not go on: where an engine is, is for the log.
func TestFleet_AddressesOfEnginesAreForTheLog(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	one := newFakeEngine(t)
	f := openFleet(t, slog.New(slog.NewTextHandler(&log, nil)), one)
	require.NoError(t, f.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i", HostID: "1"}))
	require.Eventually(t, func() bool { return one.has("berth-o-a") }, 10*time.Second, time.Millisecond)
	e := f.on("1")

	address := one.Listener.Addr().String()
	one.Close()
	err := f.Stop(t.Context(), "a", 0)
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.Contains(t, err.Error(), "host 1")
	require.NotContains(t, err.Error(), address)

	e.look()
	state := f.EngineStates()["1"]
	require.False(t, state.Answers)
	require.Regexp(t, `^its engine has not answered for \d+s$`, state.Reason)
	err = f.Stop(t.Context(), "a", 0)
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.Regexp(t, `^the runtime does not answer: host 1: its engine has not answered for \d+s$`, err.Error())
	require.Contains(t, log.String(), address)

	err = f.main.Ping(t.Context())
	require.ErrorIs(t, err, runtime.ErrUnavailable)
	require.NotContains(t, err.Error(), "/nowhere/docker.sock")
	require.Contains(t, whole(err).Error(), "/nowhere/docker.sock")
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "/nowhere/docker.sock") }, 10*time.Second, time.Millisecond)
}

// syncBuffer is a buffer that several write to.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
