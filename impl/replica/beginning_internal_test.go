package replica

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// give has the table know another owner, as if the lease had been over and taken.
func (t *table) give(owner store.Owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owner, t.until = owner, time.Now().Add(time.Hour)
}

// answersItself answers in place of each owner, with where that is.
type answersItself struct{}

func (answersItself) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader("from " + r.URL.Host))}, nil
}

// muted is a table that is silent once it is told to be, for one call.
type muted struct {
	*table
	silent atomic.Bool
}

func (m *muted) Hold(ctx context.Context, me store.Replica, lease time.Duration) (store.Owner, error) {
	if m.silent.CompareAndSwap(true, false) {
		<-ctx.Done()
		return store.Owner{}, ctx.Err()
	}
	return m.table.Hold(ctx, me, lease)
}

// beginning is a replica b that has taken the store, and does not come to serve it: PostgreSQL says nothing to it any more.
func beginning(t *testing.T, owners *muted) (b *one, epochs chan int64) {
	b, epochs = join(t, owners, "b", nil), make(chan int64, 10)
	b.settings.Serve = func(ctx context.Context, epoch int64) (Service, error) {
		epochs <- epoch
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b.forward.proxy.Transport = answersItself{}
	b.run(t)
	<-time.After(2 * Lease) // of a bubble
	require.EqualValues(t, 1, <-epochs)
	now, err := owners.See(t.Context())
	require.NoError(t, err)
	require.Equal(t, "b", now.ID, "it keeps the lease")
	return b, epochs
}

func TestMember_ThatLosesTheStoreAsItBeginsFollows(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"it is told so": false, "the database is silent before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				owners := &muted{table: &table{}}
				b, epochs := beginning(t, owners)
				owners.silent.Store(silent)
				owners.give(store.Owner{ID: "a", Address: "http://a", Epoch: 2})
				if silent {
					time.Sleep(renewTick + Lease)
				}

				w := httptest.NewRecorder()
				b.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v2/e/run", strings.NewReader("{}")))
				require.Equal(t, "from a", w.Body.String())
				require.False(t, b.Owns())
				require.Empty(t, epochs)
			})
		})
	}
}

func TestMember_ThatOwnsTheStoreInAnotherEpochBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &muted{table: &table{}}
		_, epochs := beginning(t, owners)
		owners.give(store.Owner{ID: "b", Address: "http://b", Epoch: 3}) // another one had it meanwhile
		time.Sleep(Lease)
		require.Len(t, epochs, 1)
		require.EqualValues(t, 3, <-epochs)
	})
}

// TestMember_EndsAServiceThatBeganTooLate: the lease was lost before it was there.
func TestMember_EndsAServiceThatBeganTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		b := join(t, owners, "b", nil)
		b.slow = 2 * Lease
		b.run(t)
		time.Sleep(Lease)
		owners.give(store.Owner{ID: "a", Address: "http://a", Epoch: 2})
		time.Sleep(Lease + lookTick)
		require.Len(t, b.served, 1)
		service := <-b.served
		require.True(t, isClosed(service.closed))
		require.Nil(t, b.Service())
		require.Equal(t, "a", b.Owner().ID)
	})
}
