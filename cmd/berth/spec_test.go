package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpecDiff_FailsAtUnexpectedAndStaleDifferences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}

	a := write("a.yaml", "paths: {/x: {get: {responses: {'200': {}, '422': {}}}}}")
	b := write("b.json", `{"paths":{"/x":{"get":{"responses":{"200":{}}}}}}`)
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := newCommand()
		cmd.SetArgs(append([]string{"spec", "diff"}, args...))
		cmd.SetOut(&out)
		cmd.SetErr(&bytes.Buffer{})
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}

	out, err := run(a, a)
	require.NoError(t, err)
	require.Empty(t, out)
	out, err = run(a, b)
	require.Error(t, err)
	require.Equal(t, "GET /x/responses/422: present | absent\n", out)

	entry := "- {at: 'GET /x/responses/422', a: present, b: absent, reason: it is so}\n"
	out, err = run(a, b, "--expected", write("right.yaml", entry))
	require.NoError(t, err)
	require.Empty(t, out)

	out, err = run(a, b, "--expected", write("vain.yaml", entry+"- {at: gone, a: x, b: y, reason: it was so}\n"))
	require.Error(t, err)
	require.Equal(t, "not there: gone: x | y\n", out)
	_, err = run(a, b, "--expected", filepath.Join(dir, "none.yaml"))
	require.Error(t, err)
}

// That there is a difference, and that nothing could be compared, are not the same to who asks.
func TestSpecDiff_WhatCannotBeReadIsNoDifference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, bad, good := filepath.Join(dir, "none.yaml"), filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "good.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("paths: {/x: []}"), 0o600))
	require.NoError(t, os.WriteFile(good, []byte("paths: {/x: {get: {responses: {200: {}}}}}"), 0o600))
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, none + ": no such file", []string{"diff", none}},
		{exitUsage, none + ": no such file", []string{"diff", good, none}},
		{exitUsage, bad + ": paths: /x: it is to be an object", []string{"diff", bad, good}},
		{exitUsage, "--expected: open " + none, []string{"diff", good, good, "--expected", none}},
		{exitUsage, none + ": no such file", []string{"drift", none}},
		{exitUsage, "--expected: open " + none, []string{"drift", good, "--expected", none}},
		{exitFailed, "differences are not expected", []string{"diff", "public", good}},
	} {
		r := call(t.Context(), "", append([]string{"spec"}, c.args...)...)
		require.Equal(t, c.code, r.code, "%v: %s", c.args, r.err)
		require.Contains(t, r.err, c.says)
	}
}

func TestSpecDiff_KnowsEditionsAndReportsTheNearest(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (out, messages string, err error) {
		var stdout, stderr bytes.Buffer
		cmd := newCommand()
		cmd.SetArgs(append([]string{"spec"}, args...))
		cmd.SetOut(&stdout)
		cmd.SetErr(&stderr)
		err = cmd.ExecuteContext(t.Context())
		return stdout.String(), stderr.String(), err
	}

	document, _, err := run("show", "rest", "--contract", "public")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "public.json")
	require.NoError(t, os.WriteFile(file, []byte(document), 0o600))

	out, stderr, err := run("diff", "public-2026-10", file)
	require.NoError(t, err)
	require.Empty(t, out)
	require.Contains(t, stderr, "nearest to edition public-2026-10: 0 differences; 2.0.0: ")
	out, stderr, err = run("diff", "2.0.0", file)
	require.Error(t, err)
	require.Contains(t, out, "CreatePodRequest/properties/startSsh: absent | present\n")
	require.Contains(t, stderr, "nearest to edition public-2026-10")
	_, stderr, err = run("diff", file)
	require.NoError(t, err)
	require.Contains(t, stderr, "nearest to edition public-2026-10: 0 differences")

	_, _, err = run("show", "rest", "--contract", "1.0.0")
	require.ErrorContains(t, err, "there is no edition")
}
