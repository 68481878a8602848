package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

func TestNewConfig_RefusesWhatASettingCannotMean(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"drain": {"0s", "-1s"}, "request-wait": {"0s", "-1s"}, "stall-timeout": {"0s", "-1s"}, "drain-notice": {"-1s"}, "interrupt-after": {"-1s"},
		"max-connections": {"-1"}, "quota-minute": {"0", "-1"}, "quota-hour": {"0"}, "quota-day": {"0"},
		"public-url": {"foo", "https://x/y", "https://u@x", "https://x?y", "ftp://x"}, "worker-url": {"foo", "http://"}, "replica-url": {"10.0.0.7:8765", "http://fd00::8765", "http://fd00::7:port"},
		"acme-directory": {"ftp://x"}, "traces-endpoint": {"collector:4318"}, "trusted-proxies": {"foo", "10.0.0.0/33"}, "allowed-host": {"a b", "http://x"},
		"process-env":   {"A=B", "A B"},
		"graphql-depth": {"0"}, "graphql-fields": {"0"}, "graphql-aliases": {"-1"},
	} {
		for _, value := range values {
			_, err := app.NewConfig(setting.Values{name: {value}})
			var refused *setting.Error
			require.ErrorAs(t, err, &refused, "%s %s", name, value)
		}
	}
	for name, value := range map[string]string{"public-url": "https://x/", "worker-url": "http://10.0.0.7:8765", "allowed-host": ".example.com", "trusted-proxies": "10.0.0.0/8", "process-env": "HF_TOKEN", "drain": "1s", "drain-notice": "0s", "interrupt-after": "0s", "max-connections": "0", "quota-minute": "1", "graphql-aliases": "1"} {
		_, err := app.NewConfig(setting.Values{name: {value}})
		require.NoError(t, err, "%s %s", name, value)
	}
}
