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
		"192.0.0.192:80":          {false, false},
		"[fd00:ec2::23]:80":       {false, false},
		"[fd20:ce::254]:80":       {false, false},
		"[fd00:c1::a9fe:a9fe]:80": {false, false},
		"[fd00:42::42]:80":        {false, false},
		"[fec0::1]:80":            {false, true},
		"0.0.0.0:80":              {false, false},
		"0.0.0.1:80":              {false, false},
		"224.0.0.1:80":            {false, false},
	} {
		require.Equal(t, want[0], permit(address, false) == nil, address)
		require.Equal(t, want[1], permit(address, true) == nil, address)
	}

	for address, want := range map[string][2]bool{ // with a zone, and with an address of version 4 in one of version 6
		"[fd00:ec2::254%lo]:80":         {false, false},
		"[fe80::1%lo]:80":               {false, false},
		"[::1%lo]:80":                   {false, true},
		"[::ffff:169.254.1.1%lo]:80":    {false, false},
		"[64:ff9b::169.254.169.254]:80": {false, false},
		"[64:ff9b::10.1.2.3]:80":        {false, true},
		"[64:ff9b::93.184.216.34]:80":   {true, true},
		"[64:ff9b:1::a9fe:a9fe]:80":     {false, false},
		"[2002:a9fe:a9fe::1]:80":        {false, false},
		"[2002:7f00:1::1]:80":           {false, true},
		"[2002:5db8:d822::1]:80":        {true, true},
		"[::169.254.169.254]:80":        {false, false},
		"[::ffff:0:a9fe:a9fe]:80":       {false, false},
		"[::ffff:0:5db8:d822]:80":       {true, true},
		"[::127.0.0.1]:80":              {false, true},
	} {
		require.Equal(t, want[0], permit(address, false) == nil, address)
		require.Equal(t, want[1], permit(address, true) == nil, address)
	}

	_, err := New(false).Post(t.Context(), "http://127.0.0.1:9/", nil, 0)
	require.ErrorContains(t, err, "private")
}
