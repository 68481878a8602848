package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/app"
)

// demoHold is how long the demo's job may take: longer than a server holds a request that does not say how long.
const demoHold = 90 * time.Second

// runDemo does over HTTP, with the first key, which is empty unless it is known, what a first user would: a pod until it is RUNNING, a job through
// a real worker.
func runDemo(ctx context.Context, out io.Writer, s *app.Server, key string) error {
	if key == "" {
		fmt.Fprintln(out, "The demo ran when the data directory was made; remove the directory to see it again.")
		return nil
	}
	c, err := dial(s.URL(), s.QueueURL(), key)
	if err != nil {
		return err
	}

	pod, err := demoPod(ctx, c)
	if err != nil {
		return demoFailed("pod", err)
	}
	fmt.Fprintf(out, "pod  %s\n", pod)
	job, err := demoJob(ctx, c, string(s.Endpoints()["demo"]))
	if err != nil {
		return demoFailed("job", err)
	}

	fmt.Fprintf(out, "job  %s\nServing until interrupted (Ctrl-C).\n", job)
	return nil
}

// demoFailed is the failure of the server whose demo failed: not that of a command which speaks to a server, with its own code and
// hint.
func demoFailed(what string, err error) error {
	return &failure{code: exitFailed, cause: fmt.Errorf("demo %s: %w", what, err)}
}

// demoPod creates a pod and gives its document once it is RUNNING.
func demoPod(ctx context.Context, c *connection) ([]byte, error) {
	gpu := rest.GpuConfig{ID: "NVIDIA GeForce RTX 4090"}
	made, _, err := fetch[rest.Pod](ctx, c, func(ctx context.Context) (*http.Response, error) {
		return c.rest.CreatePod(ctx, rest.CreatePodRequest{Name: "demo", Image: new("ubuntu:24.04"), Gpu: &gpu})
	})
	if err != nil {
		return nil, err
	}

	for {
		pod, document, err := fetch[rest.Pod](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.rest.GetPod(ctx, made.ID) })
		if err != nil {
			return nil, err
		}

		switch pod.Status {
		case rest.PodStatusRUNNING:
			return document, nil
		case rest.PodStatusPROVISIONING, rest.PodStatusSTARTING:
		default:
			return nil, fmt.Errorf("the pod became %s", pod.Status)
		}

		if pausing(ctx, firstPause) != nil {
			return nil, ctx.Err()
		}
	}
}

// demoJob runs a job and gives its document once it is COMPLETED.
func demoJob(ctx context.Context, c *connection, endpoint string) ([]byte, error) {
	document, err := c.hold(ctx, demoHold, func(ctx context.Context) (*http.Response, error) {
		return c.queue.RunSync(ctx, endpoint, &queue.RunSyncParams{}, queue.Submission{Input: json.RawMessage(`{"hello":"demo"}`)})
	})
	if err != nil {
		return nil, err
	}
	job, err := parse[queue.Job](c, document)
	if err == nil && job.Status != queue.JobStatusCOMPLETED {
		err = fmt.Errorf("200 OK: %s", document)
	}
	return document, err
}
