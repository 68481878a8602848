package berth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/queueclient"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// A test of a client in Go. The client is yours; here it is the one that is generated from the documents.
func Example() {
	ctx := context.Background()
	server, err := berth.Start(ctx, berth.Options{Endpoints: []berth.Endpoint{{
		Name: "shout",
		Handler: func(_ context.Context, input json.RawMessage) (any, error) {
			var in struct{ Text string }
			err := json.Unmarshal(input, &in)
			return strings.ToUpper(in.Text), err
		},
	}}})
	if err != nil {
		log.Fatal(err)
	}

	defer func() { _ = server.Close() }()

	jobs, err := queueclient.NewClient(server.QueueURL(), queueclient.WithRequestEditorFn(with(server.Key())))
	if err != nil {
		log.Fatal(err)
	}
	job, err := read[queue.Job](jobs.RunSync(ctx, server.Endpoint("shout"), nil, queue.Submission{Input: json.RawMessage(`{"text":"ahoy"}`)})) //nolint:bodyclose // read closes it
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(job.Status, string(job.Output))
	// Output: COMPLETED "AHOY"
}

// with has a request carry a key.
func with(key string) func(context.Context, *http.Request) error {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
}

// read gives the document of an answer.
func read[T any](res *http.Response, err error) (document T, _ error) {
	if err != nil {
		return document, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= http.StatusBadRequest {
		return document, errors.New(res.Status)
	}
	return document, json.NewDecoder(res.Body).Decode(&document)
}

// What takes half an hour is checked in a moment.
func ExampleClock() {
	ctx := context.Background()
	server, err := berth.Start(ctx, berth.Options{})
	if err != nil {
		log.Fatal(err)
	}

	defer func() { _ = server.Close() }()
	pods, err := restclient.NewClient(server.URL(), restclient.WithRequestEditorFn(with(server.Key())))
	if err != nil {
		log.Fatal(err)
	}

	clock := server.Clock()
	clock.Freeze()
	pod, err := read[rest.Pod](pods.CreatePod(ctx, rest.CreatePodRequest{Name: "trainer", Image: new("ubuntu:24.04"), Gpu: &rest.GpuConfig{ID: "NVIDIA L4"}})) //nolint:bodyclose // read closes it
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(pod.Status)
	if err := clock.Advance(ctx, 30*time.Minute); err != nil {
		log.Fatal(err)
	}
	if pod, err = read[rest.Pod](pods.GetPod(ctx, pod.ID)); err != nil { //nolint:bodyclose // read closes it
		log.Fatal(err)
	}

	fmt.Println(pod.Status)
	// Output:
	// PROVISIONING
	// RUNNING
}

// In a test, with a server that is closed when the test ends.
func ExampleStart_inATest() {
	_ = func(t *testing.T) {
		server := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "mine", Command: []string{"python3", "handler.py"}}}})
		t.Log(server.QueueURL(), server.Endpoint("mine"), server.Key())
	}
}
