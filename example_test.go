package berth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
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

	client, err := queue.NewClientWithResponses(server.QueueURL(), queue.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+server.Key())
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	job, err := client.RunSyncWithResponse(ctx, server.Endpoint("shout"), &queue.RunSyncParams{}, queue.Submission{Input: json.RawMessage(`{"text":"ahoy"}`)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.JSON200.Status, string(job.JSON200.Output))
	// Output: COMPLETED "AHOY"
}

// What takes half an hour is checked in a moment.
func ExampleClock() {
	ctx := context.Background()
	server, err := berth.Start(ctx, berth.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	pods, err := rest.NewClientWithResponses(server.URL(), rest.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+server.Key())
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	clock := server.Clock()
	clock.Freeze()
	made, err := pods.CreatePodWithResponse(ctx, rest.CreatePodRequest{Name: "trainer", Image: "ubuntu:24.04", Gpu: &rest.GpuConfig{ID: "NVIDIA L4"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(made.JSON201.Status)
	if err := clock.Advance(ctx, 30*time.Minute); err != nil {
		log.Fatal(err)
	}
	read, err := pods.GetPodWithResponse(ctx, made.JSON201.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(read.JSON200.Status)
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
