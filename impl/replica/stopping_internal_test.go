package replica

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// interrupted is a table whose connection breaks when a call is given up, as that to PostgreSQL does.
type interrupted struct {
	*table
	hangs atomic.Bool // calls wait until they are given up
	gone  atomic.Bool // it cannot be reached
}

func (i *interrupted) do(ctx context.Context) error {
	if i.hangs.Load() {
		<-ctx.Done()
	}
	if i.gone.Load() || ctx.Err() != nil {
		return store.Troubled(store.Away, ctx.Err())
	}
	return nil
}

func (i *interrupted) Hold(ctx context.Context, me store.Replica, lease time.Duration) (store.Owner, error) {
	if err := i.do(ctx); err != nil {
		return store.Owner{}, err
	}
	return i.table.Hold(ctx, me, lease)
}

func (i *interrupted) See(ctx context.Context) (store.Owner, error) {
	if err := i.do(ctx); err != nil {
		return store.Owner{}, err
	}
	return i.table.See(ctx)
}

// TestMember_StopDoesNotTakeTheStoreForAway: it interrupted a look at it. Who asks meanwhile waits for the next owner.
func TestMember_StopDoesNotTakeTheStoreForAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &interrupted{table: &table{}}
		a := join(t, owners, "a", nil).run(t)
		a.forward.proxy.Transport = answersItself{}
		time.Sleep(Lease)
		require.True(t, a.Owns())
		owners.hangs.Store(true)
		time.Sleep(renewTick) // it renews its lease
		a.stop()
		owners.hangs.Store(false)
		require.NoError(t, a.Leave(t.Context()))

		w := httptest.NewRecorder()
		var asking sync.WaitGroup
		asking.Go(func() { a.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v2/e/run", strings.NewReader("{}"))) })
		time.Sleep(time.Second)
		owners.give(store.Owner{ID: "b", Address: "http://b", Epoch: 2})
		followed, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { a.Follow(followed) })
		asking.Wait()
		require.Equal(t, "from b", w.Body.String())
		stop()
		following.Wait()
	})
}

// TestMember_Follow_KnowsWhetherTheStoreIsAway: a request waits for no owner that cannot be found out.
func TestMember_Follow_KnowsWhetherTheStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &interrupted{table: &table{}}
		a := join(t, owners, "a", nil)
		followed, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { a.Follow(followed) })
		ask := func() (took time.Duration) {
			time.Sleep(lookTick)
			began := time.Now()
			a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v2/pods", http.NoBody))
			return time.Since(began)
		}
		require.Equal(t, longestWait, ask())
		owners.gone.Store(true)
		require.Zero(t, ask())
		owners.gone.Store(false)
		require.Equal(t, longestWait, ask())

		owners.hangs.Store(true)
		time.Sleep(lookTick)
		stop()
		following.Wait()
		require.False(t, a.away.Load(), "its own end says nothing about it")
	})
}
