package app_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/certificate/certificatetest"
	"github.com/berthdev/berth/impl/setting"
)

// trusting gives a client that believes those certificates, and reaches every host at the address of the server.
func trusting(t *testing.T, s *app.Server, trusted *x509.CertPool) *http.Client {
	return reaching(t, s.Addr, trusted)
}

// reaching gives a client that believes those certificates, and reaches every host at the address.
func reaching(t *testing.T, address func() string, trusted *x509.CertPool) *http.Client {
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address())
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// askTLS sends a request with the key of the server, and gives the answer and its body.
func askTLS(t *testing.T, s *app.Server, client *http.Client, method, url, body string) (closed, string) {
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.FirstKey())
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return closed{res}, string(text)
}

func TestTLS_AllInterfacesSpeakHTTPS(t *testing.T) {
	t.Parallel()
	certificate, key, trusted := certificatetest.Files(t, "berth.example", "*.pods.example")
	s := start(t, app.Config{Data: t.TempDir(), TLSCert: certificate, TLSKey: key, QueueListen: "127.0.0.1:0", Docs: true, Domain: "pods.example"})
	client := trusting(t, s, trusted)
	at, err := url.Parse(s.URL())
	require.NoError(t, err)
	require.Equal(t, "https", at.Scheme)
	require.Equal(t, "berth.example", at.Hostname(), "the certificate is for it")
	require.True(t, strings.HasPrefix(s.PagesURL(), s.URL()))
	require.Empty(t, s.PodsURL(), "nothing runs in them")
	require.True(t, strings.HasPrefix(s.QueueURL(), "http://127.0.0.1:"))

	res, body := askTLS(t, s, client, "POST", s.URL()+"/v2/serverless", `{"name":"e","type":"QUEUE","image":"i","cpu":[{"id":"cpu3g","vcpuCount":2}],
		"workers":{"max":0},"timeout":600000,"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
	require.Equal(t, "HTTP/2.0", res.Proto)
	require.Equal(t, 201, res.StatusCode, body)
	var made struct{ RequestURLs map[string]string }
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	require.True(t, strings.HasPrefix(made.RequestURLs["run"], s.URL()+"/v2/"), made.RequestURLs)

	res, body = askTLS(t, s, client, "GET", s.URL()+"/docs", "")
	require.Equal(t, 200, res.StatusCode, "the name of the certificate is one of the server: "+body)
	res, body = askTLS(t, s, client, "GET", "https://aaaaaaaaaaaaaa-8888.pods.example/", "")
	require.Equal(t, 404, res.StatusCode)
	require.Contains(t, body, "pod")

	status, _ := call(t, "GET", s.QueueURL()+"/v2/pods", s.FirstKey(), "")
	require.Equal(t, 200, status, "the second address is plain HTTP")
	res, body = askTLS(t, s, http.DefaultClient, "GET", "http://"+s.Addr()+"/v2/pods", "")
	require.Equal(t, 400, res.StatusCode)
	require.Contains(t, body, "https://")
	require.NoError(t, s.Close())
}

func TestTLS_CertificateIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	certificate, key, trusted := certificatetest.Files(t, "127.0.0.1")
	s := start(t, app.Config{Data: t.TempDir(), TLSCert: certificate, TLSKey: key, Runtime: "process", Domain: "pods.example"})
	require.Equal(t, "https://{podId}-{port}.pods.example"+s.URL()[strings.LastIndexByte(s.URL(), ':'):], s.PodsURL())
	require.True(t, strings.HasPrefix(s.URL(), "https://127.0.0.1:"), s.URL())
	res, _ := askTLS(t, s, trusting(t, s, trusted), "GET", s.URL()+"/v2/pods", "")
	require.Equal(t, 200, res.StatusCode)

	trusted = certificatetest.Write(t, certificate, key, "127.0.0.1")
	require.Eventually(t, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/healthz", nil)
		require.NoError(t, err)
		res, err := trusting(t, s, trusted).Do(req)
		if err != nil {
			return false // it shows the one before
		}
		return res.Body.Close() == nil && res.StatusCode == 200
	}, time.Minute, 20*time.Millisecond)
	require.NoError(t, s.Close())
}

func TestTLS_WhatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	certificate, key, _ := certificatetest.Files(t, "localhost")
	_, other, _ := certificatetest.Files(t, "localhost")
	for words, c := range map[string]app.Config{
		"must both be set":   {TLSCert: certificate},
		"tls-key must":       {TLSKey: key},
		"does not match":     {TLSCert: certificate, TLSKey: other},
		"no such file or di": {TLSCert: certificate, TLSKey: key + ".gone"},
	} {
		c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
		_, err := app.Start(t.Context(), c)
		require.ErrorContains(t, err, words)
	}
}

func TestTLS_WarnsOfAKeyThatOthersCanRead(t *testing.T) {
	t.Parallel()
	certificate, key, _ := certificatetest.Files(t, "localhost")
	require.NoError(t, os.Chmod(key, 0o644))
	var log bytes.Buffer
	s := start(t, app.Config{Data: t.TempDir(), TLSCert: certificate, TLSKey: key, Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.True(t, strings.HasPrefix(s.URL(), "https://localhost:"), s.URL())
	require.NoError(t, s.Close())
	require.Contains(t, log.String(), "can pretend to be this server")

	for _, f := range app.Examine(t.Context(), setting.Values{"tls-cert": {certificate}, "tls-key": {key}}) {
		if f.Name == "tls" {
			require.True(t, f.Available)
			require.Contains(t, f.Detail, "[localhost], until 2099-01-01")
			require.Len(t, f.Warnings, 1)
			require.Contains(t, f.Warnings[0], "chmod 600")
			return
		}
	}
	require.Fail(t, "nothing is said of the certificate")
}

func TestTLS_CertificatesAreIssuedByAnAuthority(t *testing.T) {
	t.Parallel()
	at := make(chan string, 1)
	var address string
	authority := certificatetest.NewAuthority(t, "tls-alpn-01", func() string {
		if address == "" {
			address = <-at
		}
		return address
	})
	dir := t.TempDir()
	c := app.Config{Data: dir, ACMEHosts: []string{"berth.example"}, ACMEDirectory: authority.Directory, ACMEListen: "127.0.0.1:0", QueueListen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0"}
	s := start(t, c)
	at <- s.Addr()
	port := s.Addr()[strings.LastIndexByte(s.Addr(), ':'):]
	require.Equal(t, "https://berth.example"+port, s.URL())
	require.Eventually(t, func() bool { return s.Certificate() != nil }, time.Minute, time.Millisecond)
	res, body := askTLS(t, s, trusting(t, s, authority.Trusted), "GET", s.URL()+"/v2/pods", "")
	require.Equal(t, 200, res.StatusCode, body)

	metrics, body := askTLS(t, s, http.DefaultClient, "GET", s.MetricsURL(), "")
	require.Equal(t, 200, metrics.StatusCode, body)
	require.NoError(t, s.Close())

	info, err := os.Stat(dir + "/acme")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	s = start(t, c)
	require.Eventually(t, func() bool { return s.Certificate() != nil }, time.Minute, time.Millisecond)
	require.NoError(t, s.Close())
	require.Equal(t, 1, authority.Orders(), "the certificate is kept in the data directory")
}

func TestTLS_AuthorityIsAskedByOneServerAlone(t *testing.T) {
	t.Parallel()
	certificate, key, _ := certificatetest.Files(t, "localhost")
	for words, c := range map[string]app.Config{
		"not both":      {TLSCert: certificate, TLSKey: key, ACMEHosts: []string{"a.example"}},
		"by one server": {Store: "postgres://nobody@127.0.0.1:1/none", ACMEHosts: []string{"a.example"}},
		"a wildcard":    {ACMEHosts: []string{"*.a.example"}},
		"proofs of":     {ACMEListen: "127.0.0.1:0"},
	} {
		c.Data, c.Listen = t.TempDir(), "127.0.0.1:0"
		_, err := app.Start(t.Context(), c)
		require.ErrorContains(t, err, words)
		var refused *setting.Error
		require.ErrorAs(t, err, &refused, words)
	}
}
