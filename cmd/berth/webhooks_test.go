package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true, Endpoints: []app.Endpoint{{Name: "idle"}}})
	s.done("jobs", "run", "idle", "--input", "{}", "--webhook", s.server.URL()+"/_berth/inbox/orders", "--ttl", "10s")
	require.Contains(t, s.run("webhooks", "list").err, "the log of webhooks takes the key of the test controls")
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	s.done("clock", "advance", "10s")
	received := func(n int) func() bool {
		return func() bool {
			return strings.Count(s.done("journal", "list", "--operation", "receiveWebhook"), "/_berth/inbox/orders") == n
		}
	}
	require.Eventually(t, received(1), 10*time.Second, 10*time.Millisecond)
	require.EventuallyWithT(t, func(t *assert.CollectT) { // the journal has it before the answer to it is written down
		assert.Regexp(t, `(?m)^\d+ .* 1 +204 +- +http://.*/_berth/inbox/orders$`, s.done("webhooks", "list"))
	}, 10*time.Second, 10*time.Millisecond)
	number := regexp.MustCompile(`"number":(\d+)`).FindStringSubmatch(s.done("webhooks", "list", "--json"))
	require.Len(t, number, 2)
	require.Empty(t, s.done("webhooks", "deliver", number[1]))
	require.Eventually(t, received(2), 10*time.Second, 10*time.Millisecond)

	require.Contains(t, s.run("webhooks", "deliver", "first").err, "is no number of a delivery")
	require.Contains(t, s.run("webhooks", "deliver", "7").err, "webhook 7 does not exist")
}
