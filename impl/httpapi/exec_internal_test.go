package httpapi

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestExec_PagesOfOtherOriginsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		origin []string
		passes bool
	}{
		"no page":         {nil, true},
		"same":            {[]string{"https://berth.example:8443"}, true},
		"same in capital": {[]string{"http://BERTH.example:8443"}, true},
		"another":         {[]string{"https://other.example:8443"}, false},
		"another port":    {[]string{"https://berth.example"}, false},
		"two":             {[]string{"https://berth.example:8443", "https://berth.example:8443"}, false},
		"none":            {[]string{"null"}, false},
		"empty":           {[]string{""}, false},
		"no URL":          {[]string{"https://berth.example:8443\x7f"}, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://berth.example:8443/", http.NoBody)
		r.Header["Origin"] = c.origin
		err := controlsHandlers{&Services{}}.checkOrigin(r)
		if c.passes {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, compute.Forbidden, compute.CodeOf(err), name)
		}
	}
}

func TestExec_PagesShowTheirKeyInTheProtocol(t *testing.T) {
	t.Parallel()
	protocol := "berth.key." + base64.RawURLEncoding.EncodeToString([]byte("the-key"))
	for _, c := range []struct{ path, header, protocol, want string }{
		{"/_berth/pods/a/exec", "", protocol, "Bearer the-key"},
		{"/_berth/endpoints/a/workers/b/exec", "", "other, " + protocol, "Bearer the-key"},
		{"/_berth/pods/a/exec", "Bearer sent", protocol, "Bearer sent"},
		{"/_berth/pods/a/exec", "", "other", ""},
		{"/_berth/pods/a/logs", "", protocol, ""},
		{"/v2/pods/a/exec", "", protocol, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
		r.Header.Set("Sec-WebSocket-Protocol", c.protocol)
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		require.Equal(t, c.want, authorization(r), c)
	}
}
