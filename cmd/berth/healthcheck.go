package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/setting"
)

func newHealthcheckCommand() *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck [URL]",
		Short: "Report by the exit code whether a server answers and its store does",
		Long: `Report by the exit code, 0 or 1, whether the server at URL answers and its store does. Without a URL it is the one at port 8765, or that of
BERTH_LISTEN, of this machine, by HTTPS if the settings name a certificate. It needs no key and no shell: it is the health check of the
container image. The certificate of this machine's server, and of one at a loopback address, is not checked, since it is for another name.`,
		Example: `  berth healthcheck
  berth healthcheck http://127.0.0.1:8765 --timeout 2s`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			base := ownBase(cmd)
			if len(args) == 1 {
				base = strings.TrimSuffix(args[0], "/")
			}
			if !isBase(base) {
				return fmt.Errorf("URL: %q is not an http or https URL", withoutPassword(base))
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()

			// /healthz is in no document, so that no generated client knows it: it asks for no key, and answers without the API.
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
			if err != nil {
				return err
			}

			res, err := healthClient(req.URL.Hostname(), len(args) == 0, valuesOf(cmd)).Do(req)
			if err != nil {
				return err
			}
			defer func() { _ = res.Body.Close() }()

			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s/healthz answers %s", withoutPassword(base), res.Status)
			}
			return nil
		},
	}

	addSettings(cmd, cmd.Flags(), settingsNamed("listen", "tls-cert", "acme-hosts"))
	for _, name := range []string{"listen", "tls-cert", "acme-hosts"} {
		_ = cmd.Flags().MarkHidden(name) // they are read from where the server reads them
	}
	waitingVar(cmd.Flags(), &timeout, "timeout", 5*time.Second, "how long to wait for the answer")
	return cmd
}

// ownBase gives the address of the server of this machine that has the same settings.
func ownBase(cmd *cobra.Command) string {
	values := valuesOf(cmd)
	host, port, err := net.SplitHostPort(values.Text("listen"))
	if err != nil {
		return "http://127.0.0.1:8765"
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if values.Text("tls-cert")+values.Text("acme-hosts") != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// healthClient gives what asks a server at that host, by a name for which it has a certificate: own says that it is where the settings say.
func healthClient(host string, own bool, values setting.Values) *http.Client {
	if ip, err := netip.ParseAddr(host); !own && (err != nil || !ip.IsLoopback()) {
		return http.DefaultClient
	}
	name, _, _ := strings.Cut(values.Text("acme-hosts"), ",")
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: name}, //nolint:gosec // nobody else answers at an address of this machine, and no key is sent
	}}
}
