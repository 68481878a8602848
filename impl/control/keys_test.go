package control_test

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// brittle is a store that gives an error to who reads, and another to who writes, while they are set.
type brittle struct {
	store.Store
	reads, writes error
}

func (b *brittle) Read(ctx context.Context, f func(store.Tx) error) error {
	if b.reads != nil {
		return b.reads
	}
	return b.Store.Read(ctx, f)
}

func (b *brittle) Write(ctx context.Context, f func(store.Tx) error) error {
	if b.writes != nil {
		return b.writes
	}
	return b.Store.Write(ctx, f)
}

// held is a keyring whose clock stands still at noon until it is set forward.
type held struct {
	*control.Keyring
	t     *testing.T
	db    *brittle
	clock *compute.SettableClock
	ids   *compute.IDs
	pods  compute.PodKeys
}

func hold(t *testing.T) *held {
	t.Helper()
	h := &held{t: t, clock: compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), pods: compute.NewPodKeys([]byte("secret"))}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), h.clock)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	h.db, h.ids = &brittle{Store: db}, compute.NewIDs(rand.Reader, h.clock)
	h.Keyring, err = control.NewKeyring(t.Context(), h.db, h.ids, h.clock, &h.pods)
	require.NoError(t, err)
	return h
}

// makes makes a key with the scope all.
func (h *held) makes(n control.NewKey) (compute.Key, string) {
	h.t.Helper()
	n.Scopes = []compute.Scope{compute.ScopeAll}
	key, token, err := h.Create(h.t.Context(), n)
	require.NoError(h.t, err)
	return key, token
}

// good asserts that the token is that of a key, and gives this.
func (h *held) good(token string) compute.Key {
	h.t.Helper()
	key, err := h.Find(h.t.Context(), token)
	require.NoError(h.t, err)
	return key
}

// refused gives what is known of a token that is refused.
func (h *held) refused(token string) compute.RefusedKey {
	h.t.Helper()
	_, err := h.Find(h.t.Context(), token)
	require.Equal(h.t, compute.Unauthenticated, compute.CodeOf(err), "%v", err)
	var known *compute.RefusedKey
	require.ErrorAs(h.t, err, &known)
	return *known
}

// stored gives the keys that the store has.
func (h *held) stored() (ids []compute.KeyID) {
	h.t.Helper()
	require.NoError(h.t, h.db.Read(h.t.Context(), func(tx store.Tx) error {
		keys, err := tx.ListKeys()
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		return err
	}))
	return ids
}

func TestKeyring_Create_BoundsTheSpendLimit(t *testing.T) {
	t.Parallel()
	h := hold(t)
	for _, limit := range []float64{-0.01, math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, _, err := h.Create(t.Context(), control.NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeAll}, SpendLimit: limit})
		require.Equal(t, compute.Invalid, compute.CodeOf(err), "%v", limit)
		require.ErrorContains(t, err, "spendLimit: ")
	}
	require.Empty(t, h.stored())
	for _, limit := range []float64{0, math.MaxFloat64} {
		_, token := h.makes(control.NewKey{UserID: "ada", SpendLimit: limit})
		require.EqualValues(t, limit, h.good(token).SpendLimit)
	}
}

