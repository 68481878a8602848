package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/observe"
)

// observeFlags are the flags for what an operator sees of a server.
type observeFlags struct {
	verbose     bool
	logFormat   string
	logLevel    string
	metrics     string
	traces      string
	drainNotice time.Duration
}

func (f *observeFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "log every request: --log-level debug")
	cmd.Flags().StringVar(&f.logFormat, "log-format", "text", "how the log is written: text or json")
	cmd.Flags().StringVar(&f.logLevel, "log-level", "info", "what is logged at least: debug, which has every request, info, warn or error")
	cmd.Flags().StringVar(&f.metrics, "metrics-listen", "", "address of /metrics for Prometheus, which asks for no key; without it nothing is measured")
	cmd.Flags().StringVar(&f.traces, "traces-endpoint", "", "URL of a receiver of OpenTelemetry traces by OTLP over HTTP; without it OTEL_EXPORTER_OTLP_ENDPOINT")
	cmd.Flags().DurationVar(&f.drainNotice, "drain-notice", 0, "how long /readyz says at shutdown that the server leaves before it stops to listen")
}

// flushTime is how long the end waits for the last lines of the log to be read.
const flushTime = time.Second

// log makes the log of a server, which never waits for who reads it.
func (f *observeFlags) log(to io.Writer) (*slog.Logger, *observe.Log, error) {
	var log *slog.Logger
	lines := observe.NewLog(to, func(n int64) { log.Warn("lines of the log were dropped: nobody read it", "lines", n) })
	log, err := f.logger(lines)
	return log, lines, err
}

// logger makes a log that is written to a writer, or says which flag has no such value.
func (f *observeFlags) logger(to io.Writer) (*slog.Logger, error) {
	var level slog.Level
	switch f.logLevel {
	case "debug", "info", "warn", "error":
		_ = level.UnmarshalText([]byte(f.logLevel)) // it knows these
	default:
		return nil, fmt.Errorf("--log-level %q: it must be debug, info, warn or error", f.logLevel)
	}
	if f.verbose {
		level = slog.LevelDebug
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(to, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q: it must be text or json", f.logFormat)
}

// config adds the settings of the flags and, for traces, of OpenTelemetry's own environment.
func (f *observeFlags) config(c *app.Config, getenv func(string) string) (err error) {
	c.MetricsListen, c.DrainNotice, c.Version = f.metrics, f.drainNotice, version
	if c.TracesEndpoint = f.traces; c.TracesEndpoint == "" {
		c.TracesEndpoint = tracesEndpoint(getenv)
	}
	if c.TracesEndpoint == "" {
		return nil
	}
	if name, value := first(getenv, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); value != "" && value != "http/protobuf" {
		return fmt.Errorf("%s=%s: traces are sent by http/protobuf only", name, value)
	}
	name, value := first(getenv, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
	if c.TracesHeaders, err = tracesHeaders(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// first gives the first of the variables that is set.
func first(getenv func(string) string, names ...string) (name, value string) {
	for _, name = range names {
		if value = getenv(name); value != "" {
			return name, value
		}
	}
	return name, ""
}

// tracesEndpoint gives where the environment has traces sent; empty: nowhere.
func tracesEndpoint(getenv func(string) string) string {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return ""
	}
	if of := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); of != "" {
		return of
	}
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); base != "" {
		return strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	return ""
}

// tracesHeaders reads name=value,name=value, where values are percent-encoded. The error does not show a value: it may be a key.
func tracesHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for i, part := range strings.Split(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("header %d is not NAME=VALUE", i+1)
		}
		headers[name] = decoded
	}
	return headers, nil
}
