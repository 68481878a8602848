package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

func TestNewLogger_WritesAsTheFlagsSay(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newLogger(&out, setting.Values{"log-format": {"json"}, "log-level": {"warn"}})
	log.Info("unseen")
	log.Warn("seen", "pod", "p")
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
	require.Equal(t, "p", line["pod"])
	out.Reset()
	log = newLogger(&out, setting.Values{"log-format": {"text"}, "log-level": {"error"}, "verbose": {"true"}})
	log.Debug("seen", "pod", "p")
	require.Contains(t, out.String(), "msg=seen pod=p")
}

func TestAddTraces_TakesTheFlagElseTheEnvironment(t *testing.T) {
	t.Parallel()
	const base, own = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for name, c := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"nothing is set":        {"", nil, ""},
		"the flag":              {"http://f:4318", map[string]string{base: "http://b"}, "http://f:4318"},
		"the base":              {"", map[string]string{base: "http://b:4318/otlp/"}, "http://b:4318/otlp/v1/traces"},
		"the one for traces":    {"", map[string]string{base: "http://b", own: "http://t/in"}, "http://t/in"},
		"the SDK is off":        {"", map[string]string{base: "http://b", "OTEL_SDK_DISABLED": "True"}, ""},
		"traces are off":        {"", map[string]string{base: "http://b", "OTEL_TRACES_EXPORTER": "none"}, ""},
		"the protocol is known": {"", map[string]string{own: "http://t/in", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "http://t/in"},
	} {
		config := app.Config{TracesEndpoint: c.flag}
		require.NoError(t, addTraces(&config, func(n string) string { return c.env[n] }), name)
		require.Equal(t, c.want, config.TracesEndpoint, name)
	}

	env := map[string]string{own: "http://t", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, other = c=d ,"}
	getenv := func(n string) string { return env[n] }
	var config app.Config
	require.NoError(t, addTraces(&config, getenv))
	require.Equal(t, map[string]string{"x-key": "a b", "other": "c=d"}, config.TracesHeaders)

	env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] = "ok=1,secret"
	err := addTraces(&config, getenv)
	require.EqualError(t, err, "OTEL_EXPORTER_OTLP_TRACES_HEADERS: header 2 is not NAME=VALUE")
	env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "grpc"
	err = addTraces(&config, getenv)
	require.EqualError(t, err, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc: traces are sent by http/protobuf only")
}
