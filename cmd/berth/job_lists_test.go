package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestJobs_AreListedAndShown(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}, "echo", "fail")
	done := s.document("jobs", "run", "echo", "--input", `{"a":1}`, "--wait")["id"].(string)
	failed := lines(t, s.run("jobs", "run", "fail", "--input", "{}", "--wait", "--json").out)[0]["id"].(string)

	require.Regexp(t, `(?s)^ID .*\n`+failed+` .* FAILED .*failed as asked\n`+done+` .* COMPLETED .* -\n$`, s.done("jobs", "list"))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--endpoint", "echo"}, []string{done}},
		{[]string{"--status", "failed"}, []string{failed}},
		{[]string{"--error", "AS ASKED", "--from", "2001-01-01T00:00:00Z"}, []string{failed}},
		{[]string{"--to", "2001-01-01T00:00:00Z"}, nil},
		{nil, []string{failed, done}},
	} {
		var ids []string
		for _, one := range s.document(append([]string{"jobs", "list"}, c.args...)...)["jobs"].([]any) {
			ids = append(ids, one.(map[string]any)["id"].(string))
		}
		require.Equal(t, c.want, ids, "%v", c.args)
	}

	some := s.run("jobs", "list", "--limit", "1")
	require.Zero(t, some.code, some.err)
	require.Contains(t, some.out, failed)
	require.NotContains(t, some.out, done)
	require.Equal(t, "these are 1; there may be more: --limit shows them\n", some.err)

	shown := s.done("jobs", "show", done)
	require.Regexp(t, `(?s)^id +`+done+`\n.*input +\{"a":1\}\noutput +\{"a":1\}\n$`, shown)
	require.Contains(t, s.done("jobs", "show", done, "--json"), `"truncated":false`)
	s.refuses(exitRefused, "berth: 404 Not Found: job \"nosuchjob\" does not exist or its result has expired\nhint: berth jobs list shows those that there are; a job is kept for 30 minutes after its end, one of runsync for one\n", "jobs", "show", "nosuchjob")
	for _, wrong := range [][]string{{"--limit", "0"}, {"--from", "yesterday"}} {
		require.Equal(t, exitUsage, s.run(append([]string{"jobs", "list"}, wrong...)...).code, "%v", wrong)
	}
	require.Equal(t, exitRefused, s.run("jobs", "list", "--status", "DONE").code)
}
