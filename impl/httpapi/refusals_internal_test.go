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
