package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func logins(t *testing.T, open Open) {
	s, clock := begin(t, open)
	now := clock.Wall().Truncate(time.Millisecond).UTC()
	made := func(hash, origin string, ends time.Time) compute.LoginRequest {
		l := compute.LoginRequest{
			Hash: hash, Name: "laptop", Challenge: "c", Client: "192.0.2.1", Origin: origin, Agent: "a client", CreatedAt: now, ExpiresAt: ends, Status: compute.LoginPending,
		}
		write(t, s, func(tx store.Tx) error { return tx.InsertLogin(l) })
		return l
	}
	get := func(hash string) compute.LoginRequest {
		return read(t, s, func(tx store.Tx) (compute.LoginRequest, error) { return tx.Login(hash) })
	}
	counts := func(origin string, after time.Time) (n [2]int64) {
		return read(t, s, func(tx store.Tx) ([2]int64, error) {
			of, all, err := tx.CountLogins(origin, after)
			return [2]int64{of, all}, err
		})
	}
	require.Equal(t, [2]int64{}, counts("here", now), "of none")

	one, two := made("1", "here", now.Add(time.Minute)), made("2", "there", now.Add(time.Hour))
	require.Equal(t, one, get("1"))
	err := s.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Login("3"); return err })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	err = s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertLogin(one) })
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.Equal(t, [2]int64{1, 2}, counts("here", now))
	require.Equal(t, [2]int64{0, 1}, counts("here", now.Add(time.Minute)), "the one has ended")

	move := func(l compute.LoginRequest, from compute.LoginStatus) (moved bool) {
		write(t, s, func(tx store.Tx) (err error) {
			moved, err = tx.MoveLogin(l, from)
			return err
		})
		return moved
	}
	two.Status, two.Approver, two.UserID = compute.LoginApproved, "k", "ada"
	require.True(t, move(two, compute.LoginPending))
	require.False(t, move(two, compute.LoginPending), "it is not any more")
	two.Status, two.KeyID = compute.LoginConsumed, "new"
	require.True(t, move(two, compute.LoginApproved))
	require.Equal(t, two, get("2"))
	require.Equal(t, [2]int64{0, 1}, counts("there", now), "one that was decided does not count")

	remove := func(before time.Time, limit int) (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteLogins(before, limit)
			return err
		})
		return n
	}
	require.Zero(t, remove(now.Add(time.Minute), 9))
	require.Equal(t, 1, remove(now.Add(2*time.Hour), 1), "the first that ended")
	require.Equal(t, two, get("2"))
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Zero(t, remove(now.Add(2*time.Hour), 9), "a reset has removed the other")
}
