package certificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/certificate/certificatetest"
)

// opened gives files, and a clock that tick sets so far that they are looked at again.
func opened(t *testing.T, names ...string) (f *Files, tick func(), log *bytes.Buffer) {
	certificate, key, _ := certificatetest.Files(t, names...)
	at := time.Unix(1_000_000, 0)
	log = &bytes.Buffer{}
	f, err := openFiles(certificate, key, slog.New(slog.NewTextHandler(log, nil)), func() time.Time { return at })
	require.NoError(t, err)
	return f, func() { at = at.Add(lookSpan) }, log
}

func TestFiles_AreReadAgainWhenTheyChange(t *testing.T) {
	t.Parallel()
	f, tick, log := opened(t, "one.example")
	require.Equal(t, []string{"one.example"}, f.Leaf().DNSNames)

	certificatetest.Write(t, f.certificate, f.key, "two.example")
	require.Equal(t, []string{"one.example"}, f.Leaf().DNSNames, "they are looked at once a second")
	tick()
	require.Equal(t, []string{"two.example"}, f.Leaf().DNSNames)
	require.Contains(t, log.String(), "read anew")

	pair, err := f.Config().GetCertificate(&tls.ClientHelloInfo{})
	require.NoError(t, err)
	require.Equal(t, []string{"two.example"}, pair.Leaf.DNSNames)
}

func TestFiles_KeepWhatWorksWhenTheNewPairDoesNot(t *testing.T) {
	t.Parallel()
	f, tick, log := opened(t, "one.example")
	other, otherKey := certificatetest.New(t, "two.example")
	stays := func(words string) {
		log.Reset()
		tick()
		require.Equal(t, []string{"one.example"}, f.Leaf().DNSNames)
		require.Contains(t, log.String(), words)
		log.Reset()
		tick()
		require.Equal(t, []string{"one.example"}, f.Leaf().DNSNames)
		require.Empty(t, log.String(), "it is said once")
	}

	require.NoError(t, os.WriteFile(f.certificate, other, 0o600)) // of which the key has not come yet
	stays("cannot be used")
	require.NoError(t, os.WriteFile(f.certificate, []byte("no certificate"), 0o600))
	stays("cannot be used")
	require.NoError(t, os.Remove(f.key))
	stays("cannot be used")

	require.NoError(t, os.WriteFile(f.certificate, other, 0o600))
	require.NoError(t, os.WriteFile(f.key, otherKey, 0o600))
	tick()
	require.Equal(t, []string{"two.example"}, f.Leaf().DNSNames)
}

func TestFiles_AreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	certificate, key, _ := certificatetest.Files(t, "one.example")
	_, other, _ := certificatetest.Files(t, "two.example")
	for _, pair := range [][2]string{{certificate, other}, {key, certificate}, {certificate, key + ".gone"}, {t.TempDir(), key}} {
		_, err := OpenFiles(pair[0], pair[1], slog.New(slog.DiscardHandler))
		require.Error(t, err, pair)
	}
}

func TestWarnings_AreOfTheTimeThatACertificateIsGoodFor(t *testing.T) {
	t.Parallel()
	leaf := func(from, until time.Duration) *x509.Certificate {
		return &x509.Certificate{NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(until)}
	}
	const day = 24 * time.Hour
	require.Empty(t, Warnings(leaf(-day, 90*day)))
	require.Contains(t, Warnings(leaf(day, 90*day))[0], "only from")
	require.Contains(t, Warnings(leaf(-9*day, -day))[0], "has ended")
	require.Contains(t, Warnings(leaf(-9*day, day))[0], "ends soon")
}

func TestHost_IsOneThatTheCertificateIsFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names       []string
		local, want string
	}{
		{[]string{"127.0.0.1", "a.example"}, "127.0.0.1", "127.0.0.1"},
		{[]string{"localhost", "a.example"}, "127.0.0.1", "localhost"},
		{[]string{"*.pods.example", "a.example"}, "127.0.0.1", "a.example"},
		{[]string{"localhost", "a.example"}, "10.0.0.7", "a.example"},
		{[]string{"*.pods.example"}, "10.0.0.7", "10.0.0.7"},
	} {
		pair, _ := certificatetest.Pair(t, c.names...)
		require.Equal(t, c.want, hostOf(pair.Leaf, c.local), c)
	}
}
