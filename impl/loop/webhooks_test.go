package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

func TestWebhooks_AreTriedThreeTimesAndLogged(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	var mu sync.Mutex

	posts := map[string]int{}
	hooks := loop.NewWebhooks(loop.Delivery{Store: db, Post: func(_ context.Context, url string, body io.Reader, size int64) (int, error) {
		mu.Lock()
		defer mu.Unlock()

		document, err := io.ReadAll(body)
		require.NoError(t, err)
		require.JSONEq(t, `{"id":"j"}`, string(document))
		require.EqualValues(t, len(document), size)

		posts[url]++
		if url == "http://good/" || url == "http://late/" && posts[url] == 2 {
			return 204, nil
		}
		return 500, errors.New("the receiver answered 500")
	}, Clock: clock, Log: slog.New(slog.DiscardHandler)})

	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for _, url := range []string{"http://good/", "http://late/", "http://bad/"} {
			w := compute.Webhook{JobID: "j", URL: url, Body: []byte(`{"id":"j"}`), NextAt: tx.Now(), CreatedAt: tx.Now()}
			if err := tx.InsertWebhook(w); err != nil {
				return err
			}
		}
		return nil
	}))

	for _, want := range []map[string]int{
		{"http://good/": 1, "http://late/": 1, "http://bad/": 1},
		{"http://good/": 1, "http://late/": 2, "http://bad/": 2},
		{"http://good/": 1, "http://late/": 2, "http://bad/": 3},
		{"http://good/": 1, "http://late/": 2, "http://bad/": 3},
	} {
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, want, posts)
		clock.Advance(10*time.Second - time.Millisecond)
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, want, posts, "not before ten seconds are over")
		clock.Advance(time.Millisecond)
	}

	next, err := hooks.Next(t.Context())
	require.NoError(t, err)
	require.Zero(t, next)
	var log []compute.Webhook
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) (err error) {
		log, err = tx.ListWebhooks(9)
		return err
	}))
	require.Len(t, log, 3)
	require.Equal(t, "http://bad/", log[0].URL)
	require.Equal(t, 3, log[0].Tries)
	require.Equal(t, 500, log[0].Status)
	require.Equal(t, "the receiver answered 500", log[0].Error)
	require.Equal(t, 2, log[1].Tries)
	require.Empty(t, log[1].Error)
}

// post is where documents go in a test.
type post struct {
	*testing.T
	db    store.Store
	hooks *loop.Webhooks

	mu      sync.Mutex
	answers func(url string) int // the status; 0: it never answers
	now     map[string]int       // tries that are under way
	most    map[string]int       // at once; "": of all receivers together
	tries   map[string][]time.Time
	held    int // bytes of bodies that were not read to their end
	heldMax int
	room    int // for large ones; 0: as usual
}

// newPost begins to deliver, in a synctest bubble: the time is real for all who are in it.
func newPost(t *testing.T, answers func(url string) int) *post {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	p := &post{T: t, db: db, answers: answers, now: map[string]int{}, most: map[string]int{}, tries: map[string][]time.Time{}}
	return p
}

// run delivers until the function that it gives is called.
func (p *post) run() (stop func()) {
	p.hooks = loop.NewWebhooks(loop.Delivery{Store: p.db, Post: p.take, Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler)})
	if p.room > 0 {
		p.hooks.SetRoom(p.room)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { p.hooks.Run(ctx) })
	return func() {
		cancel()
		run.Wait()
	}
}

