package docker

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// An engine may answer while it is not known what its host has: nothing is placed there, and nothing is lost.
func TestEngine_ThatAnswersPingsIsNotLost(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Unix(1_700_000_000, 0))
	config := Config{Clock: clock, Log: slog.New(slog.DiscardHandler)}
	e := &engine{Runtime: &Runtime{config: config}, Engine: runtime.Engine{HostID: "h"}, fleet: &Fleet{config: FleetConfig{LostAfter: time.Minute}}, since: clock.Now()}
	e.noteReached(true)
	clock.Advance(time.Hour)
	require.False(t, e.now().Answers)
	require.False(t, e.now().Lost)

	e.noteReached(false)
	require.False(t, e.now().Lost, "it has not answered for a moment")
	clock.Advance(time.Minute)
	require.True(t, e.now().Lost)
	e.noteReached(false)
	require.True(t, e.now().Lost)
}
