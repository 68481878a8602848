package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/setting"
)

// flushTime is how long the end waits for the last lines of the log to be read.
const flushTime = time.Second

// newLog makes the log of a server, which never waits for who reads it.
func newLog(to io.Writer, v setting.Values) (log *slog.Logger, lines *observe.Log) {
	lines = observe.NewLog(to, func(n int64) { log.Warn("lines of the log were dropped: nobody read it", "lines", n) })
	log = newLogger(lines, v)
	return log, lines
}

// newLogger makes a log that is written to a writer, as the settings, which have been validated, say.
func newLogger(to io.Writer, v setting.Values) *slog.Logger {
	levels, _ := observe.ParseLevels(v.Text("log-level"))
	if v.On("verbose") {
		levels = observe.Levels{Level: slog.LevelDebug}
	}
	options := &slog.HandlerOptions{Level: levels.Least()}
	var handler slog.Handler = slog.NewTextHandler(to, options)
	if v.Text("log-format") == "json" {
		handler = slog.NewJSONHandler(to, options)
	}
	return slog.New(levels.Handler(handler))
}

// addTraces adds what OpenTelemetry's own environment says of traces, where the settings say nothing.
func addTraces(c *app.Config, getenv func(string) string) (err error) {
	if c.TracesEndpoint == "" {
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
