package app

import (
	"net"
	"net/http/httptest"
	"strconv"
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

// The chart listens there, also in a cluster that has IPv6 alone.
func TestOpenAddress_OfEveryAddressIsOfBothFamilies(t *testing.T) {
	t.Parallel()
	six, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		t.Skip("SKIPPED: this machine has no IPv6")
	}
	require.NoError(t, six.Close())
	l, _, err := openAddress("0.0.0.0:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", net.JoinHostPort(host, strconv.Itoa(l.Addr().(*net.TCPAddr).Port)))
		require.NoError(t, err, host)
		require.NoError(t, conn.Close())
	}
}

func TestBracketed(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://fd00::7:8765":        "http://[fd00::7]:8765",
		"http://fd00::7:8765/":       "http://[fd00::7]:8765/",
		"http://[fd00::7]:8765":      "http://[fd00::7]:8765",
		"http://10.0.0.7:8765":       "http://10.0.0.7:8765",
		"https://berth.example:8765": "https://berth.example:8765",
		"http://berth.example":       "http://berth.example",
		"":                           "",
	} {
		require.Equal(t, want, bracketed(base))
		require.True(t, base == "" || replicaURL(base) == nil, base)
	}
}
