package storetest

import (
	"cmp"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func charges(t *testing.T, open Open) {
	s, clock := begin(t, open)
	p, none := "p", "none"
	both := []compute.Item{compute.PodGPU, compute.ServerlessCPU}
	list := func(items []compute.Item, resource *string, from, to time.Time) []compute.Charge {
		return read(t, s, func(tx store.Tx) ([]compute.Charge, error) { return listCharges(tx, "u", items, resource, from, to) })
	}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	everything := func() []compute.Charge { return list(both, nil, start, at(1000)) }
	require.Empty(t, everything())

	pod := compute.Charge{UserID: "u", Item: compute.PodGPU, ResourceID: "p", HolderID: "p", Rate: 1_000_000_000_000, BeganAt: start}
	worker := compute.Charge{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", HolderID: "w", Rate: 7, BeganAt: at(1), SeenAt: at(1)}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(pod) })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(worker) })
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(pod) }) // it has one
	require.Equal(t, []compute.Charge{pod, worker}, everything())

	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.SeeCharges() })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.CloseUnseen("p", start.Add(-1)) }) // it began later
	write(t, s, func(tx store.Tx) error { return tx.CloseUnseen("w", at(1)) })
	worker.SeenAt, worker.EndedAt = at(2), at(2)
	require.Equal(t, []compute.Charge{pod, worker}, everything())

	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("p") })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("p") })
	write(t, s, func(tx store.Tx) error { return tx.SeeCharges() })
	pod.EndedAt = at(3)
	again := pod
	again.BeganAt, again.EndedAt = at(4), time.Time{}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(again) })
	require.Equal(t, []compute.Charge{pod, worker, again}, everything())

	require.Equal(t, []compute.Charge{pod, worker}, list(both, nil, start, at(4)), "what begins at the end is not in it")
	require.Equal(t, []compute.Charge{again}, list(both, nil, at(3), at(1000)), "nor is what ends at the beginning")
	require.Equal(t, []compute.Charge{worker}, list(both[1:], nil, start, at(1000)))
	require.Equal(t, []compute.Charge{pod, again}, list(both, &p, start, at(1000)))
	require.Empty(t, list(both, &none, start, at(1000)))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Charge, error) { return listCharges(tx, "v", both, nil, start, at(1000)) }))

	other := compute.Charge{UserID: "a", Item: compute.StorageStandard, ResourceID: "z", HolderID: "z", Rate: 1}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(other) })
	other.BeganAt = at(4)
	each := func(user compute.UserID, from, to time.Time) (all []compute.Charge) {
		require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
			all = nil
			return tx.EachSpent(user, from, to, func(c compute.Charge) error {
				all = append(all, c)
				return nil
			}, noSum)
		}))
		return all
	}
	require.Equal(t, []compute.Charge{other, worker, pod, again}, each("", start, at(1000)), "by users, resources and items")
	require.Equal(t, []compute.Charge{worker, pod, again}, each("u", start, at(1000)))
	require.Equal(t, []compute.Charge{worker, pod}, each("", start, at(4)), "what begins at the end is not in it")
	require.Equal(t, []compute.Charge{other, again}, each("", at(3), at(1000)), "nor is what ends at the beginning")
	require.ErrorIs(t, s.Read(t.Context(), func(tx store.Tx) error {
		return tx.EachSpent("", start, at(1000), func(compute.Charge) error { return io.ErrUnexpectedEOF }, noSum)
	}), io.ErrUnexpectedEOF)
}

