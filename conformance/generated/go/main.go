// Creates a pod and gets it with the client that oapi-codegen generated.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"generated/rest"
)

func main() {
	key := rest.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	})
	client, err := rest.NewClientWithResponses(os.Args[1], key)
	if err != nil {
		log.Fatal(err)
	}
	made, err := client.CreatePodWithResponse(context.Background(), rest.CreatePodRequest{Name: "a", Image: "i", Gpu: &rest.GpuConfig{Id: "NVIDIA L4"}})
	if err != nil || made.JSON201 == nil {
		log.Fatal(err, string(made.Body))
	}
	got, err := client.GetPodWithResponse(context.Background(), made.JSON201.Id)
	if err != nil || got.JSON200 == nil {
		log.Fatal(err, string(got.Body))
	}
	if got.JSON200.Id != made.JSON201.Id || got.JSON200.Name != "a" {
		log.Fatalf("%s", got.Body)
	}
}
