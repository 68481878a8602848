package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newHealthcheckCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck [URL]",
		Short: "Report by the exit code whether a server answers and its store does",
		Long: `Report by the exit code, 0 or 1, whether the server at URL, http://127.0.0.1:8765 without one, answers and its store does. It needs no
key and no shell: it is the health check of the container image.`,
		Example: `  berth healthcheck
  berth healthcheck http://127.0.0.1:8765 --timeout 2s`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base := "http://127.0.0.1:8765"
			if len(args) == 1 {
				base = strings.TrimSuffix(args[0], "/")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()

			// /healthz is in no document, so that no generated client knows it: it asks for no key, and answers without the API.
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
			if err != nil {
				return err
			}

			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer func() { _ = res.Body.Close() }()

			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s/healthz answers %s", base, res.Status)
			}
			return nil
		},
	}

	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long to wait for the answer")
	return cmd
}
