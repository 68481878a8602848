package webhook

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPoster_PostsTheDocumentAsJSON(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.Header.Get("Content-Type") + " " + string(body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer s.Close()
	p := New(true)
	defer p.Close()

	status, err := p.Post(t.Context(), s.URL+"/hook?secret=1", strings.NewReader(`{"id":"a"}`), 10)
	require.NoError(t, err)
	require.Equal(t, 202, status)
	require.Equal(t, `POST application/json {"id":"a"}`, <-got)
}

func TestPoster_FailureDoesNotNameTheAddress(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	p := New(true)
	status, err := p.Post(t.Context(), s.URL+"/hook?secret=1", nil, 0)
	require.Equal(t, 302, status, "redirects are not followed")
	require.Error(t, err)
	s.Close()
	p.Close()
	status, err = p.Post(t.Context(), s.URL+"/hook?secret=1", nil, 0)
	require.Zero(t, status)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func TestPermit_PrivateAddressesOnlyIfPermitted(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][2]bool{ // without private ones, with
		"93.184.216.34:80":        {true, true},
		"[2606:4700::1111]:443":   {true, true},
		"127.0.0.1:80":            {false, true},
		"[::1]:80":                {false, true},
		"[::ffff:127.0.0.1]:80":   {false, true},
		"10.1.2.3:80":             {false, true},
		"192.168.0.1:80":          {false, true},
		"[fd12::1]:80":            {false, true},
		"100.64.0.1:80":           {false, true},
		"169.254.169.254:80":      {false, false},
		"[::ffff:169.254.1.1]:80": {false, false},
		"[fe80::1]:80":            {false, false},
		"[fd00:ec2::254]:80":      {false, false},
		"100.100.100.200:80":      {false, false},
		"0.0.0.0:80":              {false, false},
		"224.0.0.1:80":            {false, false},
	} {
		require.Equal(t, want[0], permit(address, false) == nil, address)
		require.Equal(t, want[1], permit(address, true) == nil, address)
	}

	_, err := New(false).Post(t.Context(), "http://127.0.0.1:9/", nil, 0)
	require.ErrorContains(t, err, "private")
}
