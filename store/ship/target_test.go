package ship_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/ship"
)

func none(string) string { return "" }

// objects gives what a target has, each as its name and its size.
func objects(t *testing.T, of ship.Target, prefix string) (all []string) {
	t.Helper()
	list, err := of.List(t.Context(), prefix)
	require.NoError(t, err)
	for _, o := range list {
		all = append(all, fmt.Sprint(o.Name, " ", o.Bytes))
	}
	return all
}

func TestFolder_KeepsObjectsAsFilesOfTheirOwner(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "to")
	to, err := ship.Open(dir, "", none)
	require.NoError(t, err)
	require.Equal(t, dir, to.String())
	require.Empty(t, objects(t, to, ""), "what is not there is empty")
	require.Empty(t, objects(t, to, "g/log/"))
	_, err = to.Get(t.Context(), "g/log/1")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, to.Delete(t.Context(), "g/log/1"))
	require.NoDirExists(t, dir)

	require.ErrorContains(t, to.Put(t.Context(), "g/log/1", nil), "what was copied before is not there any more")
	require.ErrorContains(t, to.Put(t.Context(), "g/key", nil), "what was copied before is not there any more")
	require.NoDirExists(t, dir)
	for _, generation := range []string{"g", "h", "g"} {
		require.NoError(t, to.Begin(t.Context(), generation))
	}
	for name, body := range map[string]string{"g/log/1": "a", "g/log/2": "old", "g/log/10": "", "g/key": "key", "h/log/1": "other", "top": "t"} {
		require.NoError(t, to.Put(t.Context(), name, []byte(body)))
	}
	require.NoError(t, to.Put(t.Context(), "g/log/2", []byte("another")))
	require.Equal(t, []string{"g/key 3", "g/log/1 1", "g/log/10 0", "g/log/2 7", "h/log/1 5", "top 1"}, objects(t, to, ""))
	require.Equal(t, []string{"g/log/1 1", "g/log/10 0", "g/log/2 7"}, objects(t, to, "g/log/"))
	require.Equal(t, []string{"g/log/1 1", "g/log/10 0"}, objects(t, to, "g/log/1"))
	require.Equal(t, []string{"g/key 3", "g/log/1 1", "g/log/10 0", "g/log/2 7"}, objects(t, to, "g"))
	body, err := to.Get(t.Context(), "g/log/2")
	require.NoError(t, err)
	require.Equal(t, "another", string(body))
	if runtime.GOOS != "windows" {
		for name, want := range map[string]os.FileMode{"": 0o700, "g/log": 0o700, "g/log/2": 0o600} {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
			require.NoError(t, err)
			require.Equal(t, want, info.Mode().Perm(), name)
		}
	}

	// What was never finished, and what is no file, is none.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "g", "log", "3.new"), []byte("half"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "g", "log", "4"), 0o700))
	require.Len(t, objects(t, to, "g/log/"), 3)

	for _, name := range []string{"h/log/1", "h/log/1", "g/log/2"} {
		require.NoError(t, to.Delete(t.Context(), name))
	}
	require.NoDirExists(t, filepath.Join(dir, "h"), "a folder goes with the last one in it")
	require.DirExists(t, filepath.Join(dir, "g", "log"))
	require.NoError(t, to.Delete(t.Context(), "top"))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "g")))
	require.NoError(t, to.Begin(t.Context(), "last"))
	require.NoError(t, to.Put(t.Context(), "last/one", nil))
	require.NoError(t, to.Delete(t.Context(), "last/one"))
	require.DirExists(t, dir, "the operator's own stays")
}

func TestFolder_SaysWhatItCannotDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	to, err := ship.Open(dir, "", none)
	require.NoError(t, err)
	require.NoError(t, to.Put(t.Context(), "file", []byte("x")))
	require.Error(t, to.Begin(t.Context(), "file"))
	require.Error(t, to.Put(t.Context(), "file/below", nil))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "full", "deep"), 0o700))
	require.Error(t, to.Put(t.Context(), "full", []byte("x")))
	require.Error(t, to.Delete(t.Context(), "full"))

	large := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 256<<20+1))
	_, err = to.Get(t.Context(), "large")
	require.ErrorContains(t, err, "it is none of ours")
}

