package loop_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
)

func TestRetention_DeletesWhatWasKeptLongEnough(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	ids := compute.NewIDs(rand.Reader, s.clock)
	rates, err := control.NewRates(t.Context(), s.db, s.clock, compute.Windows(1, 1, 1))
	require.NoError(t, err)

	r := loop.Retention{
		Store: s.db, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Rates: rates, Keyring: s.keyring, Endpoints: s.endpoints, Control: s.ctl, Pods: time.Hour,
		Webhooks: 12 * time.Hour, Keys: 20 * 24 * time.Hour, Audit: 10 * 24 * time.Hour, Flash: noFlash(t, s.db, s.clock, s.endpoints),
	}.Sweeps()
	write := func(f func(store.Tx) error) { require.NoError(t, s.db.Write(t.Context(), f)) }
	const many = 250 // more than a transaction deletes

	kept := &keptThings{setup: s}
	write(func(tx store.Tx) error { return kept.insert(tx, ids, many) })

	_, _, err = s.keyring.Create(t.Context(), control.NewKey{UserID: "u", Expiry: time.Minute})
	require.NoError(t, err)
	revoked, _, err := s.keyring.Create(t.Context(), control.NewKey{UserID: "u"})
	require.NoError(t, err)
	require.NoError(t, s.keyring.Revoke(t.Context(), revoked.ID))

	_, _, err = s.keyring.Create(t.Context(), control.NewKey{UserID: "u"})
	require.NoError(t, err)
	rates.Count("u")
	require.NoError(t, rates.Save(t.Context()))

	// As a deletion leaves it that failed in the middle.
	write(func(tx store.Tx) error {
		e := s.e
		e.DeletedAt = tx.Now()
		return tx.UpdateEndpoint(e)
	})

	require.NoError(t, r.StepAll(t.Context()))
	require.Equal(t, many+1, kept.webhooks())
	require.Equal(t, many, kept.pods())
	require.Len(t, s.keyring.Keys(false), 3)
	require.Equal(t, 3, kept.counts())

	require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
		all, err := tx.ListEndpoints()
		require.Empty(t, all)
		return err
	}))

	require.Equal(t, many, kept.noted())

	s.clock.Advance(12*time.Hour + time.Millisecond)
	require.NoError(t, r.StepAll(t.Context()))
	require.Equal(t, 1, kept.webhooks(), "what is pending stays")
	require.Zero(t, kept.pods())
	s.clock.Advance(12 * time.Hour)
	require.NoError(t, r.StepAll(t.Context()))
	require.Zero(t, kept.counts())
	require.Len(t, s.keyring.Keys(false), 3)
	require.Equal(t, many, kept.noted())

	s.clock.Advance(10 * 24 * time.Hour)
	require.NoError(t, r.StepAll(t.Context()))
	require.Zero(t, kept.noted())
	require.Len(t, s.keyring.Keys(false), 3)
	s.clock.Advance(10 * 24 * time.Hour)
	require.NoError(t, r.StepAll(t.Context()))
	require.Len(t, s.keyring.Keys(false), 1)
	rates.Count("u")
	require.NoError(t, rates.Save(t.Context()))
	require.Equal(t, 3, kept.counts(), "who comes again is counted again")
}

func TestRetention_ForgetsRequestsToLogIn(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	rates, err := control.NewRates(t.Context(), s.db, s.clock, compute.Windows(1, 1, 1))
	require.NoError(t, err)
	r := loop.Retention{
		Store: s.db, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Rates: rates, Keyring: s.keyring, Endpoints: s.endpoints, Control: s.ctl,
		Flash: noFlash(t, s.db, s.clock, s.endpoints),
	}.Sweeps()
	logins := control.NewLogins(s.db, compute.NewIDs(rand.Reader, s.clock), s.clock, s.keyring)
	_, id, err := logins.Ask(t.Context(), control.NewLogin{Client: "192.0.2.1"})
	require.NoError(t, err)

	s.clock.Advance(compute.LoginTime + compute.LoginKept)
	require.NoError(t, r.StepAll(t.Context()))
	l, err := logins.Find(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, compute.LoginExpired, l.Status)
	s.clock.Advance(time.Minute)
	require.NoError(t, r.StepAll(t.Context()))
	_, err = logins.Find(t.Context(), id)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestRetention_SumsChargesUpToABorderOfDays(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	rates, err := control.NewRates(t.Context(), s.db, s.clock, compute.Windows(1, 1, 1))
	require.NoError(t, err)
	r := loop.Retention{
		Store: s.db, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Rates: rates, Keyring: s.keyring, Endpoints: s.endpoints, Control: s.ctl,
		Pods: time.Hour, Webhooks: time.Hour, Keys: time.Hour, Audit: time.Hour, Flash: noFlash(t, s.db, s.clock, s.endpoints),
	}
	const day, many = 24 * time.Hour, 1200 // more than two transactions sum
	s.clock.Advance(compute.DayBucket.End(s.clock.Wall()).Sub(s.clock.Wall()))
	write := func(f func(store.Tx, string) error) {
		require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
			for n := range many {
				if err := f(tx, fmt.Sprint("h", n)); err != nil {
					return err
				}
			}
			return nil
		}))
	}

	first := s.clock.Wall()
	write(func(tx store.Tx, id string) error {
		return tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: id, Rate: 24})
	})
	s.clock.Advance(time.Hour)
	write(store.Tx.CloseCharge)
	step := func(r loop.Retention) (charges int, sums []compute.ChargeSum) {
		require.NoError(t, r.Sweeps().StepAll(t.Context()))
		require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
			charges, sums = 0, nil
			return tx.EachSpent("u", first.Add(-day), first.Add(1000*day), func(compute.Charge) error {
				charges++
				return nil
			}, func(sum compute.ChargeSum) error {
				sums = append(sums, sum)
				return nil
			})
		}))
		return charges, sums
	}

	s.clock.Advance(200 * day)
	charges, _ := step(r)
	require.Equal(t, many, charges, "forever")
	r.Charges = 200 * day // which was an hour ago, in the day that these times are in
	charges, _ = step(r)
	require.Equal(t, many, charges, "a day is summed as a whole")
	s.clock.Advance(23 * time.Hour)
	charges, sums := step(r)
	require.Zero(t, charges)
	require.Equal(t, []compute.ChargeSum{{UserID: "u", Item: compute.PodCPU, ResourceID: "p", Day: first, Amount: many * 24, Ran: many * time.Hour}}, sums)
}

