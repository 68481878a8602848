package replica

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// TestMember_RequestsThatWaitForAGoneOwnerLeaveTheDatabaseAlone: each of them has it looked again, and there may be 2,000.
func TestMember_RequestsThatWaitForAGoneOwnerLeaveTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	owners := &table{owner: store.Owner{ID: "gone", Address: "http://127.0.0.1:1", Epoch: 1}, until: time.Now().Add(time.Hour)}
	b := join(t, owners, "b", nil)
	ctx, cancel := context.WithCancel(t.Context())
	go b.Run(ctx, nil)
	defer cancel()
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
	owners.mu.Lock()
	defer owners.mu.Unlock()
	require.Less(t, owners.looks, 30)
}
