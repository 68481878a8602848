package app

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddresses_OfPodsAreThoseOfWhoAsks(t *testing.T) {
	t.Parallel()
	asked := httptest.NewRequest("GET", "http://127.0.0.1:8765/", nil)
	for _, one := range []struct {
		public, domain string
		paths          bool
		want           string
	}{
		{"", "localhost", false, "http://k3v9x2m1q8w7rt-8888.localhost:8765"},
		{"", "", true, "http://127.0.0.1:8765/proxy/pods/k3v9x2m1q8w7rt/8888/"},
		{"", "pods.example.com", true, "http://k3v9x2m1q8w7rt-8888.pods.example.com:8765"},
		{"https://example.com", "pods.example.com", false, "https://k3v9x2m1q8w7rt-8888.pods.example.com"},
		{"https://example.com", "localhost", true, "https://example.com/proxy/pods/k3v9x2m1q8w7rt/8888/"},
	} {
		a := &addresses{url: "http://127.0.0.1:8765", queueURL: "http://127.0.0.1:8766", publicURL: one.public}
		require.Equal(t, one.want, a.shown(one.domain, one.paths)(asked).Of("k3v9x2m1q8w7rt", 8888))
	}
}
