package ship_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/ship"
)

const (
	keyID  = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	region = "eu-central-1"
)

// s3 is a server of the interface of S3, which holds each request to its signature, and gives two names a page.
type s3 struct {
	mu      sync.Mutex
	objects map[string][]byte
	broken  bool // answers 503
	hangs   bool // answers nothing
	cuts    bool // answers a list without how it goes on
	fails   bool // answers an error, with success, where a list should go on
}

func (s *s3) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// signed works out the signature of a request as AWS documents it, from nothing but the request.
func signed(r *http.Request, body []byte) string {
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	var headers string
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers += name + ":" + strings.TrimSpace(value) + "\n"
	}

	sum := sha256.Sum256(body)
	query := strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")
	var path strings.Builder
	for _, b := range []byte(r.URL.Path) {
		if b == '/' || b == '-' || b == '.' || b == '_' || b == '~' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' {
			path.WriteByte(b)
		} else {
			fmt.Fprintf(&path, "%%%02X", b)
		}
	}
	canonical := strings.Join([]string{r.Method, path.String(), query, headers, names, hex.EncodeToString(sum[:])}, "\n")
	hashed := sha256.Sum256([]byte(canonical))
	at := r.Header.Get("X-Amz-Date")
	scope := at[:min(8, len(at))] + "/" + region + "/s3/aws4_request"
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+at+"\n"+scope+"\n"+hex.EncodeToString(hashed[:])))
}

