package site_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/problem"
	"github.com/berthdev/berth/spec"
	"github.com/berthdev/berth/store"
)

// meanings say what each code means to who gets it.
var meanings = map[compute.Code]string{
	compute.Invalid:         "the body, a parameter or a header breaks its schema; `errors` has every place, as a JSON Pointer with what is wrong there",
	compute.Rejected:        "it does not parse, two fields contradict each other, or a rule of the service refuses it; `detail` says which",
	compute.Unauthenticated: "there is no key, or none that is good",
	compute.OverSpend:       "the key may not spend so much",
	compute.Forbidden:       "the key lacks the scope, or the page is asked for under a strange host name",
	compute.NotFound:        "it is not there, or is not yours",
	compute.Conflict:        "its status, or something else that is there, does not allow it now",
	compute.TooMany:         "a limit is reached; `Retry-After` says when to come back",
	compute.Unavailable:     "the server is stopping, has too much to hold, or its storage is in trouble; `Retry-After` says when to try again",
	compute.Internal:        "a fault of berth's; the log of the server has it under the `X-Request-Id` of the answer",
}

// TestErrors_PageIsUpToDate holds docs/errors.md against the tables that it is made from; make rules writes it.
func TestErrors_PageIsUpToDate(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(`# Errors

Written by ` + "`make rules`" + ` from [` + "`impl/problem`" + `](../impl/problem/problem.go), the documents and the store.

A refusal over REST and the queue is an ` + "`application/problem+json`" + ` with ` + "`title`, `detail`" + ` and, where there is more than one thing wrong, ` + "`errors`" + `.
REST has ` + "`status`" + ` beside them. The queue has ` + "`error`" + ` in its place, with the sentence of ` + "`detail`" + `: its clients read a ` + "`status`" + ` as that of a job. Over GraphQL it is an item of ` + "`errors`" + `, whose ` + "`extensions.code`" + ` is the code.
Decide by status and code, never by the text. Every answer has an ` + "`X-Request-Id`" + `, which the log has, too.

| code | status | title | means |
|---|---|---|---|
`)
	codes := slices.SortedFunc(func(yield func(compute.Code) bool) {
		for code := range problem.Table {
			if !yield(code) {
				return
			}
		}
	}, func(a, b compute.Code) int { return problem.Table[a].Status - problem.Table[b].Status })
	for _, code := range codes {
		require.NotEmpty(t, meanings[code], "say what %s means", code)
		fmt.Fprintf(&page, "| `%s` | %d | %s | %s |\n", code, problem.Table[code].Status, problem.Table[code].Title, meanings[code])
	}

	page.WriteString("\n## When the storage is in trouble\n\nAll are 503 with `Retry-After`; reads go on where they can.\n\n| title | means |\n|---|---|\n")
	for _, trouble := range []store.Trouble{store.Full, store.Failing, store.Locked, store.Away, store.Moved} {
		var e *compute.Error
		require.ErrorAs(t, store.Troubled(trouble, errors.New("a disk")), &e)
		fmt.Fprintf(&page, "| `%s` | %s |\n", e.Title, e.Detail)
	}

	page.WriteString("\n## Statuses of the documents\n\nWhich statuses the operations of each document may answer with, and of how many operations each is documented. Any operation " +
		"may answer with others where HTTP itself is broken: 405, 413 and 415 have the same form.\n\n| status | REST | queue | workers | test controls |\n|---|---|---|---|---|\n")
	writeStatuses(t, &page)

	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile("../errors.md", []byte(page.String()), 0o600))
		return
	}
	has, err := os.ReadFile("../errors.md")
	require.NoError(t, err)
	require.Equal(t, page.String(), string(has), "docs/errors.md is not what its sources give: run make rules")
}

// writeStatuses writes a row for each status that a document has.
func writeStatuses(t *testing.T, page *strings.Builder) {
	names := []string{"rest", "queue", "worker", "controls"}
	counts := map[string]map[string]int{}
	for _, name := range names {
		text, err := spec.JSON(name, "")
		require.NoError(t, err)
		var document struct {
			Paths map[string]map[string]json.RawMessage
		}
		require.NoError(t, json.Unmarshal(text, &document))
		for _, path := range document.Paths {
			for method, item := range path {
				var operation struct{ Responses map[string]any }
				if method != "parameters" { // which is a list
					require.NoError(t, json.Unmarshal(item, &operation))
				}
				for status := range operation.Responses {
					if counts[status] == nil {
						counts[status] = map[string]int{}
					}
					counts[status][name]++
				}
			}
		}
	}

	statuses := []string{}
	for status := range counts {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		number, err := strconv.Atoi(status)
		if err != nil {
			continue // default: whatever else, in the form above
		}
		fmt.Fprintf(page, "| %d %s |", number, http.StatusText(number))
		for _, name := range names {
			if n := counts[status][name]; n > 0 {
				fmt.Fprintf(page, " %d |", n)
			} else {
				page.WriteString(" |")
			}
		}
		page.WriteByte('\n')
	}
}
