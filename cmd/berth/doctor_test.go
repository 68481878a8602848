package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestDoctor_SaysWhyThereIsNoEngine(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
	t.Setenv("PATH", "/no/such/path")
	t.Setenv("KUBECONFIG", "/no/such/config")
	run := func(args ...string) string {
		var out bytes.Buffer
		cmd := newCommand()
		cmd.SetArgs(append([]string{"doctor"}, args...))
		cmd.SetOut(&out)
		require.NoError(t, cmd.ExecuteContext(t.Context()))
		return out.String()
	}

	var findings []app.Finding
	require.NoError(t, json.Unmarshal([]byte(run("--json")), &findings))
	here := map[string]bool{}
	for _, f := range findings {
		here[f.Name] = f.Available
		require.NotEmpty(t, f.Detail)
		require.NotNil(t, f.Warnings)
	}

	require.Equal(t, map[string]bool{"sim": true, "process": true, "docker": false, "kubernetes": false, "gpu": false}, here)
	table := run()
	require.Regexp(t, `(?m)^docker +no +.*/no/such/docker.sock`, table)
	require.Regexp(t, `(?m)^kubernetes +no +.*/no/such/config`, table)
	require.Regexp(t, `(?m)^gpu +no +none found: nvidia-smi is not installed$`, table)
	require.Regexp(t, `(?m)^process +yes +processes of this machine$`, table)
}
