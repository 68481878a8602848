package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Not parallel: what other tests touch would come back meanwhile.
func TestUnmapProgram_GivesBackItsPagesAndGoesOn(t *testing.T) {
	written := []byte("data that was written to")
	before := mappedPages(t)

	unmapProgram()

	require.Less(t, mappedPages(t), before)
	require.Equal(t, "data that was written to", string(written))
	require.NoError(t, parseAgain(), "code and constants come back")
}

func parseAgain() error {
	_, err := strconv.ParseFloat("1.5e300", 64)
	return err
}

// mappedPages is how many KB of the process's memory are pages of files.
func mappedPages(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "RssFile:")
	require.True(t, found)

	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return kb
}
