package proxy

// This file holds what a stranger may send, byte by byte, against what a pod gets to see.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

const ours = pod + "-8888.localhost"

// wire is a pod that notes each request as it comes from the socket, and answers it.
type wire struct {
	listener net.Listener
	open     sync.WaitGroup // it, and its connections

	mu   sync.Mutex
	came []string
}

// listen serves at a port of its own.
func (w *wire) listen(t *testing.T) (port int) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	w.listener = l
	w.open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			w.open.Go(func() { w.serve(conn) })
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

func (w *wire) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var raw bytes.Buffer
	from := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		body, _ := io.ReadAll(r.Body)
		head, _, _ := strings.Cut(raw.String(), "\r\n\r\n")
		raw.Reset()
		w.mu.Lock()
		w.came = append(w.came, head+"\r\n\r\n"+string(body))
		w.mu.Unlock()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nthe pod")
	}
}

// requests gives what came so far.
func (w *wire) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.came...)
}

// wired gives a server whose pod is a wire.
func wired(t *testing.T) (*server, *wire) {
	w := &wire{}
	s := newServer(t, nil)
	s.live = []compute.PublishedPort{{Private: 8888, Public: w.listen(t), Type: "http"}}
	return s, w
}

// raw sends the text to the server, and gives all that it answers until it ends the connection.
func (s *server) raw(t *testing.T, text string) string {
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, text) // the answer may come before the end
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	answer, err := io.ReadAll(conn)
	if err != nil {
		require.ErrorIs(t, err, syscall.ECONNRESET, "the server ends the connection") // it has not read all that was sent
	}
	return string(answer)
}

func TestAttacks_HostSaysWhoIsMeant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ request, want string }{
		"absolute URI counts":      {"GET http://" + ours + "/ HTTP/1.1\r\nHost: localhost\r\n", "the pod"},
		"absolute URI of the API":  {"GET http://localhost/ HTTP/1.1\r\nHost: " + ours + "\r\n", "the API"},
		"user in absolute URI":     {"GET http://a@" + ours + "/ HTTP/1.1\r\nHost: " + ours + "\r\n", "the pod"},
		"pod as user":              {"GET http://" + ours + "@localhost/ HTTP/1.1\r\nHost: " + ours + "\r\n", "the API"},
		"two hosts":                {"GET / HTTP/1.1\r\nHost: localhost\r\nHost: " + ours + "\r\n", "400"},
		"two hosts, alike":         {"GET / HTTP/1.1\r\nHost: " + ours + "\r\nHost: " + ours + "\r\n", "400"},
		"no host":                  {"GET / HTTP/1.1\r\n", "400"},
		"empty host":               {"GET / HTTP/1.1\r\nHost:\r\n", "the API"},
		"host with user":           {"GET / HTTP/1.1\r\nHost: a@" + ours + "\r\n", "400"},
		"host as user":             {"GET / HTTP/1.1\r\nHost: " + ours + "@evil.example\r\n", "400"},
		"port":                     {"GET / HTTP/1.1\r\nHost: " + ours + ":1\r\n", "the pod"},
		"two ports":                {"GET / HTTP/1.1\r\nHost: " + ours + ":1:1\r\n", "the API"},
		"host after port":          {"GET / HTTP/1.1\r\nHost: localhost:80." + ours + "\r\n", "the API"},
		"address":                  {"GET / HTTP/1.1\r\nHost: [::1]\r\n", "the API"},
		"name in brackets":         {"GET / HTTP/1.1\r\nHost: [" + ours + "]\r\n", "the API"},
		"name in brackets, port":   {"GET / HTTP/1.1\r\nHost: [" + ours + "]:80\r\n", "the pod"}, // as net.SplitHostPort reads it: the same pod
		"dot":                      {"GET / HTTP/1.1\r\nHost: " + ours + ".\r\n", "the pod"},
		"two dots":                 {"GET / HTTP/1.1\r\nHost: " + ours + "..\r\n", "the API"},
		"capital letters":          {"GET / HTTP/1.1\r\nHost: " + strings.ToUpper(ours) + "\r\n", "the pod"},
		"a letter that looks like": {"GET / HTTP/1.1\r\nHost: " + pod + "-8888.ⅼocalhost\r\n", "400"},
		"capital that folds":       {"GET / HTTP/1.1\r\nHost: " + pod + "-8888.localho\u017ft\r\n", "400"},
		"escaped":                  {"GET / HTTP/1.1\r\nHost: " + pod + "-8888%2elocalhost\r\n", "the API"},
		"NUL":                      {"GET / HTTP/1.1\r\nHost: " + ours + "\x00.evil.example\r\n", "400"},
		"space":                    {"GET / HTTP/1.1\r\nHost: " + ours + " localhost\r\n", "400"},
		"path of another":          {"GET //" + ours + "/ HTTP/1.1\r\nHost: localhost\r\n", "the API"},
		"header of a stranger":     {"GET / HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Host: " + ours + "\r\n", "the API"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := wired(t)
			answer := s.raw(t, c.request+"Connection: close\r\n\r\n")
			status, _, _ := strings.Cut(strings.TrimPrefix(answer, "HTTP/1.1 "), " ")
			if c.want == "400" {
				require.Equal(t, "400", status, answer)
			} else {
				require.True(t, strings.HasSuffix(answer, c.want), answer)
			}
			require.Len(t, w.requests(), map[bool]int{true: 1}[c.want == "the pod"])
			for _, came := range w.requests() {
				require.Equal(t, 1, strings.Count(strings.ToLower(came), "\r\nhost: "))
				require.Contains(t, strings.ToLower(came), pod+"-8888.localhost", "the pod learns the name that counted")
				require.True(t, strings.HasPrefix(came, "GET / HTTP/1.1\r\n"), came)
			}
		})
	}
}

