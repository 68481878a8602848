package httpapi

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRefusals_WhatStrangersAskForIsKeptInBounds(t *testing.T) {
	t.Parallel()
	var r refusals
	now := time.UnixMilli(1_700_000_000_000)
	for i := range quickRefusals {
		require.False(t, r.add("/v2/a/job-take/one", now), i)
	}
	require.True(t, r.add("/v2/a/job-take/one", now))

	long := "/v2/a/job-take/" + strings.Repeat("x", 1<<20)
	require.False(t, r.add(long, now))
	for i := range 2 * refusedPaths {
		held := r.add("/v2/a/job-take/"+strconv.Itoa(i), now)
		require.Equal(t, i >= refusedPaths-2, held, i)
	}
	require.Len(t, r.takes, refusedPaths)
	for path := range r.takes {
		require.LessOrEqual(t, len(path), refusedPath)
	}
	require.False(t, r.add("/v2/a/job-take/late", now.Add(refusalWindow)), "a new window")
	require.Len(t, r.takes, 1)
}

func TestRefusals_TenOfAWorkerInASecondAreQuick(t *testing.T) {
	t.Parallel()
	var r refusals
	now := time.UnixMilli(1_700_000_000_000)
	for range 10 {
		require.False(t, r.add("/v2/a/job-take/one", now))
	}
	require.True(t, r.add("/v2/a/job-take/one", now.Add(999*time.Millisecond)))
	require.False(t, r.add("/v2/a/job-take/two", now.Add(999*time.Millisecond)), "another worker")
	require.False(t, r.add("/v2/a/job-take/one", now.Add(time.Second)), "a new window")

	// Paths are told apart by their first 512 bytes.
	begin := strings.Repeat("x", 511)
	for i := range 11 {
		require.False(t, r.add(begin+string(rune('a'+i))+"z", now.Add(time.Second)))
		require.Equal(t, i == 10, r.add(begin+"z"+strconv.Itoa(i), now.Add(time.Second)))
	}

	// There are as many paths as 10,000 in a window.
	var many refusals
	for i := range 10_000 {
		require.False(t, many.add(strconv.Itoa(i), now))
	}
	require.True(t, many.add("more", now))
	require.False(t, many.add("5", now), "one that is counted is")
}
