package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestWhy(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}, "echo")
	done := s.document("jobs", "run", "echo", "--input", `{}`, "--wait")["id"].(string)
	require.Regexp(t, `^waits     false\nreason    finished\nbecause   the job is COMPLETED since \S+\nsince     \S+\nworker    [a-z0-9]{14}\nattempts  1\n$`, s.done("jobs", "why", done))
	require.Equal(t, "finished", s.document("jobs", "why", done)["reason"])

	pod := s.document("pods", "create", "--name", "first", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	require.Regexp(t, `(?s)^waits +false\nreason +running\n.*\nthe last lines of its log\n  \S+ pod is PROVISIONING\n.*  \S+ pod is RUNNING\n$`, s.done("pods", "why", pod))
	require.Empty(t, s.done("pods", "why", pod, "-q"), "it has no ids")
	require.Contains(t, []any{"ready", "resting"}, s.document("endpoints", "why", "echo")["reason"])
	for _, what := range []string{"jobs", "pods", "endpoints"} {
		r := s.run(what, "why", "nosuchthing000")
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.err, "hint: berth "+what+" list shows those that there are\n")
	}
}
