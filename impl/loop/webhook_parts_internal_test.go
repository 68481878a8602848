package loop

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
)

func TestReceiverOf_IsTheSchemeHostAndPort(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://a/":               "http://a:80",
		"https://a/x?y=1#z":       "https://a:443",
		"https://u:secret@a/x":    "https://a:443",
		"http://a:8080/x":         "http://a:8080",
		"http://[::1]:80/":        "http://::1:80",
		"http://[broken":          "",
		"http://a:80/other/place": "http://a:80",
	} {
		require.Equal(t, want, receiverOf(address), address)
	}
}

func TestReceiver_GetsAsMuchAsItTakes(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	r := receiver{most: 1}
	for _, most := range []int{2, 4, 8, 8} {
		r.answered(200, now)
		require.Equal(t, most, r.most)
		require.Zero(t, r.until)
	}
	for _, status := range []int{100, 204, 302, 400, 428, 430, 499} { // that it refuses one is no trouble
		r.answered(status, now)
		require.Equal(t, 8, r.most, status)
	}

	for _, status := range []int{0, 429, 500, 503} {
		r := receiver{most: 8}
		r.answered(status, now)
		require.Equal(t, 1, r.most, status)
		require.Equal(t, now.Add(time.Second), r.until, status)
	}
}

func TestReceiver_InTroubleIsLeftAloneForLonger(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	r := receiver{most: 8}
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
		r.answered(0, now)
		require.Equal(t, now.Add(pause), r.until)
		r.answered(0, now.Add(pause-1)) // one that began before
		require.Equal(t, now.Add(pause), r.until, "several that fail at once are one failure")
		now = r.until
	}

	r.answered(200, now)
	require.Equal(t, 2, r.most)
	require.Zero(t, r.until)
	r.answered(0, now)
	require.Equal(t, now.Add(time.Second), r.until, "from the first pause on")
}

func TestLine_HasThoseFirstThatAreDueFirst(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return time.UnixMilli(1_700_000_000_000).Add(d) }
	var l line
	for _, d := range []delivery{{seq: 4, next: at(2)}, {seq: 3, next: at(1)}, {seq: 1, next: at(3)}, {seq: 2, next: at(1)}, {seq: 5, next: at(0)}} {
		l.add(d)
	}
	var order []int64
	for len(l) > 0 {
		order = append(order, l.take().seq)
	}
	require.Equal(t, []int64{5, 2, 3, 4, 1}, order)
}

func TestLargeBody_LetsGoOfWhatWasSent(t *testing.T) {
	t.Parallel()
	var sent []bool
	b := &largeBody{rest: []byte("abcde"), sent: func(all bool) { sent = append(sent, all) }}
	p := make([]byte, 2)
	for _, want := range []string{"ab", "cd", "e"} {
		n, err := b.Read(p)
		require.NoError(t, err)
		require.Equal(t, want, string(p[:n]))
	}
	require.Equal(t, []bool{false, false, true}, sent)
	require.Nil(t, b.rest)
	n, err := b.Read(p)
	require.Zero(t, n)
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, sent, 3)
}

// idleHooks makes a loop that does nothing by itself.
func idleHooks() *Webhooks {
	return NewWebhooks(Delivery{Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler)})
}

func TestWebhooks_LargeBodiesShareTheirRoom(t *testing.T) {
	t.Parallel()
	l := idleHooks()
	var hinted []string
	l.receivers = reconcile.New(reconcile.Config[string, receiver]{
		Name: "receiver", Clock: l.Clock, Log: l.Log,
		Reconcile: reconcile.Each(func(_ context.Context, one *reconcile.Look[string, receiver]) (reconcile.Next, error) {
			hinted = append(hinted, one.Key)
			return reconcile.Next{}, nil
		}),
	})
	const small, large = 65_536, 65_537
	require.Equal(t, 67_108_864, l.room)
	l.room = 2 * large
	crowded := func(name string) bool {
		_, is := l.crowded.Load(name)
		return is
	}

	require.True(t, l.enter("small", small))
	require.Zero(t, l.large.Load(), "small ones take no room")
	require.True(t, l.enter("a", large))
	require.True(t, l.enter("b", large), "as much as there is")
	require.False(t, crowded("b"))
	require.EqualValues(t, 2*large, l.large.Load())
	for _, name := range []string{"z", "c", "z", "m"} {
		require.False(t, l.enter(name, large))
		require.True(t, crowded(name))
	}
	require.True(t, l.enter("small", small), "they are beside it")

	l.depart(0)
	require.NoError(t, l.receivers.Step(t.Context()))
	require.Empty(t, hinted)
	l.depart(large)
	require.EqualValues(t, large, l.large.Load())
	require.NoError(t, l.receivers.Step(t.Context()))
	require.Equal(t, []string{"z", "c", "m"}, hinted, "in the order in which they came")
	require.True(t, l.enter("z", large))
	require.False(t, crowded("z"))

	l.depart(2 * large)
	require.True(t, l.enter("huge", 5*large), "one may be as large as it is")
	require.False(t, l.enter("c", large))
}

func TestWebhooks_SlowTriesGiveWayToThoseThatWait(t *testing.T) {
	t.Parallel()
	type under struct {
		way    string // its name
		since  time.Duration
		unsent int64
	}
	stuck, older, quick := under{"stuck", time.Second, 0}, under{"older", 2 * time.Second, 0}, under{"quick", time.Second - 1, 0}
	large, oldest := under{"large", time.Second, 100}, under{"oldest", time.Minute, 100}
	for name, c := range map[string]struct {
		waiting, crowded int
		tries            []under
		cut              string
	}{
		"nobody waits":                            {0, 0, []under{stuck, older, large}, ""},
		"one waits":                               {1, 0, []under{stuck, older, quick}, "older"},
		"two wait":                                {2, 0, []under{stuck, older, quick}, "older stuck"},
		"more wait than are slow":                 {5, 0, []under{stuck, quick}, "stuck"},
		"one waits for memory":                    {0, 1, []under{older, large}, "large"},
		"one waits for memory, of several":        {0, 1, []under{large, oldest, older}, "oldest"},
		"one waits for memory that nobody has":    {0, 1, []under{stuck, older}, ""},
		"one waits for memory, one for a place":   {1, 1, []under{stuck, older, large, oldest}, "older oldest"},
		"a large one gives its place, too":        {1, 0, []under{large, quick}, "large"},
		"those that are quick wait for no others": {3, 3, []under{quick}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := idleHooks()
				for i := range c.waiting {
					l.deliveries.Hint(int64(i))
				}
				for i := range c.crowded {
					l.crowded.Store(strings.Repeat("x", i), int64(i))
				}
				tries, stopped := map[string]*try{}, map[string]bool{}
				for _, u := range c.tries {
					one := &try{cancel: func() { stopped[u.way] = true }}
					one.moved.Store(realTime().Add(-u.since).UnixNano())
					one.unsent.Store(u.unsent)
					tries[u.way] = one
					l.tries.Store(one, true)
				}

				require.NoError(t, l.hurry(t.Context()))
				for way, one := range tries {
					want := strings.Contains(" "+c.cut+" ", " "+way+" ")
					require.Equal(t, want, one.cut.Load(), way)
					require.Equal(t, want, stopped[way], way)
				}
			})
		})
	}
}