func (p *post) take(ctx context.Context, url string, body io.Reader, size int64) (int, error) {
	p.mu.Lock()
	status := p.answers(url)
	p.tries[url] = append(p.tries[url], time.Now())
	for _, of := range []string{"", url} {
		p.now[of]++
		p.most[of] = max(p.most[of], p.now[of])
	}
	p.held += int(size)
	p.heldMax = max(p.heldMax, p.held)
	p.mu.Unlock()

	let := sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held -= int(size)
	})
	defer func() {
		let()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.now[""]--
		p.now[url]--
	}()

	if status == 0 {
		over, stop := compute.SystemClock{}.After(10 * time.Second) // as the poster has it
		defer stop()
		select {
		case <-ctx.Done():
		case <-over:
		}
		return 0, errors.New("no answer")
	}

	if n, err := io.CopyN(io.Discard, body, size-1); err != nil {
		return 0, fmt.Errorf("%d of %d bytes: %w", n, size, err)
	}
	let() // first: with its last byte there is room for another one
	if n, err := io.Copy(io.Discard, body); err != nil || n != 1 {
		return 0, fmt.Errorf("%d bytes after all but one of %d: %w", n, size, err)
	}
	over, stop := compute.SystemClock{}.After(10 * time.Millisecond)
	defer stop()
	<-over
	if status != 200 {
		return status, errors.New("no success")
	}

	return status, nil
}

// store stores so many deliveries to each of the addresses, with documents of so many bytes.
func (p *post) store(n, size int, urls ...string) {
	require.NoError(p, p.db.Write(context.Background(), func(tx store.Tx) error {
		for _, url := range urls {
			for range n {
				w := compute.Webhook{JobID: "j", URL: url, Body: make([]byte, size), NextAt: tx.Now(), CreatedAt: tx.Now()}
				if err := tx.InsertWebhook(w); err != nil {
					return err
				}
			}
		}
		return nil
	}))

	if p.hooks != nil {
		p.hooks.Hint()
	}
}

// taken reports how often an address was tried.
func (p *post) taken(url string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tries[url])
}

// pending reports how many deliveries there are to be made.
func (p *post) pending() (n int) {
	require.NoError(p, p.db.Read(context.Background(), func(tx store.Tx) error {
		return tx.PendingWebhooks(0, func(compute.Webhook) { n++ })
	}))
	return n
}

func silent(n int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://silent-%d/", i))
	}
	return urls
}

func TestWebhooks_SilentReceiversDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, func(url string) int {
			if url == "http://good/" {
				return 200
			}
			return 0
		})
		defer func() { require.NoError(t, p.db.Close()) }()
		stop := p.run()
		defer stop()
		p.store(1, 10, silent(160)...)
		synctest.Wait()

		begin := time.Now()
		p.store(1, 10, "http://good/")
		synctest.Wait()
		require.Equal(t, 1, p.taken("http://good/"), "at once: there is room beside 160")

		p.store(1, 10, silent(600)...)
		synctest.Wait()
		p.store(20, 10, "http://good/")
		<-time.After(5 * time.Second)
		synctest.Wait()
		require.Equal(t, 21, p.taken("http://good/"), "beside 600 there is not, and silent ones give way")
		require.Less(t, p.tries["http://good/"][20].Sub(begin), 5*time.Second)
		require.LessOrEqual(t, p.most[""], 256)
		require.Equal(t, 1, p.most["http://silent-7/"])
	})
}

func TestWebhooks_WillingReceiverGetsMoreAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, func(string) int { return 200 })
		defer func() { require.NoError(t, p.db.Close()) }()
		stop := p.run()
		defer stop()
		p.store(100, 10, "http://one/a", "http://one:80/b", "http://two/")
		<-time.After(time.Second)
		synctest.Wait()
		require.Zero(t, p.pending())
		require.Equal(t, 8, p.most["http://two/"])
		require.LessOrEqual(t, p.most[""], 16, "with and without its port it is one")
	})
}

func TestWebhooks_ReceiverInTroubleGetsAllOnceBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		status := 503
		p := newPost(t, func(string) int { return status })
		defer func() { require.NoError(t, p.db.Close()) }()
		stop := p.run()
		defer stop()
		p.store(100, 10, "http://one/")
		<-time.After(60 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, p.most["http://one/"])
		require.Equal(t, 9, p.taken("http://one/"), "after 0, 1, 3, 7, 15, 25 s and so on")

		p.mu.Lock()
		status = 200
		p.mu.Unlock()
		<-time.After(12 * time.Second)
		synctest.Wait()
		require.Zero(t, p.pending())
		require.Equal(t, 109, p.taken("http://one/"), "none is lost")
	})
}