// keptThings are the pods, webhooks, entries of the audit log and counts of requests that there are.
type keptThings struct {
	setup *service
	made  []compute.PodID
}

// insert stores terminated pods, entries and ended webhooks, so many of each, and a webhook that is pending.
func (k *keptThings) insert(tx store.Tx, ids *compute.IDs, many int) error {
	k.made = nil
	for n := range many {
		if err := tx.InsertAudit(compute.AuditEntry{Kind: "pod"}); err != nil {
			return err
		}
		p := compute.Pod{ID: ids.Pod(), UserID: "u", Name: fmt.Sprint(n), Status: compute.PodTerminated, CreatedAt: tx.Now(), MovedAt: tx.Now()}
		k.made = append(k.made, p.ID)
		if err := errors.Join(tx.InsertPod(p), tx.InsertWebhook(compute.Webhook{CreatedAt: tx.Now()})); err != nil {
			return err
		}
	}
	return tx.InsertWebhook(compute.Webhook{URL: "http://pending/", CreatedAt: tx.Now(), NextAt: tx.Now()})
}

// pods gives how many of the pods there are.
func (k *keptThings) pods() (n int) {
	require.NoError(k.setup, k.setup.db.Read(k.setup.Context(), func(tx store.Tx) error {
		for _, id := range k.made {
			if _, err := tx.Pod(id); err == nil {
				n++
			}
		}
		return nil
	}))
	return n
}

// webhooks gives how many webhooks there are.
func (k *keptThings) webhooks() (n int) {
	require.NoError(k.setup, k.setup.db.Read(k.setup.Context(), func(tx store.Tx) error {
		log, err := tx.ListWebhooks(1000)
		n = len(log)
		return err
	}))
	return n
}

// noted gives how many entries of the audit log there are.
func (k *keptThings) noted() (n int) {
	require.NoError(k.setup, k.setup.db.Read(k.setup.Context(), func(tx store.Tx) error {
		all, _, err := tx.PageAudit(store.AuditSearch{}, compute.Page{Limit: 1000})
		n = len(all)
		return err
	}))
	return n
}

// counts gives how many counts of requests there are.
func (k *keptThings) counts() (n int) {
	require.NoError(k.setup, k.setup.db.Read(k.setup.Context(), func(tx store.Tx) error {
		all, err := tx.RequestCounts()
		n = len(all)
		return err
	}))
	return n
}

// noFlash is of a server without artifacts.
func noFlash(t *testing.T, db store.Store, clock compute.Clock, n *control.Endpoints) *control.Flash {
	t.Helper()
	sealer, err := control.NewSealer(make([]byte, control.SecretKeySize))
	require.NoError(t, err)
	return control.NewFlash(db, compute.NewIDs(rand.Reader, clock), n, sealer, clock, noArtifacts{})
}

type noArtifacts struct{}

func (noArtifacts) Has(compute.FlashBuildID) bool { return false }
func (noArtifacts) Keep(known func() ([]compute.FlashBuildID, error)) error {
	_, err := known()
	return err
}

func TestRetention_EndsWhatIsOnHostsThatLeft(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	rates, err := control.NewRates(t.Context(), s.db, s.clock, compute.Windows(1, 1, 1))
	require.NoError(t, err)
	pod, err := s.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.NoError(t, err)
	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return tx.SetHostChange(compute.HostChange{ID: "h", Removed: true}) }))
	s.begin() // as after a start that could not write

	require.NoError(t, loop.Retention{
		Store: s.db, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Rates: rates, Keyring: s.keyring, Endpoints: s.endpoints, Control: s.ctl,
		Flash: noFlash(t, s.db, s.clock, s.endpoints),
	}.Sweeps().StepAll(t.Context()))
	pod, err = s.ctl.GetPod(t.Context(), "u", pod.ID)
	require.NoError(t, err)
	require.Equal(t, []any{compute.PodError, "its host h left the fleet"}, []any{pod.Status, pod.Reason})
}
