package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/docs"
	"github.com/berthdev/berth/gen/rest"
	viewer "github.com/berthdev/berth/impl/reference"
	"github.com/berthdev/berth/spec"
)

func newDocsCommand() *cobra.Command {
	var listen string

	cmd := &cobra.Command{
		Use: "docs", Short: "Show the documentation of this version in a browser, without a network", Args: cobra.NoArgs,
		Long: `Serve the documentation of this version and print its address, until it is interrupted: the pages that a server has at /docs, with their search, and
those of the documents. It needs no server, no data and no network. On a server the pages of the documents can send requests to it; here
there is no server.`,
		Example: `  berth docs
  berth docs --listen 127.0.0.1:9000 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := listenAt(cmd.Context(), listen)
			if err != nil {
				return err
			}
			handler, err := documentation()
			if err != nil {
				return errors.Join(err, l.Close())
			}
			return front(cmd, l, handler, "has the documentation of berth "+version)
		},
	}

	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to listen at; port 0: any free one")
	return cmd
}

// documentation makes what berth docs serves.
func documentation() (http.Handler, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler(docs.Root, http.StatusFound))
	for path, page := range docs.Handlers() {
		mux.Handle("GET "+exactly(path), page)
	}

	names := make([]string, 0, len(rest.Editions))
	for _, e := range rest.Editions {
		names = append(names, e.Name)
	}
	for path, page := range viewer.Handlers(viewer.Settings{Controls: true, Editions: names}) {
		mux.Handle("GET "+exactly(path), page)
	}

	for path, name := range map[string]string{
		"/v2/openapi.json": "rest", "/openapi/queue.json": "queue", "/openapi/worker.json": "worker", "/openapi/controls.json": "controls",
	} {
		if _, err := spec.JSON(name, ""); err != nil {
			return nil, err
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			edition := r.URL.Query().Get("contract")
			document, err := spec.JSON(name, edition)
			if err != nil || edition != "" && !slices.Contains(names, edition) {
				http.Error(w, "there is no such edition", http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(document) //nolint:gosec // the document is ours, and JSON; the client may have gone
		})
	}
	return mux, nil
}

// exactly gives the pattern of the one path: one that ends in a slash would stand for all below it.
func exactly(path string) string {
	if strings.HasSuffix(path, "/") {
		return path + "{$}"
	}
	return path
}