func TestAttacks_OneRequestStaysOne(t *testing.T) {
	t.Parallel()
	const second = "GET /smuggled HTTP/1.1\r\nHost: " + ours + "\r\n\r\n"
	chunked := "5\r\nhello\r\n0\r\n\r\n"
	for name, c := range map[string]struct {
		head, rest string
		status     string // of the answer; "200": the pod has the body hello
	}{
		"length and chunks":         {"Content-Length: 3\r\nTransfer-Encoding: chunked", chunked, "200"},
		"chunks and length":         {"Transfer-Encoding: chunked\r\nContent-Length: 600", chunked, "200"},
		"two lengths":               {"Content-Length: 5\r\nContent-Length: 50", "hello" + second, "400"},
		"two lengths in one":        {"Content-Length: 5, 50", "hello" + second, "400"},
		"the same length twice":     {"Content-Length: 5\r\nContent-Length: 5", "hello", "200"},
		"length with a sign":        {"Content-Length: +5", "hello" + second, "400"},
		"negative length":           {"Content-Length: -5", "hello" + second, "400"},
		"length in hexadecimal":     {"Content-Length: 0x5", "hello" + second, "400"},
		"space before the colon":    {"Transfer-Encoding : chunked", chunked + second, "400"},
		"unknown coding":            {"Transfer-Encoding: xchunked", chunked + second, "501"},
		"two codings":               {"Transfer-Encoding: chunked, identity", chunked + second, "501"},
		"coding twice":              {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunked + second, "501"},
		"coding with a tab":         {"Transfer-Encoding: \tchunked", chunked, "200"},
		"coding with a control":     {"Transfer-Encoding: \x0bchunked", chunked + second, "400"},
		"coding in capitals":        {"Transfer-Encoding: CHUNKED", chunked, "200"},
		"coding on the next line":   {"Transfer-Encoding:\r\n chunked", chunked, "200"},
		"lines that end in LF":      {"Content-Length: 5\nX-A: b", "hello", "200"},
		"CR in a value":             {"X-A: b\rContent-Length: 5", "hello" + second, "400"},
		"NUL in a value":            {"X-A: b\x00c\r\nContent-Length: 5", "hello" + second, "400"},
		"a line without a colon":    {"Content-Length 5", "hello" + second, "400"},
		"a name with a space":       {"X A: b", second, "400"},
		"chunk with an extension":   {"Transfer-Encoding: chunked", "5;a=b\r\nhello\r\n0\r\n\r\n", "200"},
		"extension that ends in LF": {"Transfer-Encoding: chunked", "5;a\nhello\r\n0\r\n\r\n" + second, "cut"},
		"chunk that is too long":    {"Transfer-Encoding: chunked", "fffffffffffffffff\r\nhello\r\n0\r\n\r\n" + second, "cut"},
		"chunk of negative length":  {"Transfer-Encoding: chunked", "-5\r\nhello\r\n0\r\n\r\n" + second, "cut"},
		"chunk that goes on":        {"Transfer-Encoding: chunked", "5\r\nhelloX\r\n0\r\n\r\n" + second, "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := wired(t)
			end := map[bool]string{true: "Connection: close\r\n"}[c.status == "200"]
			answer := s.raw(t, "POST /first HTTP/1.1\r\nHost: "+ours+"\r\n"+end+c.head+"\r\n\r\n"+c.rest)
			require.NotContains(t, strings.Join(w.requests(), ""), "smuggled")
			switch c.status {
			case "200":
				require.True(t, strings.HasPrefix(answer, "HTTP/1.1 200 "), answer)
				require.Len(t, w.requests(), 1)
				head, body, _ := strings.Cut(w.requests()[0], "\r\n\r\n")
				require.Equal(t, "hello", body)
				head = strings.ToLower(head)
				require.Equal(t, 1, strings.Count(head, "\r\ncontent-length: ")+strings.Count(head, "\r\ntransfer-encoding: "), "the pod reads one length")
			case "cut":
				require.NotContains(t, answer, " 200 ")
				require.Equal(t, 1, strings.Count(answer, "HTTP/1.1 "), "the connection is not read on: "+answer)
			default:
				require.True(t, strings.HasPrefix(answer, "HTTP/1.1 "+c.status+" "), answer)
				require.Equal(t, 1, strings.Count(answer, "HTTP/1.1 "), "the connection is not read on")
				require.Contains(t, answer, "application/problem+json")
				require.Empty(t, w.requests())
			}
		})
	}
}

