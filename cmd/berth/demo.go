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

// runDemo does over HTTP, with the server's first key, what a first user would: a pod until it is RUNNING, a job through
// a real worker.
func runDemo(ctx context.Context, out io.Writer, s *app.Server) error {
	if s.FirstKey() == "" {
		fmt.Fprintln(out, "The demo ran when the data directory was made; remove the directory to see it again.")
		return nil
	}
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+s.FirstKey())
		return nil
	}
	pods, err := rest.NewClientWithResponses(s.URL(), rest.WithRequestEditorFn(authorize))
	if err != nil {
		return err
	}
	pod, err := demoPod(ctx, pods)
	if err != nil {
		return fmt.Errorf("demo pod: %w", err)
	}
	fmt.Fprintf(out, "pod  %s\n", pod)
	jobs, err := queue.NewClientWithResponses(s.QueueURL(), queue.WithRequestEditorFn(authorize))
	if err != nil {
		return err
	}
	answer, err := jobs.RunSyncWithResponse(ctx, string(s.Endpoints()["demo"]), &queue.RunSyncParams{},
		queue.Submission{Input: json.RawMessage(`{"hello":"demo"}`)})
	if err != nil {
		return fmt.Errorf("demo job: %w", err)
	}
	if answer.JSON200 == nil || answer.JSON200.Status != queue.JobStatusCOMPLETED {
		return fmt.Errorf("demo job: %s: %s", answer.Status(), answer.Body)
	}
	fmt.Fprintf(out, "job  %s\nServing until interrupted (Ctrl-C).\n", answer.Body)
	return nil
}

// demoPod creates a pod and gives its document once it is RUNNING.
func demoPod(ctx context.Context, pods *rest.ClientWithResponses) ([]byte, error) {
	gpu := rest.GpuConfig{ID: "NVIDIA GeForce RTX 4090"}
	made, err := pods.CreatePodWithResponse(ctx, rest.CreatePodRequest{Name: "demo", Image: "ubuntu:24.04", Gpu: &gpu})
	if err != nil {
		return nil, err
	}
	if made.JSON201 == nil {
		return nil, fmt.Errorf("%s: %s", made.Status(), made.Body)
	}
	for {
		read, err := pods.GetPodWithResponse(ctx, made.JSON201.ID)
		if err != nil {
			return nil, err
		}
		if read.JSON200 == nil {
			return nil, fmt.Errorf("%s: %s", read.Status(), read.Body)
		}
		switch read.JSON200.Status {
		case rest.PodStatusRUNNING:
			return read.Body, nil
		case rest.PodStatusPROVISIONING, rest.PodStatusSTARTING:
		default:
			return nil, fmt.Errorf("the pod became %s", read.JSON200.Status)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
