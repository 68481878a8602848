package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/observe"
)

// pipe is a reader of a log: it takes lines while it is open, and fails once it is gone.
type pipe struct {
	mu   sync.Mutex
	text bytes.Buffer
	gone bool
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return 0, errors.New("broken pipe")
	}
	return p.text.Write(b)
}

func (p *pipe) has(text string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.text.String(), text)
}

func TestLog_UnreadOneDropsWhatHasNoRoom(t *testing.T) {
	t.Parallel()
	to := &pipe{}
	var l *observe.Log
	l = observe.NewLog(to, func(n int64) { fmt.Fprintf(l, "dropped %d\n", n) })
	to.mu.Lock()                             // nobody reads
	line := strings.Repeat("x", 1023) + "\n" // the room is filled to its last byte: the report has none either

	const lines = 5000
	for range lines {
		n, err := l.Write([]byte(line))
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}

	dropped := l.Dropped()
	require.Positive(t, dropped)
	require.Less(t, dropped, int64(lines-1000), "a megabyte of them waits")

	to.mu.Unlock()
	l.Flush(t.Context())
	require.EqualValues(t, lines-dropped, to.has("xxx\n"))
	require.Equal(t, 1, to.has(fmt.Sprintf("dropped %d\n", dropped)), "it is reported once there is room")

	_, _ = l.Write([]byte("later\n"))
	l.Flush(t.Context())
	require.Equal(t, 1, to.has("dropped"))
	require.Equal(t, 1, to.has("later\n"))
	require.Equal(t, dropped, l.Dropped())
}

func TestLog_CountsWhatItCannotWrite(t *testing.T) {
	t.Parallel()
	to := &pipe{gone: true}
	l := observe.NewLog(to, func(int64) {})
	for range 3 {
		_, err := l.Write([]byte("line\n"))
		require.NoError(t, err)
	}
	l.Flush(t.Context())
	require.EqualValues(t, 3, l.Dropped())
}

func TestLog_Flush_DoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		l := observe.NewLog(blocked{gate}, func(int64) {})
		_, _ = l.Write([]byte("line\n"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l.Flush(ctx)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		close(gate)
		l.Flush(t.Context())
	})
}

// blocked takes nothing until its gate opens.
type blocked struct{ gate chan struct{} }

func (b blocked) Write(p []byte) (int, error) {
	<-b.gate
	return len(p), nil
}