func TestAttacks_HeadersOfHopsEndHere(t *testing.T) {
	t.Parallel()
	s, w := wired(t)
	answer := s.raw(t, "GET /a%0d%0aX-Injected:%20b HTTP/1.1\r\nHost: "+ours+"\r\nConnection: close, Upgrade, HTTP2-Settings, X-Forwarded-For, Via, Host, X-Mine\r\nX-Mine: 1\r\n"+
		"Keep-Alive: timeout=5\r\nProxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nTE: gzip\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"+
		"Forwarded: for=1.2.3.4\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\n\r\n")
	require.True(t, strings.HasSuffix(answer, "the pod"), answer)
	require.Len(t, w.requests(), 1)
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(w.requests()[0])))
	require.NoError(t, err)
	require.Equal(t, "/a%0d%0aX-Injected:%20b", r.RequestURI)
	require.Equal(t, ours, r.Host)
	for _, gone := range []string{"X-Injected", "X-Mine", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Upgrade", "Http2-Settings", "Forwarded", "Connection", "Accept-Encoding"} {
		require.Empty(t, r.Header.Values(gone), gone)
	}
	require.Equal(t, []string{"127.0.0.1"}, r.Header.Values("X-Forwarded-For"))
	require.Equal(t, []string{"http"}, r.Header.Values("X-Forwarded-Proto"))
	require.Equal(t, []string{ours}, r.Header.Values("X-Forwarded-Host"))
	require.Len(t, r.Header.Values("Via"), 1)
}

func TestAttacks_UnderscoresAreHyphensToSome(t *testing.T) {
	t.Parallel()
	s, w := wired(t)
	s.raw(t, "GET / HTTP/1.1\r\nHost: "+ours+"\r\nConnection: close\r\nX_Forwarded_For: 10.0.0.1\r\nx_forwarded-host: evil\r\nCOOKIE_: a\r\nMy_Own: kept\r\n\r\n")
	require.Len(t, w.requests(), 1)
	got := w.requests()[0]
	require.NotContains(t, strings.ToLower(got), "x_forwarded")
	require.Contains(t, got, "My_own: kept")
}

func TestAttacks_ALineOfAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	s, w := wired(t)
	answer := s.raw(t, "GET x:http://192.0.2.1/latest/ HTTP/1.1\r\nHost: "+ours+"\r\nConnection: close\r\n\r\n")
	require.Contains(t, answer, "HTTP/1.1 400 ")
	require.Contains(t, answer, "the request must be for a path")
	require.Empty(t, w.requests())

	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	r.Host, r.URL.RawQuery = ours, "b HTTP/1.0" // as HTTP/2 lets it through
	refused := httptest.NewRecorder()
	s.Before(http.NotFoundHandler()).ServeHTTP(refused, r)
	require.Equal(t, 400, refused.Code)
	require.Empty(t, w.requests())
}

func TestAttacks_NoWayToTheServerItself(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	own, err := strconv.Atoi(s.url[strings.LastIndexByte(s.url, ':')+1:])
	require.NoError(t, err)
	s.live = []compute.PublishedPort{{Private: 8888, Public: own, Type: "http"}}
	for _, header := range []string{"", "Connection: close, Via\r\n", "Via: 1.1 another\r\n"} {
		require.Contains(t, s.raw(t, "GET / HTTP/1.1\r\nHost: "+ours+"\r\nConnection: close\r\n"+header+"\r\n"), "HTTP/1.1 508 ", header)
	}
}