func TestKeyring_Keep_StoresATokenThatSomebodyChose(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	const chosen = "a-token-of-somebody"
	n := control.NewKey{
		UserID: "ada", Name: "n", Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true, Contract: "an edition", SpendLimit: 3, Expiry: time.Hour,
	}
	require.NoError(t, h.Keep(ctx, n, chosen))
	key := h.good(chosen)
	require.Equal(t, compute.Key{
		ID: key.ID, UserID: "ada", Name: "n", Scopes: n.Scopes, Hash: compute.HashOf(chosen), Exempt: true, Contract: "an edition", CreatedAt: h.clock.Wall(),
		SpendLimit: 3, ExpiresAt: h.clock.Wall().Add(time.Hour), Role: compute.RoleMember,
	}, key)
	require.NoError(t, h.Keep(ctx, control.NewKey{UserID: "bob"}, chosen))
	require.Len(t, h.stored(), 1, "it is there")

	require.Equal(t, compute.Rejected, compute.CodeOf(h.Keep(ctx, n, "short")))
	made := compute.NewToken(h.ids, "abcdefghij")
	require.NoError(t, h.Keep(ctx, n, made))
	require.EqualValues(t, "abcdefghij", h.good(made).ID, "the id is in the token")
	require.Equal(t, compute.Conflict, compute.CodeOf(h.Keep(ctx, n, compute.NewToken(h.ids, "abcdefghij"))))

	require.NoError(t, h.Revoke(ctx, key.ID))
	require.NoError(t, h.Keep(ctx, n, chosen))
	require.Equal(t, compute.RefusedRevoked, h.refused(chosen).Reason, "it stays so")
	require.NoError(t, h.Forget(ctx, "a-token-of-nobody"))
	require.Len(t, h.stored(), 2)
	require.NoError(t, h.Forget(ctx, chosen))
	require.Equal(t, []compute.KeyID{"abcdefghij"}, h.stored())
	require.NoError(t, h.Keep(ctx, n, chosen))
	require.NotEqual(t, key.ID, h.good(chosen).ID)

	h.clock.Advance(time.Hour)
	require.NoError(t, h.Keep(ctx, n, chosen))
	require.Equal(t, compute.RefusedExpired, h.refused(chosen).Reason)
}

func TestKeyring_Delete_LeavesNothingOfAKey(t *testing.T) {
	t.Parallel()
	h := hold(t)
	key, token := h.makes(control.NewKey{UserID: "ada"})
	other, otherToken := h.makes(control.NewKey{UserID: "ada"})
	require.True(t, key.ExpiresAt.IsZero())
	require.NoError(t, h.Delete(t.Context(), key.ID))
	require.NoError(t, h.Delete(t.Context(), "nobody"))
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedUnknown, KeyID: key.ID}, h.refused(token))
	require.False(t, h.Holds(key))
	require.Equal(t, []compute.KeyID{other.ID}, h.stored())
	require.Equal(t, other.ID, h.good(otherToken).ID)
}

func TestKeyring_DeleteInvalid_ForgetsWhatWasOverBefore(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	const chosen = "a-token-of-somebody"
	good, _ := h.makes(control.NewKey{UserID: "ada"})
	lasts, _ := h.makes(control.NewKey{UserID: "ada", Expiry: 10 * time.Hour})
	expired, expiredToken := h.makes(control.NewKey{UserID: "ada", Expiry: time.Hour})
	late, _ := h.makes(control.NewKey{UserID: "ada"})
	require.NoError(t, h.Keep(ctx, control.NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeAll}}, chosen))
	revoked := h.good(chosen)
	h.clock.Advance(2 * time.Hour)
	require.NoError(t, h.Revoke(ctx, revoked.ID))
	h.clock.Advance(time.Hour)
	require.NoError(t, h.Revoke(ctx, late.ID))

	at := h.clock.Wall()
	left := func() (ids []compute.KeyID) {
		for _, k := range h.Keys(false) {
			ids = append(ids, k.ID)
		}
		require.ElementsMatch(t, h.stored(), ids)
		return ids
	}
	h.db.writes = errors.New("nothing is to be written")
	require.NoError(t, h.DeleteInvalid(ctx, at.Add(-2*time.Hour)), "the one expired at that time, and not before")
	require.ErrorIs(t, h.DeleteInvalid(ctx, at), h.db.writes)
	h.db.writes = nil
	require.Len(t, left(), 5, "what the store keeps is kept")

	require.NoError(t, h.DeleteInvalid(ctx, at.Add(-time.Hour)))
	require.ElementsMatch(t, []compute.KeyID{good.ID, lasts.ID, late.ID, revoked.ID}, left())
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedUnknown, KeyID: expired.ID}, h.refused(expiredToken))
	require.NoError(t, h.DeleteInvalid(ctx, at))
	require.ElementsMatch(t, []compute.KeyID{good.ID, lasts.ID, late.ID}, left())
	require.NoError(t, h.Keep(ctx, control.NewKey{UserID: "ada", Scopes: []compute.Scope{compute.ScopeAll}}, chosen))
	h.good(chosen)
	require.NoError(t, h.DeleteInvalid(ctx, at.Add(time.Millisecond)))
	require.Len(t, left(), 3)
}

