package replica

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// setBack has the table's clock go back.
func (t *table) setBack(by time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = t.until.Add(by)
}

// ownerAndOther runs two members, of which the first owns the store.
func ownerAndOther(t *testing.T, owners *table) (a, b *one) {
	t.Helper()
	a = join(t, owners, "a", nil).run(t)
	synctest.Wait()
	return a, join(t, owners, "b", nil).run(t)
}

// TestMember_ReplacesAGoneOwnerThoughTheDatabasesClockWentBack: its lease lasts no longer for that.
func TestMember_ReplacesAGoneOwnerThoughTheDatabasesClockWentBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := ownerAndOther(t, owners)
		time.Sleep(time.Second)
		a.stop() // it renews nothing any more
		owners.setBack(time.Hour)
		gone := time.Now()
		require.EqualValues(t, 2, (<-b.served).epoch)
		require.LessOrEqual(t, time.Since(gone), Lease+2*lookTick)
		require.False(t, a.serves(a.now.Load()), "it took its own lease for over before")
	})
}

func TestMember_OwnsThoughTheDatabasesClockGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := ownerAndOther(t, owners)
		for range 20 {
			time.Sleep(Lease / 2)
			owners.setBack(time.Hour)
			require.True(t, a.Owns())
		}
		require.Empty(t, b.served)
	})
}
