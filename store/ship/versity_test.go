package ship_test

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/ship"
)

// versity starts a server of S3, versitygw, whose program BERTH_TEST_S3 names, and gives a target in it, and one with another secret.
func versity(t *testing.T) (to, stranger ship.Target) {
	t.Helper()
	program := os.Getenv("BERTH_TEST_S3")
	if program == "" {
		t.Skip("SKIPPED: BERTH_TEST_S3 names no program of a server of S3: make backup")
	}
	dir := t.TempDir()
	objects, notes := filepath.Join(dir, "objects"), filepath.Join(dir, "notes")
	for _, d := range []string{filepath.Join(objects, "bucket"), notes} {
		require.NoError(t, os.MkdirAll(d, 0o700))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listen := l.Addr().String()
	require.NoError(t, l.Close())

	s := exec.CommandContext(t.Context(), program, "--port", listen, "--access", keyID, "--secret", secret, "--region", region, "--quiet", "posix", "--sidecar", notes, objects)
	require.NoError(t, s.Start())
	t.Cleanup(func() { _ = s.Wait() })
	require.Eventually(t, func() bool {
		answer, err := http.Get("http://" + listen)
		return err == nil && answer.Body.Close() == nil
	}, long, 20*time.Millisecond)

	at := func(secret string) ship.Target {
		to, err := ship.Open("s3://bucket/some where/berth", "http://"+listen, func(name string) string {
			return map[string]string{"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": region}[name]
		})
		require.NoError(t, err)
		return to
	}
	return at(secret), at("another secret")
}

func TestVersity_KeepsWhatIsShippedAndTakesItBack(t *testing.T) {
	t.Parallel()
	to, stranger := versity(t)
	require.ErrorContains(t, stranger.Put(t.Context(), "x", nil), "SignatureDoesNotMatch")
	_, err := to.Get(t.Context(), "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, to.Delete(t.Context(), "x"))

	clock := compute.NewSettableClock(compute.NewRunningClock())
	db := open(t)
	s, stop := start(t, db, to, func(o *ship.Options) { o.Clock, o.Keep = clock, 30*time.Hour })
	for n := range 4 { // a base a day, of which the first two go
		insert(t, db, n, n+1, 1000)
		shippedBy(t, clock, s)
		clock.Advance(day)
	}
	insert(t, db, 4, 5, 1000)
	bases(t, to, 3)
	require.NoError(t, stop())
	_, there := restored(t, to, ship.Wish{})
	require.Equal(t, 5, there)
	require.Zero(t, s.Status().Failures)
}

func TestVersity_ListsMoreThanAPage(t *testing.T) {
	t.Parallel()
	to, _ := versity(t)
	const many = 1_050 // a page has 1,000
	for n := range many {
		require.NoError(t, to.Put(t.Context(), fmt.Sprintf("list/%06d", n), []byte("x")))
	}
	require.NoError(t, to.Put(t.Context(), "other", []byte("x")))
	all, err := to.List(t.Context(), "list/")
	require.NoError(t, err)
	require.Len(t, all, many)
	for n, o := range all {
		require.Equal(t, ship.Object{Name: fmt.Sprintf("list/%06d", n), Bytes: 1}, o)
	}
}
