package limit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/limit"
)

func TestProxies_OnlyTrustedOnesAreBelieved(t *testing.T) {
	t.Parallel()
	p, err := limit.NewProxies([]string{"10.0.0.0/8, 127.0.0.1", "fd00::/8"})
	require.NoError(t, err)
	for _, c := range []struct{ from, host, scheme, base, shown string }{
		{"10.1.2.3:80", "pods.example.com", "https", "https://pods.example.com", "pods.example.com"},
		{"[::ffff:10.1.2.3]:80", "pods.example.com", "https", "https://pods.example.com", "pods.example.com"},
		{"127.0.0.1:9", "evil.example, pods.example.com:8443", "http, HTTPS", "https://pods.example.com:8443", "pods.example.com:8443"},
		{"[fd00::1]:9", "pods.example.com", "", "http://pods.example.com", "pods.example.com"},
		{"[fd00::1]:9", "", "https", "https://asked.example", "asked.example"},
		{"[fd00::1]:9", "pods.example.com/x", "https", "", "pods.example.com/x"},
		{"[fd00::1]:9", "", "", "", "asked.example"},
		{"192.0.2.1:9", "pods.example.com", "https", "", "asked.example"},
		{"nobody", "pods.example.com", "https", "", "asked.example"},
	} {
		r := httptest.NewRequest("GET", "http://asked.example/v2/pods", nil)
		r.RemoteAddr = c.from
		if c.host != "" {
			r.Header.Set("X-Forwarded-Host", c.host)
		}
		if c.scheme != "" {
			r.Header.Set("X-Forwarded-Proto", c.scheme)
		}
		base, ok := p.Base(r)
		require.Equal(t, c.base, base, c)
		require.Equal(t, c.base != "", ok, c)
		require.Equal(t, c.shown, p.Host(r), c)
	}

	for _, none := range []string{"", "proxy.example.com", "10.0.0.0/33", "10.0.0.1:80"} {
		_, err := limit.NewProxies([]string{none})
		require.Error(t, err, none)
	}
}

func TestProxies_TheClientIsTheLastThatIsNoTrustedProxy(t *testing.T) {
	t.Parallel()
	p, err := limit.NewProxies([]string{"10.0.0.0/8", "fd00::/8"})
	require.NoError(t, err)
	for _, c := range []struct {
		from  string
		said  []string
		shown string
	}{
		{"192.0.2.1:9", []string{"198.51.100.1"}, "192.0.2.1"},
		{"10.0.0.1:9", nil, "10.0.0.1"},
		{"10.0.0.1:9", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:9", []string{"203.0.113.9, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1:9", []string{"203.0.113.9", "198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		{"10.0.0.1:9", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"10.0.0.1:9", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"[fd00::1]:9", []string{"2001:db8::1, ::ffff:10.0.0.3"}, "2001:db8::1"},
		{"10.0.0.1:9", []string{"198.51.100.1, <script>"}, "10.0.0.1"},
		{"10.0.0.1:9", []string{"whatever, 10.0.0.7"}, "10.0.0.7"},
		{"10.0.0.1:9", []string{"10.0.0.9, 10.0.0.8"}, "10.0.0.9"},
		{"10.0.0.1:9", []string{"198.51.100.1" + strings.Repeat(", 10.0.0.2", 100)}, "10.0.0.2"},
		{"nobody", []string{"198.51.100.1"}, "nobody"},
	} {
		r := httptest.NewRequest("GET", "/v2/pods", nil)
		r.RemoteAddr, r.Header = c.from, http.Header{"X-Forwarded-For": c.said}
		require.Equal(t, c.shown, p.Client(r), "%+v", c)
	}
	r := httptest.NewRequest("GET", "/v2/pods", nil)
	r.RemoteAddr = "10.0.0.1:9"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	require.Equal(t, "10.0.0.1", (*limit.Proxies)(nil).Client(r))
}