func chargesStep(t *testing.T, open Open) {
	s, clock := begin(t, open)
	items := []compute.Item{compute.PodCPU, compute.ServerlessCPU}
	list := func() []compute.Charge {
		return read(t, s, func(tx store.Tx) ([]compute.Charge, error) {
			return listCharges(tx, "u", items, nil, start.Add(-100*time.Hour), start.Add(100*time.Hour))
		})
	}

	step := func(by time.Duration) {
		write(t, s, func(tx store.Tx) error { return tx.StepCharges(tx.Wall(), by) })
		clock.Running().Adjust(by)
	}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	pod := compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 60, BeganAt: at(0)}
	worker := compute.Charge{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", HolderID: "w", Rate: 7, BeganAt: at(1), SeenAt: at(1)}
	over := compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "q", HolderID: "q", Rate: 1, BeganAt: at(0), EndedAt: at(1)}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(pod) })
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(over) })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("q") })
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(worker) })
	step(time.Hour) // at the moment at which the worker began
	pod.EndedAt, worker.BeganAt, worker.SeenAt = at(1), at(61), at(61)

	on := pod
	on.BeganAt, on.EndedAt = at(61), time.Time{}
	require.Equal(t, []compute.Charge{pod, over, on, worker}, list())

	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.SeeCharges() })
	step(-2 * time.Hour)
	on.EndedAt, worker.EndedAt, worker.SeenAt = at(62), at(62), at(62)
	back, backToo := on, worker
	back.BeganAt, back.EndedAt = at(-58), time.Time{}
	backToo.BeganAt, backToo.SeenAt, backToo.EndedAt = at(-58), at(-58), time.Time{}
	require.Equal(t, []compute.Charge{back, backToo, pod, over, on, worker}, list())

	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("p") })
	write(t, s, func(tx store.Tx) error { return tx.CloseUnseen("w", tx.Wall()) })
	back.EndedAt, backToo.EndedAt = at(-57), at(-58)
	require.Equal(t, []compute.Charge{back, backToo, pod, over, on, worker}, list())
}

// chargesStepAt checks that a step may have come at another time of day than now's, as that at which a state was saved.
func chargesStepAt(t *testing.T, open Open) {
	s, clock := begin(t, open)
	list := func() []compute.Charge {
		return read(t, s, func(tx store.Tx) ([]compute.Charge, error) {
			return listCharges(tx, "u", []compute.Item{compute.PodCPU}, nil, start, start.Add(100*time.Hour))
		})
	}

	first := compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 60, BeganAt: start}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(first) })
	clock.Advance(10 * time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.StepCharges(start.Add(time.Hour), 9*time.Hour) })
	first.EndedAt = start.Add(time.Hour)
	second := first
	second.BeganAt, second.EndedAt = start.Add(10*time.Hour), time.Time{}
	require.Equal(t, []compute.Charge{first, second}, list())

	write(t, s, func(tx store.Tx) error { return tx.StepCharges(start.Add(30*time.Hour), -20*time.Hour) })
	third := second
	second.EndedAt = start.Add(30 * time.Hour)
	require.ElementsMatch(t, []compute.Charge{first, second, third}, list())
}

func chargesCleared(t *testing.T, open Open) {
	s, clock := begin(t, open)
	charge := func(holder string) compute.Charge {
		return compute.Charge{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", HolderID: holder, Rate: 7, SeenAt: start}
	}
	write(t, s, func(tx store.Tx) error {
		declared := endpoint("e", "u", "n")
		declared.Declared = true
		require.NoError(t, tx.InsertEndpoint(declared))
		require.NoError(t, tx.InsertWorker(compute.Worker{ID: "stays", EndpointID: "e"}))
		require.NoError(t, tx.InsertWorker(compute.Worker{ID: "ended", EndpointID: "e"}))
		require.NoError(t, tx.OpenCharge(charge("stays")))
		require.NoError(t, tx.OpenCharge(charge("ended")))
		require.NoError(t, tx.OpenCharge(charge("none")))
		return tx.CloseCharge("ended")
	})

	clock.Advance(time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	anew := charge("stays")
	anew.BeganAt, anew.SeenAt = start.Add(time.Hour), start.Add(time.Hour)
	require.Equal(t, []compute.Charge{anew}, read(t, s, func(tx store.Tx) ([]compute.Charge, error) {
		return listCharges(tx, "u", []compute.Item{compute.ServerlessCPU}, nil, start, start.Add(100*time.Hour))
	}), "what outlives the reset costs from then on")
}

// listCharges gives the user's charges in the order of their beginning.
func listCharges(tx store.Tx, user compute.UserID, items []compute.Item, resource *string, from, to time.Time) (all []compute.Charge, err error) {
	err = tx.EachCharge(user, items, resource, from, to, func(c compute.Charge) error {
		all = append(all, c)
		return nil
	})
	slices.SortStableFunc(all, func(a, b compute.Charge) int {
		return cmp.Or(a.BeganAt.Compare(b.BeganAt), cmp.Compare(a.HolderID, b.HolderID))
	})
	return all, err
}
