package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/loop/reconcile"
)

func TestWebhooks_ReceiverHasMadeWhatIsDueAndMayBeMade(t *testing.T) {
	t.Parallel()
	now := realTime()
	past, soon, late := now.Add(-time.Second), now.Add(time.Hour), now.Add(2*time.Hour)
	due := func(seq int64, next time.Time) delivery {
		return delivery{seq: seq, receiver: "r", next: next, size: 10}
	}
	large := delivery{seq: 9, receiver: "r", next: past, size: 100 * webhookSmall}
	for name, c := range map[string]struct {
		r    receiver
		next reconcile.Next
		made []int64
	}{
		"nothing":                         {receiver{}, reconcile.Next{}, nil},
		"nothing but what is under way":   {receiver{running: 1}, reconcile.OnHint(), nil},
		"what is due later":               {receiver{line: line{due(1, soon)}}, reconcile.At(soon), nil},
		"what is due while it is left":    {receiver{line: line{due(1, past)}, until: soon}, reconcile.At(soon), nil},
		"what is due after it is left":    {receiver{line: line{due(1, late)}, until: soon}, reconcile.At(late), nil},
		"what is due":                     {receiver{line: line{due(1, past)}}, reconcile.OnHint(), []int64{1}},
		"one at first":                    {receiver{line: line{due(1, past), due(2, past)}}, reconcile.OnHint(), []int64{1}},
		"as many as it takes":             {receiver{line: line{due(1, past), due(2, past), due(3, past)}, most: 2}, reconcile.OnHint(), []int64{1, 2}},
		"no more than that":               {receiver{line: line{due(1, past)}, most: 2, running: 2}, reconcile.OnHint(), nil},
		"as many as are due":              {receiver{line: line{due(1, past), due(2, soon)}, most: 8}, reconcile.At(soon), []int64{1}},
		"what there is no room for waits": {receiver{line: line{large}, most: 8}, reconcile.OnHint(), nil},
	} {
		l := idleHooks()
		l.room = 100
		l.large.Store(1) // something is under way
		l.crowded.Store("r", int64(1))
		one := &reconcile.Look[string, receiver]{Key: "r", Memory: c.r}
		waiting := len(c.r.line)
		next, err := l.serve(t.Context(), one)
		require.NoError(t, err)
		require.Equal(t, c.next, next, name)
		require.Equal(t, c.made, l.deliveries.Keys(), name)
		require.Len(t, one.Memory.line, waiting-len(c.made), name)
		require.Equal(t, c.r.running+len(c.made), one.Memory.running, name)
		require.EqualValues(t, len(c.made), l.begun.Load(), name)
		for _, seq := range c.made {
			m, known := l.deliveries.Memory(seq)
			require.True(t, known, name)
			require.Equal(t, due(seq, past), m, name)
		}
		_, crowded := l.crowded.Load("r")
		require.Equal(t, len(one.Memory.line) > 0, crowded, "it waits for room as long as something is in its line: %s", name)
	}
}
