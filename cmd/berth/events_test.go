package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestEvents_AreFollowed(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	follow := func(args ...string) string {
		out := make(chan ran, 1)
		go func() {
			out <- s.run(append([]string{"events", "--kinds", "template,volume", "--count", "2"}, args...)...)
		}()
		var r ran
		require.Eventually(t, func() bool { // until it follows
			s.done("templates", "create", "--name", "followed", "--image", "i")
			select {
			case r = <-out:
				return true
			default:
				return false
			}
		}, 30*time.Second, 50*time.Millisecond)
		require.Zero(t, r.code, r.err)
		return r.out
	}

	// A template that was being made when the first one began to follow is no event of its own.
	require.Regexp(t, `^(template  created   [a-z0-9]{14}\n|reset     changed\n){2}$`, follow())
	require.Regexp(t, `^(\{"change":"created","id":"[a-z0-9]{14}","kind":"template"\}\n|\{"change":"changed","id":"","kind":"reset"\}\n){2}$`, follow("--json"))

	require.Equal(t, exitUsage, s.run("events", "--kinds", "pods").code)
	require.Contains(t, s.run("events", "--kinds", "pods").err, "there are pod, cluster")
	s.flags = []string{"--server", s.server.URL(), "--key", strings.Repeat("x", 20)}
	require.Equal(t, exitRefused, s.run("events").code)
}