func TestKeyring_Find_SaysToTheAuditLogWhatIsWrong(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	for _, malformed := range []string{"", "x", "a-token-of-nobody", strings.Repeat("a", 100_000), "brt_abcdefghij_short"} {
		require.Equal(t, compute.RefusedKey{Reason: compute.RefusedMalformed}, h.refused(malformed))
	}
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedUnknown, KeyID: "abcdefghij"}, h.refused(compute.NewToken(h.ids, "abcdefghij")))

	key, token := h.makes(control.NewKey{UserID: "ada", Expiry: time.Hour})
	other := compute.NewToken(h.ids, key.ID)
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedUnknown, KeyID: key.ID}, h.refused(other), "the owner of the id has nothing to do with it")
	h.clock.Advance(time.Hour - time.Millisecond)
	require.True(t, h.Holds(h.good(token)))
	h.clock.Advance(time.Millisecond)
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedExpired, KeyID: key.ID, UserID: "ada"}, h.refused(token))
	require.False(t, h.Holds(key))

	second, token := h.makes(control.NewKey{UserID: "ada"})
	require.NoError(t, h.Revoke(ctx, second.ID))
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedRevoked, KeyID: second.ID, UserID: "ada"}, h.refused(token))
	third, token := h.makes(control.NewKey{UserID: "ada"})
	_, err := h.ChangeUser(ctx, "ada", compute.UserChange{Disabled: new(true)})
	require.NoError(t, err)
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedDisabled, KeyID: third.ID, UserID: "ada"}, h.refused(token))
	require.Equal(t, compute.NotFound, compute.CodeOf(h.Revoke(ctx, "nobody")))
}

func TestKeyring_Holds_AKeyThatIsWhatItWas(t *testing.T) {
	t.Parallel()
	h := hold(t)
	key, token := h.makes(control.NewKey{UserID: "ada"})
	require.True(t, h.Holds(key))
	require.True(t, h.Holds(h.good(token)))
	hash, role, id := key, key, key
	hash.Hash, role.Role, id.ID = compute.HashOf("another"), compute.RoleAdmin, "nobody"
	for _, other := range []compute.Key{hash, role, id} {
		require.False(t, h.Holds(other))
	}
	require.NoError(t, h.Revoke(t.Context(), key.ID))
	require.False(t, h.Holds(key))
}

func TestKeyring_Authenticate_ReadsTheHeader(t *testing.T) {
	t.Parallel()
	h := hold(t)
	key, token := h.makes(control.NewKey{UserID: "ada"})
	longer := token + "x"
	for header, c := range map[string]struct {
		bareToo, bearer bool
		refused         compute.RefusalReason
	}{
		"":                   {true, false, compute.RefusedMissing},
		"Bearer " + token:    {false, true, ""},
		"bEARER    " + token: {true, true, ""},
		"Bearer " + longer:   {true, true, compute.RefusedMalformed},
		"Basic " + token:     {true, false, compute.RefusedMalformed},
		token:                {true, false, ""},
		longer:               {true, false, compute.RefusedMalformed},
		"Bearer":             {true, false, compute.RefusedMalformed},
		"Bearer ":            {false, true, compute.RefusedMalformed},
	} {
		found, bearer, err := h.Authenticate(t.Context(), header, c.bareToo)
		require.Equal(t, c.bearer, bearer, header)
		if c.refused == "" {
			require.NoError(t, err, header)
			require.Equal(t, key.ID, found.ID, header)
			continue
		}
		var known *compute.RefusedKey
		require.ErrorAs(t, err, &known, header)
		require.Equal(t, c.refused, known.Reason, header)
		require.Empty(t, found.ID, header)
	}

	_, _, err := h.Authenticate(t.Context(), token, false)
	require.ErrorContains(t, err, "malformed Authorization header: it must be Bearer <key>")
}

