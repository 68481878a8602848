package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// pier serves one log.
type pier struct {
	*httptest.Server
	drain context.CancelFunc
	given atomic.Int64 // lines that the client's side took
	ended chan error   // what the reading of the log gave
	log   bytes.Buffer

	clock   *compute.SettableClock // it stands still
	db      store.Store
	keyring *control.Keyring
	key     compute.Key // of who reads
	token   string
	leaving chan struct{} // of the server that it comes by way of; nil: of none
}

// newPier serves what read gives. The handler's end is awaited at the end of the test.
func newPier(t *testing.T, read compute.ReadLog) *pier {
	p := &pier{ended: make(chan error, 1), clock: compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))}
	var err error
	p.db, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), p.clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.db.Close() })
	p.keyring, err = control.NewKeyring(t.Context(), p.db, compute.NewIDs(rand.Reader, p.clock), p.clock, nil)
	require.NoError(t, err)
	p.key, p.token, err = p.keyring.Create(t.Context(), control.NewKey{UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(t, err)

	s := Services{Clock: p.clock, Keyring: p.keyring, Log: slog.New(slog.NewTextHandler(&p.log, nil))}
	s.observed()
	s.tails = newStreams("logs that are followed", logsOfKey, logsInAll)
	s.Draining, p.drain = context.WithCancel(context.Background())

	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) { Refuse(c.Response(), c.Request(), err) }
	e.GET("/", func(c echo.Context) error {
		if p.leaving != nil {
			c.SetRequest(c.Request().WithContext(compute.WithLeaving(c.Request().Context(), p.leaving)))
		}
		r := &request{Context: c, caller: caller{Key: p.key, bearer: true}, front: &front{}, want: compute.ScopeInvoke("e")}
		return s.streamLogs(r, func(ctx context.Context, emit compute.EmitLog) error {
			err := read(ctx, func(l compute.LogLine) error {
				p.given.Add(1)
				return emit(l)
			})
			p.ended <- err
			return err
		})
	})

	p.Server = httptest.NewServer(e)
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(p.Close)
	return p
}

// open gives the answer's body, and what hangs up.
func (p *pier) open(t *testing.T) (io.ReadCloser, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", p.URL, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+p.token)
	response, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
	})
	return response.Body, cancel
}

