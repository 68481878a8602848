package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// behind asks as a proxy does for a client that asked it for https://pods.example.com.
func behind(t *testing.T, s *app.Server, method, path, body string) (int, string) {
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.FirstKey())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-Proto", "https")
	req.Header.Set("X-Forwarded-Host", "pods.example.com")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

func TestProxies_ClientsAreGivenTheAddressTheyUse(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]app.Config{
		"http://127.0.0.1":         {},
		"https://pods.example.com": {TrustedProxies: []string{"127.0.0.0/8"}, AllowedHosts: []string{"pods.example.com"}},
		"https://other.example":    {PublicURL: "https://other.example/", TrustedProxies: []string{"127.0.0.1"}},
	} {
		c.Data, c.Listen, c.Docs = t.TempDir(), "127.0.0.1:0", true
		s, err := app.Start(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		status, body := behind(t, s, "POST", "/v2/serverless", `{"name":"e","type":"QUEUE","image":"i","cpu":[{"id":"cpu3g","vcpuCount":2}],
			"workers":{"max":0},"timeout":600000,"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
		require.Equal(t, 201, status, body)

		var made struct {
			ID          string
			RequestURLs map[string]string
		}
		require.NoError(t, json.Unmarshal([]byte(body), &made))
		require.NotEmpty(t, made.RequestURLs)

		if want == "http://127.0.0.1" {
			want = s.URL()
		}
		require.Equal(t, want+"/v2/"+made.ID+"/run", made.RequestURLs["run"])
		for _, path := range []string{"/v2/serverless", "/v2/serverless/" + made.ID} {
			_, body = behind(t, s, "GET", path, "")
			require.Contains(t, body, `"`+want+"/v2/"+made.ID+`/status"`, path)
		}
	}
}

func TestProxies_HostOfATrustedOneIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config app.Config
		want   int
	}{
		{app.Config{}, 200}, // the header is nobody's
		{app.Config{TrustedProxies: []string{"127.0.0.1"}}, 403},
		{app.Config{TrustedProxies: []string{"127.0.0.1"}, AllowedHosts: []string{"pods.example.com"}}, 200},
		{app.Config{TrustedProxies: []string{"127.0.0.1"}, PublicURL: "https://pods.example.com"}, 200},
	} {
		c.config.Data, c.config.Listen, c.config.Docs = t.TempDir(), "127.0.0.1:0", true
		s, err := app.Start(t.Context(), c.config)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		status, body := behind(t, s, "GET", "/docs", "")
		require.Equal(t, c.want, status, body)
	}
}

func TestProxies_WrongPublicURLOrProxyIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []app.Config{
		{PublicURL: "pods.example.com"}, {PublicURL: "ftp://pods.example.com"}, {PublicURL: "https://pods.example.com/berth"},
		{PublicURL: "https://u:p@pods.example.com"}, {TrustedProxies: []string{"proxy.example.com"}},
	} {
		c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
		_, err := app.Start(t.Context(), c)
		require.Error(t, err, c)
	}
}
