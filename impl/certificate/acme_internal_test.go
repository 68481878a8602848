package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/certificate/certificatetest"
)

const host = "berth.example"

// running gives certificates of the authority, at an address with TLS and one for challenges. Pauses are sent, and end at once.
func running(t *testing.T, challenge string) (a *ACME, authority *certificatetest.Authority, pauses chan time.Duration, show func() error) {
	var address, plain string
	authority = certificatetest.NewAuthority(t, challenge, func() string {
		if challenge == "http-01" {
			return plain
		}
		return address
	})
	a, err := NewACME(ACMESettings{Hosts: []string{host}, Email: "ops@berth.example", Directory: authority.Directory, Cache: filepath.Join(t.TempDir(), "acme"), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	pauses = make(chan time.Duration, 100)
	a.pause = func(_ context.Context, d time.Duration) error {
		pauses <- d
		if len(pauses) == cap(pauses) {
			return errors.New("it never comes")
		}
		return nil
	}

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.TLS = a.Config()
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	address = secure.Listener.Addr().String()
	challenges := httptest.NewServer(a.Challenges())
	t.Cleanup(challenges.Close)
	plain = challenges.Listener.Addr().String()

	return a, authority, pauses, func() error {
		conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: host, RootCAs: authority.Trusted, MinVersion: tls.VersionTLS12}}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
}

func TestACME_CertificatesAreIssuedAndKept(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{"tls-alpn-01", "http-01"} {
		t.Run(challenge, func(t *testing.T) {
			t.Parallel()
			a, authority, pauses, show := running(t, challenge)
			require.Error(t, show(), "who connects does not have it asked for")
			require.Zero(t, authority.Orders())
			require.Nil(t, a.Leaf())

			a.Run(t.Context())
			require.Empty(t, pauses)
			require.NoError(t, show())
			require.Equal(t, []string{host}, a.Leaf().DNSNames)
			require.Equal(t, 1, authority.Orders())

			files, err := os.ReadDir(a.Cache)
			require.NoError(t, err)
			require.NotEmpty(t, files)
			for _, file := range files {
				info, err := file.Info()
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file.Name())
			}

			again, err := NewACME(a.ACMESettings)
			require.NoError(t, err)
			again.Run(t.Context())
			require.True(t, a.Leaf().Equal(again.Leaf()))
			require.Equal(t, 1, authority.Orders(), "it is kept")
		})
	}
}

func TestACME_IsAskedForAgainAfterPauses(t *testing.T) {
	t.Parallel()
	a, authority, pauses, _ := running(t, "tls-alpn-01")
	authority.Refuse(1000)
	a.Run(t.Context())
	require.Zero(t, authority.Orders())
	for _, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		require.Equal(t, want, <-pauses)
	}
}

// silence is an authority that takes requests and answers none.
func silence(t *testing.T) (directory string, asked <-chan struct{}) {
	requests, over := make(chan struct{}, 100), make(chan struct{})
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests <- struct{}{}
		<-over
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(authority.Close)
	t.Cleanup(func() { close(over) })
	return authority.URL, requests
}

// TestACME_EndWaitsForNoAuthority: a server that is to stop must not wait for what may take minutes.
func TestACME_EndWaitsForNoAuthority(t *testing.T) {
	t.Parallel()
	directory, asked := silence(t)
	a, err := NewACME(ACMESettings{Hosts: []string{host}, Directory: directory, Cache: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.Run(ctx)
	}()

	<-asked
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		require.Fail(t, "it waits for the authority")
	}
}

// TestACME_HostsDoNotWaitForEachOther: what is kept is shown, though the authority does not answer for the host before.
func TestACME_HostsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	a, _, _, _ := running(t, "tls-alpn-01")
	a.Run(t.Context())
	settings := a.ACMESettings
	settings.Hosts = []string{"other.example", host}
	var asked <-chan struct{}
	settings.Directory, asked = silence(t)
	again, err := NewACME(settings)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		again.Run(ctx)
	}()

	<-asked
	require.Eventually(t, func() bool {
		_, err := again.get(&tls.ClientHelloInfo{ServerName: host})
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	require.Nil(t, again.Leaf())
	cancel()
	<-ended
}

func TestACME_HostsAreFullNames(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"localhost", "*.pods.example", "https://berth.example", "berth.example:443", ""} {
		_, err := NewACME(ACMESettings{Hosts: []string{bad}})
		require.Error(t, err, bad)
	}
}

func TestACME_ChallengesSendAllElseToHTTPS(t *testing.T) {
	t.Parallel()
	a, err := NewACME(ACMESettings{Hosts: []string{host}, Cache: t.TempDir()})
	require.NoError(t, err)
	for name, want := range map[string]string{host: "https://berth.example/a?b", "BERTH.example:80": "https://berth.example/a?b", "evil.example": ""} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/a?b", nil)
		r.Host = name
		w := httptest.NewRecorder()
		a.Challenges().ServeHTTP(w, r)
		require.Equal(t, want, w.Header().Get("Location"))
	}
}
