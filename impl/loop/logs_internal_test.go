package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// voice is a runtime that has written lines, and what berth has written beside them.
type voice struct {
	runtime.Runtime
	mu     sync.Mutex
	lines  []runtime.Line
	system []compute.LogLine
	over   bool
	err    error
	ended  chan struct{} // closed when the run has ended
	asked  int           // for the lines of the container
}

// says adds lines of the container at positions.
func (v *voice) says(at ...int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range at {
		v.lines = append(v.lines, runtime.Line{At: time.Unix(0, p), Position: p, Text: fmt.Sprint("c", p)})
	}
}

// notes adds lines of berth at positions.
func (v *voice) notes(at ...int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range at {
		v.system = append(v.system, compute.LogLine{Source: compute.LogSystem, Position: p, Text: fmt.Sprint("s", p)})
	}
}

func (v *voice) Logs(ctx context.Context, _ string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	v.mu.Lock()
	v.asked++
	lines, err, ended := q.Select(v.lines), v.err, v.ended
	v.mu.Unlock()
	for _, line := range lines {
		if err := emit(line); err != nil {
			return err
		}
	}
	if err == nil && q.Follow && ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// log gives what reads it.
func (v *voice) log(q compute.LogQuery) *logs {
	return &logs{
		runtime: v, clock: compute.SystemClock{}, id: "w", query: q,
		systemLines: func(_ context.Context, after int64) (lines []compute.LogLine, over bool, err error) {
			v.mu.Lock()
			defer v.mu.Unlock()
			for _, line := range v.system {
				if line.Position > after {
					lines = append(lines, line)
				}
			}
			return lines, v.over, nil
		},
	}
}

// texts reads what there is.
func (v *voice) texts(t *testing.T, l *logs) (all []string) {
	t.Helper()
	l.query.AtOnce = true
	read, err := l.open(t.Context())
	require.NoError(t, err)
	require.NoError(t, read(t.Context(), func(line compute.LogLine) error {
		all = append(all, line.Text)
		return nil
	}))
	return all
}

func TestLogs_BeginWhereTheQueryDoes(t *testing.T) {
	t.Parallel()
	both := &voice{}
	both.says(20, 30, 40)
	both.notes(10, 20, 35, 50)
	alone := &voice{}
	alone.says(10, 20, 30, 40)
	for name, c := range map[string]struct {
		v    *voice
		q    compute.LogQuery
		want []string
	}{
		"all, in the order of time":    {both, compute.LogQuery{Tail: 7}, []string{"s10", "c20", "s20", "c30", "s35", "c40", "s50"}},
		"more than there is":           {both, compute.LogQuery{Tail: 100}, []string{"s10", "c20", "s20", "c30", "s35", "c40", "s50"}},
		"the last ones":                {both, compute.LogQuery{Tail: 4}, []string{"c30", "s35", "c40", "s50"}},
		"the last one":                 {both, compute.LogQuery{Tail: 1}, []string{"s50"}},
		"none":                         {both, compute.LogQuery{}, nil},
		"the last ones of a container": {alone, compute.LogQuery{Tail: 2}, []string{"c30", "c40"}},
		"those of the container":       {both, compute.LogQuery{Tail: 2, Source: compute.LogContainer}, []string{"c30", "c40"}},
		"those of the system":          {both, compute.LogQuery{Tail: 2, Source: compute.LogSystem}, []string{"s35", "s50"}},
		"since a time":                 {both, compute.LogQuery{Tail: 1, Since: time.Unix(0, 35)}, []string{"s35", "c40", "s50"}},
		"after a time":                 {both, compute.LogQuery{Tail: 1, After: time.Unix(0, 35)}, []string{"c40", "s50"}},
	} {
		require.Equal(t, c.want, c.v.texts(t, c.v.log(c.q)), name)
	}
}

func TestLogs_AskARuntimeForNothingInVain(t *testing.T) {
	t.Parallel()
	v := &voice{}
	v.says(1)
	v.notes(2)
	require.Equal(t, []string{"s2"}, v.texts(t, v.log(compute.LogQuery{Tail: 9, Source: compute.LogSystem})))
	require.Zero(t, v.asked)
}

func TestLogs_OfAContainerThatIsGoneAreThoseThatWereKept(t *testing.T) {
	t.Parallel()
	v := &voice{err: runtime.ErrUnknown}
	v.notes(15)
	require.Equal(t, []string{"s15"}, v.texts(t, v.log(compute.LogQuery{Tail: 9})), "nothing was kept")

	l := v.log(compute.LogQuery{Tail: 2})
	var failure error
	l.kept = func(context.Context) ([]runtime.Line, error) {
		return []runtime.Line{{Position: 10, Text: "c10"}, {Position: 20, Text: "c20"}}, failure
	}
	require.Equal(t, []string{"s15", "c20"}, v.texts(t, l))
	failure = errors.New("the store is away")
	_, err := l.open(t.Context())
	require.ErrorIs(t, err, failure)

	failure = nil
	full := errors.New("the reader has enough")
	read, err := l.open(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, read(t.Context(), func(compute.LogLine) error { return full }), full)

	v.err = runtime.ErrUnavailable
	require.Equal(t, []string{"s15"}, v.texts(t, v.log(compute.LogQuery{Tail: 2})), "it answers later")
	v.err = errors.New("the disk fails")
	_, err = v.log(compute.LogQuery{Tail: 2}).open(t.Context())
	require.ErrorIs(t, err, v.err)
}

func TestLogs_FollowUntilTheirEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &voice{ended: make(chan struct{})}
		v.says(10)
		v.notes(5)
		read, err := v.log(compute.LogQuery{Tail: 9}).open(t.Context())
		require.NoError(t, err)
		var texts []string
		ended := make(chan error, 1)
		go func() {
			ended <- read(t.Context(), func(line compute.LogLine) error {
				v.mu.Lock()
				defer v.mu.Unlock()
				texts = append(texts, line.Text)
				return nil
			})
		}()
		after := func(d time.Duration) []string {
			<-time.After(d)
			synctest.Wait()
			v.mu.Lock()
			defer v.mu.Unlock()
			return slices.Clone(texts)
		}
		asked := func() int {
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.asked
		}
		require.Equal(t, []string{"s5", "c10"}, after(0))

		v.notes(20)
		require.Equal(t, []string{"s5", "c10"}, after(499*time.Millisecond))
		require.Equal(t, []string{"s5", "c10", "s20"}, after(time.Millisecond))

		v.says(30)
		v.mu.Lock()
		close(v.ended) // its run
		v.ended = make(chan struct{})
		v.mu.Unlock()
		require.Equal(t, []string{"s5", "c10", "s20", "c30"}, after(time.Second), "and then the next one")
		before := asked()
		require.Equal(t, []string{"s5", "c10", "s20", "c30"}, after(time.Minute), "none twice")
		require.Equal(t, before, asked(), "it is followed")

		v.says(40)
		v.notes(50)
		v.mu.Lock()
		v.over = true
		v.mu.Unlock()
		require.Equal(t, []string{"s5", "c10", "s20", "c30", "s50", "c40"}, after(time.Second), "what came last, too")
		require.NoError(t, <-ended)
	})
}
