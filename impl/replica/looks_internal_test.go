package replica

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// counted counts how often the table is asked for its owner.
type counted struct {
	*table
	looks atomic.Int64
}

func (c *counted) Hold(ctx context.Context, me store.Replica, lease time.Duration) (store.Owner, error) {
	c.looks.Add(1)
	return c.table.Hold(ctx, me, lease)
}

func (c *counted) See(ctx context.Context) (store.Owner, error) {
	c.looks.Add(1)
	return c.table.See(ctx)
}

// TestMember_RequestsThatWaitForAGoneOwnerLeaveTheDatabaseAlone: each of them has it looked again, and there may be 2,000.
func TestMember_RequestsThatWaitForAGoneOwnerLeaveTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	owners := &counted{table: &table{owner: store.Owner{ID: "gone", Address: "http://127.0.0.1:1", Epoch: 1}, until: time.Now().Add(time.Hour)}}
	b := join(t, owners, "b", nil)
	ctx, cancel := context.WithCancel(t.Context())
	go b.Run(ctx, nil)
	defer cancel()
	began := time.Now()
	var waiting sync.WaitGroup
	for range 10 {
		waiting.Go(func() {
			for end := time.Now().Add(time.Second); time.Now().Before(end); {
				b.Doubt()
				<-time.After(time.Millisecond)
			}
		})
	}
	waiting.Wait()
	require.Less(t, owners.looks.Load(), int64(30*time.Since(began)/time.Second), "ten in a second are usual")
}
