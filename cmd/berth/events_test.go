package main

import (
	"fmt"
	"io"
	"net/http"
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

// TestEvents_GoOnFromWhereTheStreamStood: also where it stood before the first event that is printed, and long after the last one.
func TestEvents_GoOnFromWhereTheStreamStood(t *testing.T) {
	t.Parallel()
	stands := func(id string) string { return ": nothing new\nid: " + id + "\n\n" }
	made := func(id string) string {
		return fmt.Sprintf("id: %[1]s\nevent: pod\ndata: {\"kind\":\"pod\",\"id\":\"%[1]s\",\"change\":\"created\"}\n\n", id)
	}
	answer := func(text string, ends bool) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
			if !ends {
				panic(http.ErrAbortHandler)
			}
		}
	}

	flags, resumed := logServer(t,
		answer("retry: 1000\n\n"+stands("a"), false), answer(made("b")+stands("c")+stands("d"), true), answer("retry: 1000\n\n", true), answer(made("e"), true))
	r := call(t.Context(), "", append([]string{"events", "--count", "2"}, flags...)...)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "pod       created   b\npod       created   e\n", r.out)
	require.Equal(t, []string{"", "a", "d", "d"}, resumed())
}