func (s *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs {
		<-r.Context().Done()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, code string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>because</Message></Error>", code)
	}
	authorization := r.Header.Get("Authorization")
	name, in := strings.CutPrefix(r.URL.Path, "/bucket/")
	switch {
	case s.broken:
		refuse(http.StatusServiceUnavailable, "SlowDown")
	case !strings.Contains(authorization, "Credential="+keyID+"/") || !strings.HasSuffix(authorization, "Signature="+signed(r, body)):
		refuse(http.StatusForbidden, "SignatureDoesNotMatch")
	case s.fails && r.URL.Query().Get("continuation-token") != "":
		refuse(http.StatusOK, "InternalError")
	case r.URL.Path == "/bucket" && r.Method == http.MethodGet:
		s.list(w, r.URL.Query().Get("prefix"), r.URL.Query().Get("continuation-token"))
	case !in:
		refuse(http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodPut:
		s.objects[name] = body
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case s.objects[name] == nil:
		refuse(http.StatusNotFound, "NoSuchKey")
	default:
		_, _ = io.Copy(w, bytes.NewReader(s.objects[name]))
	}
}

// list answers a page of names.
func (s *s3) list(w http.ResponseWriter, prefix, after string) {
	type content struct {
		Key  string
		Size int
	}
	var page struct {
		XMLName               xml.Name  `xml:"ListBucketResult"`
		Contents              []content `xml:"Contents"`
		IsTruncated           bool
		NextContinuationToken string
	}
	var names []string
	for name := range s.objects {
		if strings.HasPrefix(name, prefix) && name > after {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(2, len(names))] {
		page.Contents = append(page.Contents, content{name, len(s.objects[name])})
		page.NextContinuationToken = name
	}
	if page.IsTruncated = len(names) > 2; s.cuts {
		page.NextContinuationToken = ""
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// bucket starts a server and gives the target in it.
func bucket(t *testing.T, secret string) (*s3, ship.Target) {
	t.Helper()
	return bucketAt(t, "s3://bucket/some where/env=prod,a+b@c:d&e(f)!*/berth", secret)
}

func bucketAt(t *testing.T, place, secret string) (*s3, ship.Target) {
	t.Helper()
	s := &s3{objects: map[string][]byte{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	to, err := ship.Open(place, server.URL, func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": region}[name]
	})
	require.NoError(t, err)
	return s, to
}

func TestBucket_KeepsWhatIsShipped(t *testing.T) {
	t.Parallel()
	s, to := bucket(t, secret)
	db := open(t)
	shipper, stop := start(t, db, to)
	insert(t, db, 0, 5, 1000)
	shipped(t, shipper)
	s.set(func() { s.broken = true })
	insert(t, db, 5, 9, 1000)
	require.Eventually(t, func() bool { return shipper.Status().Failures > 0 }, long, 5*time.Millisecond)
	s.set(func() { s.broken = false })
	shipped(t, shipper)
	require.NoError(t, stop())

	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 9, n)
	all, err := to.List(t.Context(), "")
	require.NoError(t, err)
	require.Greater(t, len(all), 2, "more than a page")
	require.NoError(t, to.Delete(t.Context(), all[0].Name))
	_, err = to.Get(t.Context(), all[0].Name)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestBucket_ListThatIsNotWholeIsAnError(t *testing.T) {
	t.Parallel()
	s, to := bucket(t, secret)
	db := open(t)
	insert(t, db, 0, 5, 1000)
	_, stop := start(t, db, to)
	require.NoError(t, stop())
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 5, n)

	for says, harm := range map[string]func(){
		"S3 cut its list off": func() { s.cuts, s.fails = true, false },
		"S3 answered no list": func() { s.cuts, s.fails = false, true },
	} {
		s.set(harm)
		_, err := to.List(t.Context(), "")
		require.ErrorContains(t, err, says)
		_, err = ship.List(t.Context(), to)
		require.ErrorContains(t, err, says)
		_, err = ship.Restore(t.Context(), to, ship.Wish{}, filepath.Join(t.TempDir(), "restored.db"))
		require.ErrorContains(t, err, says)
	}
}

func TestBucket_ListsWhatItPutWhateverThePrefix(t *testing.T) {
	t.Parallel()
	for place, prefix := range map[string]string{
		"s3://bucket":                  "",
		"s3://bucket//a/":              "a/",
		"s3://bucket/50%25":            "50%/",
		"s3://bucket/a%2541b":          "a%41b/",
		"s3://bucket/a b/%C3%BC/.c..d": "a b/ü/.c..d/",
		"s3://bucket/what%3F%23":       "what?#/",
	} {
		s, to := bucketAt(t, place, secret)
		require.NoError(t, to.Put(t.Context(), "g/a", []byte("body")), place)
		s.set(func() { require.Equal(t, map[string][]byte{prefix + "g/a": []byte("body")}, s.objects, place) })
		require.Equal(t, []string{"g/a 4"}, objects(t, to, "g/"), place)
		body, err := to.Get(t.Context(), "g/a")
		require.NoError(t, err, place)
		require.Equal(t, "body", string(body), place)
		require.NoError(t, to.Delete(t.Context(), "g/a"), place)
		require.Empty(t, objects(t, to, ""), place)
	}
	for _, place := range []string{"s3://bucket/a//b", "s3://bucket/.", "s3://bucket/a/./b", "s3://bucket/../a", "s3://bucket/a/.."} {
		require.ErrorContains(t, ship.CheckPlace(place), "its prefix", place)
	}
}

func TestBucket_SaysWhatIsWrongWithoutSecrets(t *testing.T) {
	t.Parallel()
	_, to := bucket(t, "another secret")
	err := to.Put(t.Context(), "name", []byte("x"))
	require.ErrorContains(t, err, "403 SignatureDoesNotMatch")
	require.NotContains(t, err.Error(), "another secret")
	_, err = to.List(t.Context(), "")
	require.ErrorContains(t, err, "403")

	none := func(string) string { return "" }
	_, err = ship.Open("s3://bucket", "", none)
	require.ErrorContains(t, err, "AWS_ACCESS_KEY_ID")
	for _, place := range []string{"s3://", "s3://key:secret@bucket/x", "s3://bucket/?x=y", "ftp://host/x"} {
		require.Error(t, ship.CheckPlace(place), place)
	}
	require.NoError(t, ship.CheckPlace(filepath.Join("some", "folder")))
}

func TestBucket_ThatHangsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s, to := bucket(t, secret)
	db := open(t)
	shipper, _ := start(t, db, to)
	insert(t, db, 0, 3, 1000)
	shipped(t, shipper)
	s.set(func() { s.hangs = true })
	insert(t, db, 3, 300, 30_000) // no write waits
	require.Eventually(t, func() bool { return shipper.Status().Pending > 0 }, long, 5*time.Millisecond)
	require.ErrorContains(t, shipper.Close(10*time.Millisecond), "took longer")
}