func TestKeyring_Keys_AreInTheOrderInWhichTheyWereMade(t *testing.T) {
	t.Parallel()
	h := hold(t)
	var people []compute.KeyID
	for range 4 {
		var atOnce []compute.KeyID
		for range 3 {
			key, _ := h.makes(control.NewKey{UserID: "ada"})
			atOnce = append(atOnce, key.ID)
		}
		slices.Sort(atOnce)
		people = append(people, atOnce...)
		h.clock.Advance(time.Second)
	}
	worker, _ := h.makes(control.NewKey{UserID: "ada", WorkerID: "w"})
	ids := func(worker bool) (all []compute.KeyID) {
		for _, k := range h.Keys(worker) {
			all = append(all, k.ID)
		}
		return all
	}
	require.Equal(t, people, ids(false))
	require.Equal(t, []compute.KeyID{worker.ID}, ids(true))
	require.NoError(t, h.Refresh(t.Context()))
	require.Equal(t, people, ids(false))
}

func TestKeyring_KnowsThePodThatAKeyIsOf(t *testing.T) {
	t.Parallel()
	h := hold(t)
	ctx := t.Context()
	pod := compute.Pod{ID: "k3m9x2m4p6q8r1", UserID: "ada", Status: compute.PodRunning, Version: 1, RestartAt: h.clock.Now()}
	stopped, ended, theirs, gone := pod, pod, pod, pod
	stopped.ID, stopped.Status = "k3m9x2m4p6q8r2", compute.PodExited
	ended.ID, ended.Status = "k3m9x2m4p6q8r3", compute.PodTerminated
	theirs.ID, theirs.UserID = "k3m9x2m4p6q8r4", "bob"
	gone.ID = "k3m9x2m4p6q8r5"
	require.NoError(t, h.db.Write(ctx, func(tx store.Tx) error {
		return errors.Join(tx.InsertPod(pod), tx.InsertPod(stopped), tx.InsertPod(ended), tx.InsertPod(theirs),
			tx.InsertUser(compute.User{Name: "bob", Role: compute.RoleMember, Disabled: true, CreatedAt: tx.Wall()}))
	}))

	for _, p := range []compute.Pod{pod, stopped} { // of a user who is not known
		require.Equal(t, compute.Key{
			ID: compute.KeyID(p.ID), UserID: "ada", Name: "pod " + string(p.ID), Scopes: []compute.Scope{compute.ScopePod(p.ID)},
		}, h.good(h.pods.Token(p)))
	}
	before := pod
	before.RestartAt = pod.RestartAt.Add(-time.Second)
	for _, p := range []compute.Pod{before, ended} {
		require.Equal(t, compute.RefusedKey{Reason: compute.RefusedRevoked, KeyID: compute.KeyID(p.ID), UserID: "ada"}, h.refused(h.pods.Token(p)))
	}
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedRevoked, KeyID: compute.KeyID(gone.ID)}, h.refused(h.pods.Token(gone)))
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedDisabled, KeyID: compute.KeyID(theirs.ID), UserID: "bob"}, h.refused(h.pods.Token(theirs)))

	forged := compute.NewPodKeys([]byte("another secret")).Token(pod)
	h.db.reads = errors.New("nothing is to be read")
	require.Equal(t, compute.RefusedKey{Reason: compute.RefusedUnknown}, h.refused(forged), "without a look at the store")
	_, err := h.Find(ctx, h.pods.Token(pod))
	require.ErrorIs(t, err, h.db.reads)
	h.db.reads = nil
	without, err := control.NewKeyring(ctx, h.db, h.ids, h.clock, nil)
	require.NoError(t, err)
	_, err = without.Find(ctx, h.pods.Token(pod))
	require.Equal(t, compute.Unauthenticated, compute.CodeOf(err))
}
