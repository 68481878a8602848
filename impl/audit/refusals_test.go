package audit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// full is a store that counts what is written, or takes no writes.
type full struct {
	store.Store
	writes int
	err    error
}

func (f *full) Write(ctx context.Context, do func(store.Tx) error) error {
	f.writes++
	if f.err != nil {
		return f.err
	}
	return f.Store.Write(ctx, do)
}

// counted gives the rows, and the sum of their counts.
func counted(t *testing.T, db store.Store) (all []compute.Refusal, sum int64) {
	t.Helper()
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) (err error) {
		all, _, err = tx.PageRefusals(store.RefusalSearch{}, compute.Page{Limit: 10_000})
		return err
	}))
	for _, r := range all {
		sum += r.Count
	}
	return all, sum
}

func TestRefusals_AFloodIsFewRowsAndOneWrite(t *testing.T) {
	t.Parallel()
	db, _ := rows(t)
	clock := compute.NewSettableClock(compute.NewRunningClock())
	clock.Freeze()
	s := &full{Store: db}
	r := audit.NewRefusals(s, clock)
	const clients, each = 8, 5_000
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			for i := range each {
				r.Add(compute.Refusal{Interface: audit.REST, Reason: compute.RefusedUnknown, Client: fmt.Sprint("2001:db8::", n, ":", i)})
			}
		})
	}
	all.Wait()
	require.NoError(t, r.Save(t.Context()))
	require.NoError(t, r.Save(t.Context()))
	require.Equal(t, 1, s.writes)
	kept, sum := counted(t, db)
	const named = compute.RefusalsNamed + compute.RefusalsReserved
	require.Len(t, kept, named+1)
	require.EqualValues(t, clients*each, sum)

	known := kept[len(kept)-1]
	r.Add(compute.Refusal{Interface: known.Interface, Reason: known.Reason, Client: known.Client})
	r.Add(compute.Refusal{Interface: audit.SSH, Reason: compute.RefusedUnknown, Client: "late", KeyID: "k", UserID: "u"})
	require.NoError(t, r.Save(t.Context()))
	kept, _ = counted(t, db)
	require.Len(t, kept, named+2, "no more of the same minute have a name, whatever was saved meanwhile")
	require.Equal(t, compute.Refusal{Seq: kept[0].Seq, At: known.At, Interface: audit.SSH, Reason: compute.RefusedUnknown, Count: 1}, kept[0])

	clock.Advance(time.Minute)
	r.Add(compute.Refusal{Interface: audit.SSH, Client: "late"})
	require.NoError(t, r.Save(t.Context()))
	kept, _ = counted(t, db)
	require.Equal(t, "late", kept[0].Client)
}

func TestRefusals_OneClientHidesNoOther(t *testing.T) {
	t.Parallel()
	db, _ := rows(t)
	clock := compute.NewSettableClock(compute.NewRunningClock())
	clock.Freeze()
	r := audit.NewRefusals(db, clock)
	add := func(client string, keys int) {
		for n := range keys {
			r.Add(compute.Refusal{Interface: audit.REST, Reason: compute.RefusedUnknown, Client: client, KeyID: compute.KeyID(fmt.Sprint(n))})
		}
		require.NoError(t, r.Save(t.Context()))
	}
	perClient := func() map[string]int {
		all, _ := counted(t, db)
		of := map[string]int{}
		for _, x := range all {
			if x.At.Equal(clock.Wall().Truncate(time.Minute)) {
				of[x.Client]++
			}
		}
		return of
	}

	add("flood", 10_000)
	require.Equal(t, map[string]int{"flood": compute.RefusalsNamed, "": 1}, perClient())
	add("other", 1)
	add("more", 100)
	add("flood", 10_000)
	require.Equal(t, map[string]int{"flood": compute.RefusalsNamed, "other": 1, "more": compute.RefusalsOfEach, "": 1}, perClient())

	clock.Advance(time.Minute)
	add("other", 10)
	add("flood", 10_000)
	add("other", 20)
	require.Equal(t, map[string]int{"flood": compute.RefusalsNamed - 10, "other": 10, "": 1}, perClient(), "it has what each has")
}

func TestRefusals_WaitForAStorageThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	db, _ := rows(t)
	clock := compute.NewSettableClock(compute.NewRunningClock())
	clock.Freeze()
	s := &full{Store: db, err: errors.New("no room")}
	r := audit.NewRefusals(s, clock)
	for range 20 {
		for n := range 300 {
			r.Add(compute.Refusal{Interface: audit.REST, Client: fmt.Sprint(n)})
		}
		require.ErrorIs(t, r.Save(t.Context()), s.err)
		clock.Advance(time.Minute)
	}
	s.err = nil
	require.NoError(t, r.Save(t.Context()))
	kept, _ := counted(t, db)
	require.Len(t, kept, 4*compute.RefusalsNamed, "no more wait")
}

func TestRefusals_AreThoseOfKeysAlone(t *testing.T) {
	t.Parallel()
	db, _ := rows(t)
	r := audit.NewRefusals(db, compute.SystemClock{})
	client := func() string { return "192.0.2.1" }
	r.Note(audit.REST, client, compute.Errorf(compute.Unauthenticated, "of another kind"))
	r.Note(audit.REST, client, nil)
	r.Note(audit.REST, client, fmt.Errorf("wrapped: %w", compute.Key{ID: "k", UserID: "ada"}.LacksScope(compute.ScopeAdmin)))
	require.NoError(t, r.Save(t.Context()))
	kept, _ := counted(t, db)
	require.Len(t, kept, 1)
	require.Equal(t, compute.RefusedScope, kept[0].Reason)
	require.Equal(t, compute.KeyID("k"), kept[0].KeyID)
	require.Equal(t, compute.UserID("ada"), kept[0].UserID)
	require.Equal(t, "192.0.2.1", kept[0].Client)
}
