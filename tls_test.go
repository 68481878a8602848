package berth_test

import (
	"context"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
	"github.com/berthdev/berth/impl/certificate/certificatetest"
)

func TestClient_BelievesTheCertificateOfTheServer(t *testing.T) {
	t.Parallel()
	certificate, key, _ := certificatetest.Files(t, "berth.example")
	s := berthtest.Start(t, berth.Options{TLSCert: certificate, TLSKey: key})
	require.True(t, strings.HasPrefix(s.URL(), "https://berth.example:"), s.URL())
	require.True(t, strings.HasPrefix(s.QueueURL(), "http://127.0.0.1:"), s.QueueURL())

	for range 2 {
		req, err := nethttp.NewRequestWithContext(t.Context(), "GET", s.URL()+"/v2/pods", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+s.Key())
		res, err := s.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "HTTP/2.0", res.Proto)
		s.Client().CloseIdleConnections()
		certificatetest.Write(t, certificate, key, "berth.example")
	}
	require.NoError(t, s.Reset(t.Context()), "the test controls are asked likewise")
	ctx, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer end()
	for _, err := range s.Events(ctx) {
		require.NoError(t, err)
	}
}

func TestClient_IsAnyWithoutACertificate(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	for _, client := range []*nethttp.Client{s.Client(), nethttp.DefaultClient} {
		req, err := nethttp.NewRequestWithContext(t.Context(), "GET", s.URL()+"/readyz", nil)
		require.NoError(t, err)
		res, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 200, res.StatusCode)
	}
}