// endless gives lines of 64 KiB until it may not.
func endless(ctx context.Context, emit compute.EmitLog) error {
	text := strings.Repeat("x", 64<<10)
	for i := int64(1); ctx.Err() == nil; i++ {
		if err := emit(compute.LogLine{Source: compute.LogContainer, Position: i, Text: text}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// stalls waits until no line is taken any more, and gives how many were.
func (p *pier) stalls(t *testing.T) int64 {
	last := int64(-1)
	require.Eventually(t, func() bool {
		before := last
		last = p.given.Load()
		return last > 0 && last == before
	}, 20*time.Second, 200*time.Millisecond)
	return last
}

func TestLogs_WaitForASlowReaderUntilItLeaves(t *testing.T) {
	t.Parallel()
	p := newPier(t, endless)
	_, hangUp := p.open(t)
	require.Less(t, p.stalls(t), int64(1000), "what nobody takes is not read: sockets hold a little")
	hangUp()
	require.Error(t, <-p.ended)
	require.Empty(t, p.log.String())
}

func TestLogs_DrainEndsThemDespiteASlowReader(t *testing.T) {
	t.Parallel()
	quiet := newPier(t, func(ctx context.Context, emit compute.EmitLog) error {
		if err := emit(compute.LogLine{Source: compute.LogSystem, Position: 1_000_000_001, Text: `<"é`}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})

	body, _ := quiet.open(t)
	require.Eventually(t, func() bool { return quiet.given.Load() == 1 }, 10*time.Second, time.Millisecond)
	quiet.drain()
	text, err := io.ReadAll(body)
	require.NoError(t, err, "the answer has its end")
	require.Equal(t, "id: 1970-01-01T00:00:01.000000001Z\n"+
		`data: {"source":"system","line":"<\"é","ts":"1970-01-01T00:00:01.000000001Z"}`+"\n\n", string(text))
	require.ErrorIs(t, <-quiet.ended, context.Canceled)

	stuck := newPier(t, endless)
	stuck.open(t)
	stuck.stalls(t)
	stuck.drain()

	select {
	case err := <-stuck.ended:
		require.Error(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, "the slow reader holds up the drain")
	}
}

// TestLogs_ServerThatStopsBeginsNone: one that ended at once would say that there will be no more lines, and who follows would stop.
func TestLogs_ServerThatStopsBeginsNone(t *testing.T) {
	t.Parallel()
	p := newPier(t, silent)
	p.drain()
	body, _ := p.open(t)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	require.JSONEq(t, `{"title":"Service Unavailable","status":503,"detail":"the server is draining"}`, string(text))
	require.Empty(t, p.ended, "nothing was read")
}

func TestLogs_UnreadableRestIsCutOffNotEnded(t *testing.T) {
	t.Parallel()
	p := newPier(t, func(context.Context, compute.EmitLog) error { return errors.New("the disk is gone") })
	body, _ := p.open(t)
	_, err := io.ReadAll(body)
	require.Error(t, err)
	require.NoError(t, body.Close())
	<-p.ended
	p.Close()
	require.Contains(t, p.log.String(), "the disk is gone")
}

// silent gives no line until it may not.
func silent(ctx context.Context, _ compute.EmitLog) error {
	<-ctx.Done()
	return ctx.Err()
}

// endsInTime reads to the end, which comes when the key was looked at again.
func (p *pier) endsInTime(t *testing.T, body io.Reader) {
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, body)
		read <- err
	}()
	require.Eventually(t, func() bool {
		p.clock.Advance(heartbeat)
		return len(read) > 0
	}, 10*time.Second, 10*time.Millisecond, "the log goes on")
	require.NoError(t, <-read, "the answer has its end")
	require.ErrorIs(t, <-p.ended, context.Canceled)
}

func TestLogs_EndWithTheirKey(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]compute.ReadLog{"quiet": silent, "never quiet": endless} {
		for event, end := range map[string]func(*pier) error{
			"revoked": func(p *pier) error { return p.keyring.Revoke(t.Context(), p.key.ID) },
			"deleted": func(p *pier) error { return p.keyring.Delete(t.Context(), p.key.ID) },
			"of a user who has become a reader": func(p *pier) error {
				role := compute.RoleReader
				_, err := p.keyring.ChangeUser(t.Context(), p.key.UserID, compute.UserChange{Role: &role})
				return err
			},
			"disabled": func(p *pier) error {
				disabled := true
				_, err := p.keyring.ChangeUser(t.Context(), p.key.UserID, compute.UserChange{Disabled: &disabled})
				return err
			},
		} {
			t.Run(name+" "+event, func(t *testing.T) {
				t.Parallel()
				p := newPier(t, read)
				body, _ := p.open(t)
				require.NoError(t, end(p))
				p.endsInTime(t, body)
			})
		}
	}
}

func TestLogs_GoOnWhileNobodyCanSayWhetherTheirKeyIsGood(t *testing.T) {
	t.Parallel()
	p := newPier(t, silent)
	require.NoError(t, p.keyring.Delete(t.Context(), p.key.ID)) // so that it is looked for in the store
	require.NoError(t, p.db.Close())

	body, hangUp := p.open(t)
	lines := bufio.NewScanner(body)
	for range 5 {
		said := make(chan bool, 1)
		go func() { // a comment and the blank line
			comment := lines.Scan()
			said <- comment && lines.Scan()
		}()
		require.Eventually(t, func() bool {
			p.clock.Advance(heartbeat)
			return len(said) > 0
		}, 10*time.Second, 10*time.Millisecond)
		require.True(t, <-said, "the store was away for a moment, and the log ended")
	}
	require.Empty(t, p.ended)
	hangUp()
	require.Error(t, <-p.ended)
}

// TestLogs_EndWhenTheServerBeforeThisOneLeaves: the client asks again, and comes by way of another one.
func TestLogs_EndWhenTheServerBeforeThisOneLeaves(t *testing.T) {
	t.Parallel()
	p := newPier(t, silent)
	p.leaving = make(chan struct{})
	body, _ := p.open(t)
	close(p.leaving)
	_, err := io.ReadAll(body)
	require.NoError(t, err, "the answer has its end")
	require.ErrorIs(t, <-p.ended, context.Canceled)

	again, _ := p.open(t)
	text, err := io.ReadAll(again)
	require.NoError(t, err)
	require.Contains(t, string(text), "the server is draining")
	require.Empty(t, p.ended, "nothing was read")
}

func TestLogs_ThatHaveEndedCountNoMore(t *testing.T) {
	t.Parallel()
	p := newPier(t, func(context.Context, compute.EmitLog) error { return nil })
	for range 101 { // one more than a key may follow at a time
		body, _ := p.open(t)
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Empty(t, string(text), "there is no line")
		require.NoError(t, body.Close())
		require.NoError(t, <-p.ended)
	}
}
