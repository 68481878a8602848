package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
)

// newsEvery is how often it is looked what became of the workers while a job is waited for.
const newsEvery = 2 * time.Second

// workersOf reads the workers of an endpoint, those that there are and the last ones that have ended.
func (c *connection) workersOf(ctx context.Context, endpoint string) (rest.WorkerList, []byte, error) {
	return fetch[rest.WorkerList](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.rest.ListEndpointWorkers(ctx, endpoint) })
}

// news reports what keeps a job from its end that its status does not: workers that fail, and those that cannot be started.
type news struct {
	of      *connection
	id      string // of the endpoint
	named   string // what the user calls it
	known   map[string]bool
	printed map[string]bool // reasons
	looked  time.Time
}

// newsOf gives the news of an endpoint from now on. What it cannot have, as with a key for jobs alone, it does without.
func newsOf(ctx context.Context, c *connection, endpoint, named string) *news {
	n := &news{of: c, id: endpoint, named: named, known: map[string]bool{}, printed: map[string]bool{}, looked: time.Now()}
	if list, _, err := c.workersOf(ctx, endpoint); err == nil {
		for _, w := range list.Ended {
			n.known[w.ID] = true
		}
	}
	return n
}

// print prints what is new, at most every newsEvery unless it is the last time. Each reason is printed once.
func (n *news) print(ctx context.Context, to io.Writer, last bool) {
	if n == nil || !last && time.Since(n.looked) < newsEvery {
		return
	}
	n.looked = time.Now()
	list, _, err := n.of.workersOf(ctx, n.id)
	if err != nil {
		return
	}

	for _, w := range slices.Backward(list.Ended) {
		if !n.known[w.ID] && failed(w) && !n.printed[w.Reason] {
			n.printed[w.Reason] = true
			why, words, _ := strings.Cut(w.Reason, "\n")
			fmt.Fprintf(to, "worker %s: %s\n%s", w.ID, oneLine(why), indented(words))
			fmt.Fprintf(to, "  its log: berth endpoints logs %s %s\n", n.named, w.ID)
		}
		n.known[w.ID] = true
	}

	for _, w := range list.Workers {
		reason, err := w.Reason.Get()
		if err != nil || w.Status != rest.WorkerStatusUNHEALTHY && w.Status != rest.WorkerStatusTHROTTLED {
			continue
		}
		earlier := reason // of another worker, and printed already?
		if _, after, ok := strings.Cut(reason, ": "); ok && strings.HasPrefix(reason, "worker ") {
			earlier = after
		}

		if !n.printed[reason] && !n.printed[earlier] {
			n.printed[reason], n.printed[earlier] = true, true
			why, words, _ := strings.Cut(reason, "\n")
			fmt.Fprintf(to, "endpoint %s has no worker now, %s: %s\n%s", n.named, w.Status, oneLine(why), indented(words))
		}
	}
}

// failed reports whether a worker ended otherwise than it was to.
func failed(w rest.EndedWorker) bool {
	code, err := w.ExitCode.Get()
	return err == nil && code != 0 || err != nil && strings.Contains(w.Reason, "\n")
}

// indented gives the last lines that a worker wrote, without what could do something to the terminal.
func indented(words string) string {
	text := &strings.Builder{}
	for line := range strings.Lines(words) {
		text.WriteString("    " + strings.TrimRight(oneLine(line), " ") + "\n")
	}
	return text.String()
}

// brief makes one line of a reason: why, and the last line that the worker wrote.
func brief(reason string) string {
	why, words, _ := strings.Cut(reason, "\n")
	if last := words[strings.LastIndexByte(words, '\n')+1:]; last != "" {
		why += ": " + last
	}
	return why
}

var endedColumns = []column[rest.EndedWorker]{
	{head: "ENDED WORKER", value: func(w rest.EndedWorker) string { return w.ID }},
	{head: "VERSION", value: func(w rest.EndedWorker) string { return textOf(w.Version) }},
	{head: "STARTED", value: func(w rest.EndedWorker) string { return pointed(w.StartedAt.Pointer()) }},
	{head: "ENDED", value: func(w rest.EndedWorker) string { return textOf(w.EndedAt) }},
	{head: "EXIT CODE", value: func(w rest.EndedWorker) string { return pointed(w.ExitCode.Pointer()) }},
	{head: "REASON", value: func(w rest.EndedWorker) string { return brief(w.Reason) }},
}

// printEnded prints the workers that have ended, and all that is known of the last one that failed.
func printEnded(cmd *cobra.Command, endpoint string, list rest.WorkerList) error {
	if len(list.Ended) == 0 {
		return nil
	}
	if idsAlone(cmd) {
		return printTable(cmd, endedColumns, list.Ended)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintln(out)
	if err := printTable(cmd, endedColumns, list.Ended); err != nil {
		return err
	}

	for _, w := range list.Ended {
		if failed(w) {
			why, words, _ := strings.Cut(w.Reason, "\n")
			_, err := fmt.Fprintf(out, "\nworker %s: %s\n%s  its log: berth endpoints logs %s %s\n", w.ID, oneLine(why), indented(words), endpoint, w.ID)
			return err
		}
	}

	return nil
}

// newest gives the worker whose log is meant if none is named: the newest one that runs, else the last one that ended.
func newest(list rest.WorkerList) (id string, ok bool) {
	for _, w := range list.Workers {
		_, down := w.StartedAt.Get()
		if down == nil || w.Status != rest.WorkerStatusUNHEALTHY && w.Status != rest.WorkerStatusTHROTTLED {
			return w.ID, true
		}
	}

	switch {
	case len(list.Ended) > 0:
		return list.Ended[0].ID, true
	case len(list.Workers) > 0:
		return list.Workers[0].ID, true
	}

	return "", false
}