func TestWebhooks_RefusedDocumentIsNoTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, func(url string) int {
			if url == "http://one/refused" {
				return 400
			}
			return 200
		})
		defer func() { require.NoError(t, p.db.Close()) }()
		stop := p.run()
		defer stop()
		p.store(1, 10, "http://one/refused")
		p.store(10, 10, "http://one/")
		<-time.After(time.Second)
		synctest.Wait()
		require.Equal(t, 1, p.taken("http://one/refused"))
		require.Equal(t, 10, p.taken("http://one/"))

		<-time.After(30 * time.Second)
		synctest.Wait()
		tries := p.tries["http://one/refused"]
		require.Len(t, tries, 3)
		require.GreaterOrEqual(t, tries[2].Sub(tries[1]), 10*time.Second)
		require.Zero(t, p.pending())
	})
}

func TestWebhooks_AreGivenUpAfterAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, func(string) int { return 0 })
		defer func() { require.NoError(t, p.db.Close()) }()
		p.store(300, 10, "http://one/") // with a try every 20 s it would take five hours
		stop := p.run()
		defer stop()
		<-time.After(time.Hour - time.Second)
		synctest.Wait()
		require.Greater(t, p.pending(), 100)

		<-time.After(time.Minute)
		synctest.Wait()
		require.Zero(t, p.pending())
		require.NoError(t, p.db.Read(t.Context(), func(tx store.Tx) error {
			log, err := tx.ListWebhooks(1)
			require.Equal(t, "given up: it was not taken within 1h0m0s", log[0].Error)
			return err
		}))
	})
}

func TestWebhooks_LargeOnesAreNotAllInMemory(t *testing.T) {
	t.Parallel()
	const size = 100_000
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, func(url string) int {
			if url == "http://good/" {
				return 200
			}
			return 0
		})
		defer func() { require.NoError(t, p.db.Close()) }()
		p.store(1, size, silent(8)...)
		p.store(1, 10, silent(8)...)
		p.store(1, size, "http://good/")
		p.room = 3 * size

		stop := p.run()
		defer stop()
		<-time.After(8 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, p.taken("http://good/"), "those that take nothing give way")
		require.LessOrEqual(t, p.heldMax, 3*size+100)
		require.GreaterOrEqual(t, p.heldMax, 3*size)
	})
}

func TestWebhooks_OutliveARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		status := 0
		p := newPost(t, func(string) int { return status })
		defer func() { require.NoError(t, p.db.Close()) }()
		stop := p.run()
		p.store(2, 10, "http://one/", "http://two/")
		synctest.Wait()
		require.Equal(t, 1, p.taken("http://one/"))

		stop()
		require.Equal(t, 4, p.pending())
		status = 200
		stop = p.run()
		<-time.After(time.Second)
		synctest.Wait()
		stop()
		require.Zero(t, p.pending())
		require.Equal(t, 3, p.taken("http://one/"), "the one that was under way is made again")
	})
}

func TestWebhooks_ClearedOnesAreNotDelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		status := 503
		p := newPost(t, func(string) int { return status })
		defer func() { require.NoError(t, p.db.Close()) }()
		stop := p.run()
		defer stop()
		p.store(5, 10, "http://one/")
		synctest.Wait()
		require.NoError(t, p.db.Write(t.Context(), func(tx store.Tx) error { return tx.Clear() }))

		p.hooks.Clear()
		status = 200
		p.store(2, 10, "http://one/new") // at the same time, and so with the same numbers
		<-time.After(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, p.taken("http://one/"))
		require.Equal(t, 2, p.taken("http://one/new"))
	})
}
