package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/spec"
)

// withoutCommand are the operations that no command asks for, and why.
var withoutCommand = map[string]string{
	"controls.getLogs":            "other clients ask for it; berth pods logs and berth endpoints logs show the same",
	"queue.statusPost":            "it is status, for clients that send POST",
	"queue.statusSyncPost":        "it is statusSync, for clients that send POST",
	"queue.streamPost":            "it is stream, for clients that send POST",
	"queue.openAIChatCompletions": "clients of OpenAI's API call it",
	"queue.openAICompletions":     "clients of OpenAI's API call it",
	"queue.openAIResponses":       "clients of OpenAI's API call it",
	"queue.openAIMessages":        "clients of Anthropic's API call it",
	"queue.openAIEmbeddings":      "clients of OpenAI's API call it",
	"queue.openAIModels":          "clients of OpenAI's API call it",
	"queue.openAIRouteGet":        "clients of OpenAI's API call it",
	"queue.openAIRoute":           "clients of OpenAI's API call it",
	"controls.receiveWebhook":     "servers post webhooks to it; what came is in berth journal list",
}

// TestCommands_AskForEveryOperation: a new operation of the documents needs a command, or a line above that says why it has none.
func TestCommands_AskForEveryOperation(t *testing.T) {
	t.Parallel()
	called := callsOfClients(t)
	unused := maps.Clone(withoutCommand)
	for _, document := range []string{"rest", "queue", "controls"} {
		for _, id := range operationsOf(t, document) {
			name := document + "." + id
			if _, without := withoutCommand[name]; without {
				require.NotContains(t, called, strings.ToLower(id), "a command asks for %s: it needs no line in withoutCommand", name)
				delete(unused, name)
				continue
			}
			require.Contains(t, called, strings.ToLower(id), "no command asks for %s", name)
		}
	}
	require.Empty(t, slices.Collect(maps.Keys(unused)), "they are in no document")
}

// operationsOf gives the ids of the operations of a document.
func operationsOf(t *testing.T, name string) (ids []string) {
	text, err := spec.JSON(name, "")
	require.NoError(t, err)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &document))
	for _, path := range document.Paths {
		for member, text := range path {
			var operation struct{ OperationID string }
			if member != "parameters" && json.Unmarshal(text, &operation) == nil && operation.OperationID != "" {
				ids = append(ids, operation.OperationID)
			}
		}
	}
	require.NotEmpty(t, ids)
	slices.Sort(ids)
	return ids
}

// callsOfClients gives the operations that the program calls generated clients for, in lower case: the names of their methods are those of
// the operations, with some words in capitals.
func callsOfClients(t *testing.T) map[string]bool {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	called := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			if method, is := call.Fun.(*ast.SelectorExpr); is {
				name := strings.TrimSuffix(method.Sel.Name, "WithBody")
				called[strings.ToLower(name)] = true
				if name, made := strings.CutPrefix(name, "New"); made {
					called[strings.ToLower(strings.TrimSuffix(name, "Request"))] = true
				}
			}
			return true
		})
	}
	return called
}