func TestAttacks_RedirectsAreTheClients(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	})
	answer := s.raw(t, "GET / HTTP/1.1\r\nHost: "+ours+"\r\nConnection: close\r\n\r\n")
	require.Contains(t, answer, "HTTP/1.1 302 ")
	require.Contains(t, answer, "Location: http://169.254.169.254/")
}

func TestAttacks_WhatIsNoRequestIsRefused(t *testing.T) {
	t.Parallel()
	s, w := wired(t)
	for name, c := range map[string]struct{ text, want string }{
		"HTTP/2 without TLS": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505 "},
		"long header":        {"GET / HTTP/1.1\r\nHost: " + ours + "\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", "HTTP/1.1 431 "},
		"many headers":       {"GET / HTTP/1.1\r\nHost: " + ours + "\r\n" + strings.Repeat("X: y\r\n", 400_000) + "\r\n", "HTTP/1.1 431 "},
		"a tunnel":           {"CONNECT " + ours + ":443 HTTP/1.1\r\nHost: " + ours + ":443\r\nConnection: close\r\n\r\n", "HTTP/1.1 405 "},
		"a tunnel elsewhere": {"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 169.254.169.254:80\r\nConnection: close\r\n\r\n", "the API"},
		"a TLS handshake":    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "HTTP/1.1 400 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, s.raw(t, c.text), c.want)
			require.Empty(t, w.requests())
		})
	}
}

func TestWire_OldAndOddRequestsAreServed(t *testing.T) {
	t.Parallel()
	s, w := wired(t)
	answer := s.raw(t, "GET /old HTTP/1.0\r\nHost: "+ours+"\r\n\r\n")
	require.True(t, strings.HasPrefix(answer, "HTTP/1.0 200 OK\r\n") && strings.HasSuffix(answer, "\r\n\r\nthe pod"), answer)
	require.Len(t, w.requests(), 1)

	one := "GET /one HTTP/1.1\r\nHost: " + ours + "\r\n\r\n"
	api := "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	answer = s.raw(t, one+api+strings.Replace(one, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)) // without waiting for answers
	require.Equal(t, 3, strings.Count(answer, "HTTP/1.1 200 OK"))
	first, second := strings.Index(answer, "the pod"), strings.Index(answer, "the API")
	require.Less(t, first, second, "in their order, each from whom it was asked")
	require.Less(t, second, strings.LastIndex(answer, "the pod"))

	answer = s.raw(t, "POST /waits HTTP/1.1\r\nHost: "+ours+"\r\nExpect: 100-continue\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
	require.Contains(t, answer, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
}

func TestWire_AnswersComeAsTheyAre(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.WriteString(zip, "packed")
	require.NoError(t, zip.Close())
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/unchanged":
			w.Header().Set("Etag", `"1"`)
			w.WriteHeader(http.StatusNotModified)
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/early":
			w.Header().Set("Link", "</a.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "late")
		case "/trailers":
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "summed")
			w.Header().Set("X-Sum", "42")
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		default:
			http.ServeContent(w, r, "a.txt", time.Unix(1, 0), strings.NewReader("0123456789"))
		}
	})
	get := func(method, path, header string) string {
		return s.raw(t, method+" "+path+" HTTP/1.1\r\nHost: "+ours+"\r\n"+header+"Connection: close\r\n\r\n")
	}
	ends := func(answer, status, body string, headers ...string) {
		require.True(t, strings.HasPrefix(answer, "HTTP/1.1 "+status+" "), answer)
		require.True(t, strings.HasSuffix(answer, "\r\n\r\n"+body), answer)
		for _, h := range headers {
			require.Contains(t, answer, "\r\n"+h+"\r\n")
		}
	}

	ends(get("HEAD", "/file", ""), "200", "", "Content-Length: 10")
	ends(get("GET", "/file", "Range: bytes=2-4\r\n"), "206", "234", "Content-Range: bytes 2-4/10", "Content-Length: 3")
	ends(get("GET", "/unchanged", ""), "304", "", `Etag: "1"`)
	ends(get("GET", "/empty", ""), "204", "")
	ends(get("GET", "/packed", ""), "200", packed.String(), "Content-Encoding: gzip")

	early := get("GET", "/early", "")
	require.True(t, strings.HasPrefix(early, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n"), early)
	require.Contains(t, early, "HTTP/1.1 200 OK")

	trailers := get("GET", "/trailers", "")
	require.Contains(t, trailers, "Trailer: X-Sum\r\n")
	require.Contains(t, trailers, "0\r\nX-Sum: 42\r\n")
}
