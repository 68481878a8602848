package conformance

import (
	_ "embed"

	"github.com/stretchr/testify/require"
)

// ownSeed is the seed of berth's own server.
//
//go:embed seed.yaml
var ownSeed []byte

// What ownSeed has.
const (
	seedKey      = "seed-of-the-rules-0123"
	seedPod      = "/v2/pods/rulesseedpod01"
	seedVolume   = "/v2/network-volumes/rulesseedvol01"
	seedTemplate = "/v2/templates/rulesseedtpl01"
)

// seeded sends a request with the key of the seed.
func (c *Check) seeded(method, path string) Answer {
	return c.Send(Request{Method: method, URL: c.URL + path, Key: "Bearer " + seedKey})
}

// needsSeed skips the rule where the target has not the seed of the rules.
func (c *Check) needsSeed() {
	if c.seeded("GET", "/v2/pods").Status == 401 {
		c.Skip("the target was not started with --seed conformance/seed.yaml")
	}
}

// isSeeded asserts that what the seed has is there.
func (c *Check) isSeeded() {
	for _, path := range []string{seedPod, seedVolume, seedTemplate} {
		a := c.seeded("GET", path)
		require.Equal(c, 200, a.Status, "%s: %s", path, a.Body)
	}
	pod := c.seeded("GET", seedPod).JSON
	require.Equal(c, "EXITED", pod["status"], "it is to be stopped")
	require.Equal(c, "stopped", pod["name"])
}

var _ = area(func() {
	add("controls.seed", []string{"getPod", "getNetworkVolume", "getTemplate"}, func(c *Check) {
		c.needsControls()
		c.needsSeed()
		c.set("POST", "reset", "") // an earlier run may have left something else
		c.isSeeded()
	})

	add("controls.seed.reset", []string{"resetState"}, func(c *Check) {
		c.needsControls()
		c.needsSeed()
		for _, path := range []string{seedPod, seedTemplate} {
			require.Equal(c, 204, c.seeded("DELETE", path).Status, path)
		}
		c.set("POST", "reset", "")
		c.isSeeded()
	})
})