func TestCheckPlace_TakesFoldersAndBuckets(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"", "folder", "/some/folder", "s3:/folder", "s3://bucket", "s3://bucket/", "s3://bucket/some/prefix"} {
		require.NoError(t, ship.CheckPlace(place), place)
		require.Equal(t, strings.HasPrefix(place, "s3://"), ship.IsBucket(place), place)
	}
	for _, place := range []string{"http://host/x", "s3:///x", "s3://key@bucket/x", "s3://bucket/x?a", "s3://bucket/x#a", "s3://bu cket/x"} {
		err := ship.CheckPlace(place)
		require.Error(t, err, place)
		_, err = ship.Open(place, "", none)
		require.ErrorContains(t, err, place)
	}
}

// answering is a target whose server answers by f, of which the prefix is "pre/fix".
func answering(t *testing.T, f http.HandlerFunc) ship.Target {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	to, err := ship.Open("s3://bucket//pre/fix/", server.URL, func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": "token of a session"}[name]
	})
	require.NoError(t, err)
	require.Equal(t, "s3://bucket/pre/fix/", to.String())
	return to
}

func TestBucket_AsksForItsObjectsAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	to := answering(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(fmt.Sprint(r.Method, " ", r.URL.Path, " ", string(body))))
		if r.Header.Get("X-Amz-Security-Token") != "token of a session" || len(r.Header.Get("X-Amz-Content-Sha256")) != 64 || !strings.Contains(r.Header.Get("Authorization"), "/us-east-1/s3/") {
			w.WriteHeader(http.StatusForbidden)
		}
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/bucket":
			asked = append(asked, r.URL.Query().Get("list-type")+" "+r.URL.Query().Get("prefix")+" "+r.URL.Query().Get("continuation-token"))
			if r.URL.Query().Get("continuation-token") == "" {
				_, _ = io.WriteString(w, `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>next</NextContinuationToken><Contents><Key>pre/fix/g/a</Key><Size>1</Size></Contents></ListBucketResult>`)
			} else {
				_, _ = io.WriteString(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated><Contents><Key>pre/fix/g/b</Key><Size>22</Size></Contents></ListBucketResult>`)
			}
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, "content")
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	require.NoError(t, to.Put(t.Context(), "g/a", []byte("body")))
	body, err := to.Get(t.Context(), "g/a")
	require.NoError(t, err)
	require.Equal(t, "content", string(body))
	require.NoError(t, to.Delete(t.Context(), "g/a"), "it is gone already")
	require.Equal(t, []string{"g/a 1", "g/b 22"}, objects(t, to, "g/"))
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{
		"PUT /bucket/pre/fix/g/a body", "GET /bucket/pre/fix/g/a", "DELETE /bucket/pre/fix/g/a",
		"GET /bucket", "2 pre/fix/g/ ", "GET /bucket", "2 pre/fix/g/ next",
	}, asked)
}

func TestBucket_SaysWhatTheServerAnswered(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	status, text := 0, ""
	answer := func(s int, with string) {
		mu.Lock()
		defer mu.Unlock()
		status, text = s, with
	}
	to := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
	for _, c := range []struct {
		status int
		text   string
		says   string
		gone   bool
	}{
		{500, "<Error><Code>InternalError</Code><Message>We are sorry.</Message></Error>", "S3 answered 500 InternalError We are sorry.", false},
		{503, "no document", "S3 answered 503", false},
		{304, "", "S3 answered 304", false},
		{404, "", "S3 answered 404", true},
		{404, "<Error><Code>NoSuchKey</Code></Error>", "S3 answered 404 NoSuchKey", true},
		{404, "<Error><Code>NoSuchBucket</Code></Error>", "S3 answered 404 NoSuchBucket", false},
		{403, "<Error><Code>" + strings.Repeat("x", 300) + "</Code></Error>", "S3 answered 403 " + strings.Repeat("x", 200), false},
	} {
		answer(c.status, c.text)
		_, err := to.Get(t.Context(), "a")
		require.EqualError(t, err, c.says)
		require.Equal(t, c.gone, errors.Is(err, fs.ErrNotExist), c.says)
		require.EqualError(t, to.Put(t.Context(), "a", nil), c.says)
		require.Equal(t, c.gone, to.Delete(t.Context(), "a") == nil, c.says)
		_, err = to.List(t.Context(), "")
		require.EqualError(t, err, c.says)
	}
	answer(200, "no document")
	_, err := to.List(t.Context(), "")
	require.ErrorContains(t, err, "S3 answered no list")
	answer(299, "")
	require.NoError(t, to.Put(t.Context(), "a", nil))

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err = to.Put(ended, "a", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "http://")
}
