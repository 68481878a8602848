package proxy

// This file goes on with what a stranger may send: by path, over HTTP/2, with changes of the protocol.

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/berthdev/berth/impl/compute"
)

// What begins with the path of a port of a pod reaches that port, whatever follows, and nothing else reaches it: the path is neither
// unescaped nor tidied before it is read.
func TestAttacks_PathSaysWhoIsMeant(t *testing.T) {
	t.Parallel()
	const at = "/proxy/pods/" + pod + "/8888"
	for path, want := range map[string]string{ // what the pod is asked for; empty: it is the API's
		at + "/../../../v2/pods":                        "/../../../v2/pods",
		at + "/..%2f..%2f..%2fv2/pods":                  "/..%2f..%2f..%2fv2/pods",
		at + "/%2e%2e/%2e%2e/%2e%2e/v2/pods":            "/%2e%2e/%2e%2e/%2e%2e/v2/pods",
		at + `/..\..\v2\pods`:                           `/..%5C..%5Cv2%5Cpods`,
		at + "/%5c..%5cv2":                              "/%5c..%5cv2",
		at + "//evil.example/x":                         "//evil.example/x",
		at + "/http://169.254.169.254/latest/meta-data": "/http://169.254.169.254/latest/meta-data",
		at + "/@evil.example:80/":                       "/@evil.example:80/",
		at + "?/proxy/pods/x":                           "/?/proxy/pods/x",
		at + "/;x/..;/v2":                               "/;x/..;/v2",
		at + "/%00":                                     "/%00",
		at + "/a%0d%0ab":                                "/a%0d%0ab",
		at + "%2f..%2f..":                               "",
		at + "%2F":                                      "",
		at + "9/":                                       "no",
		at + ";x/":                                      "",
		at + ":22/":                                     "",
		"/proxy/pods/" + pod + "/022/":                  "",
		"/proxy/pods/" + pod + "/22/":                   "no", // it is shown by tcp, and not by http
		"/proxy/pods/" + pod + "%2f8888/":               "",
		"/proxy/pods/" + pod + "/../" + pod + "/8888/":  "",
		"/proxy/pods//" + pod + "/8888/":                "",
		"/proxy/pods/../pods/" + pod + "/8888/":         "",
		"/proxy/./pods/" + pod + "/8888/":               "",
		"//proxy/pods/" + pod + "/8888/":                "",
		"/PROXY/pods/" + pod + "/8888/":                 "",
		"/%70roxy/pods/" + pod + "/8888/":               "",
		`/proxy\pods\` + pod + `\8888\`:                 "",
		"/proxy/pods/" + strings.ToUpper(pod) + "/8888": "",
	} {
		for _, target := range []string{path, "http://localhost" + path} { // as browsers and as clients of a proxy write it
			s := newServer(t, nil, func(c *Config) { c.PodPaths = true })
			w := &wire{}
			s.live = []compute.PublishedPort{{Private: 22, Public: 1, Type: "tcp"}, {Private: 8888, Public: w.listen(t), Type: "http"}}
			answer := s.raw(t, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
			if want == "" || want == "no" {
				require.Empty(t, w.requests(), target)
				require.Equal(t, want == "", strings.HasSuffix(answer, "the API"), "%s: %s", target, answer)
				continue
			}
			require.True(t, strings.HasSuffix(answer, "the pod"), "%s: %s", target, answer)
			require.Len(t, w.requests(), 1, target)
			line, _, _ := strings.Cut(w.requests()[0], "\r\n")
			require.Equal(t, "GET "+want+" HTTP/1.1", line, target)
		}
	}
}

// A header that a client names in Connection ends here, and takes nothing along that says where a request ends or who asks.
func TestAttacks_ConnectionNamesNothingThatCounts(t *testing.T) {
	t.Parallel()
	const body = "GET /smuggled HTTP/1.1\r\nHost: " + ours + "\r\n\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	chunked := fmt.Sprintf("%x\r\n", len(body)) + body + "\r\n0\r\nX-Forwarded-For: 1.2.3.4\r\nHost: evil.example\r\nContent-Length: 3\r\n\r\n"
	for name, text := range map[string]string{
		"Content-Length":    length + "Connection: close, Content-Length\r\n\r\n" + body,
		"Transfer-Encoding": "Transfer-Encoding: chunked\r\nConnection: close, Transfer-Encoding, Trailer\r\nTrailer: X-Forwarded-For\r\n\r\n" + chunked,
		"trailers":          "Transfer-Encoding: chunked\r\nConnection: close\r\nTrailer: X-Forwarded-For, Host\r\n\r\n" + chunked,
		"who asks":          length + "Connection: close, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto, Via, Host\r\n\r\n" + body,
		"a folded line":     "Connection: close\r\nX-A: b\r\n Content-Length: 3\r\n" + length + "\r\n" + body,
		"a folded tab":      length + "Connection: close\r\nX-A:\r\n\tTransfer-Encoding: chunked\r\n\r\n" + body,
	} {
		s, w := wired(t)
		answer := s.raw(t, "POST /first HTTP/1.1\r\nHost: "+ours+"\r\n"+text)
		require.True(t, strings.HasPrefix(answer, "HTTP/1.1 ") && strings.Count(answer, "HTTP/1.1 ") == 1, "%s: %s", name, answer)
		for _, came := range w.requests() { // at most one, which is whole
			require.True(t, strings.HasPrefix(came, "POST /first HTTP/1.1\r\n"), "%s: %s", name, came)
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(came)))
			require.NoError(t, err, name)
			require.Equal(t, ours, r.Host, name)
			require.Equal(t, []string{"127.0.0.1"}, r.Header.Values("X-Forwarded-For"), name)
			require.Equal(t, []string{ours}, r.Header.Values("X-Forwarded-Host"), name)
			require.Len(t, r.Header.Values("Via"), 1, name)
			require.True(t, strings.HasSuffix(came, "\r\n\r\n"+body), "%s: %s", name, came)
		}
		require.Len(t, w.requests(), 1, name)
	}
}

// Who asks for another protocol gets it where the pod agrees, and only then the connection is the pod's.
func TestAttacks_ChangeOfProtocolIsThePods(t *testing.T) {
	t.Parallel()
	const upgrade = "GET /socket HTTP/1.1\r\nHost: " + ours + "\r\nConnection: Upgrade\r\n"
	second := "GET /second HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	for name, c := range map[string]struct{ asked, answered, want string }{
		"refused, and another request": {"Upgrade: websocket\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 426 "},
		"answered as if nobody asked":  {"Upgrade: websocket\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 "},
		"another than was asked for":   {"Upgrade: websocket\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "HTTP/1.1 502 "},
		"where nobody asked":           {"\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "HTTP/1.1 502 "},
		"what cannot be printed":       {"Upgrade: web\tsocket\u00ff\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 502 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = l.Close() })
			var seen bytes.Buffer
			over := make(chan struct{})
			go func() {
				defer close(over)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer func() { _ = conn.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &seen))); err == nil {
					_, _ = io.WriteString(conn, c.answered)
				}
				_ = conn.SetReadDeadline(time.Now().Add(time.Second))
				_, _ = io.Copy(&seen, conn)
			}()

			s := newServer(t, nil)
			s.live = []compute.PublishedPort{{Private: 8888, Public: l.Addr().(*net.TCPAddr).Port, Type: "http"}}
			answer := s.raw(t, upgrade+c.asked+second)
			require.True(t, strings.HasPrefix(answer, c.want), answer)
			require.True(t, strings.HasSuffix(answer, "the API") || strings.HasPrefix(answer, "HTTP/1.1 502 "), "the request after it is the server's: "+answer)
			_ = l.Close()
			<-over
			require.NotContains(t, seen.String(), "/second", "the pod does not get it")
		})
	}
}

// over2 sends the fields and the body on a stream of HTTP/2, as they are, and gives the status; empty: the stream or the connection was ended.
func over2(t *testing.T, address string, body string, fields ...string) (status string) {
	raw, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer func() { _ = raw.Close() }()
	require.NoError(t, raw.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = io.WriteString(raw, http2.ClientPreface)
	require.NoError(t, err)
	framer := http2.NewFramer(raw, raw)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	require.NoError(t, framer.WriteSettings())

	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: body == ""}))
	if body != "" {
		_ = framer.WriteData(1, true, []byte(body)) // it may be refused before
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			var failed http2.StreamError
			require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &failed), "%v", err)
			return ""
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if status = f.PseudoValue("status"); status >= "200" {
				return status
			}
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return ""
		}
	}
}

// What HTTP/2 carries as it is must not become more than one request, or another one, where it is written as HTTP/1.1.
func TestAttacks_OneStreamIsOneRequest(t *testing.T) {
	t.Parallel()
	// ask gives the status, and all that has come to the pod when the server and its connections to the pod have ended.
	ask := func(t *testing.T, body string, fields ...string) (status string, came []string) {
		s, w := wired(t)
		front := httptest.NewUnstartedServer(s.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the API") })))
		front.EnableHTTP2 = true
		front.StartTLS()
		status = over2(t, front.Listener.Addr().String(), body, fields...)

		front.Close()
		s.relay.Transport.(*http.Transport).CloseIdleConnections()
		_ = w.listener.Close()
		w.open.Wait()
		return status, w.requests()
	}

	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: " + ours + "\r\n\r\n"
	usual := func(more ...string) []string {
		return append([]string{":method", "POST", ":scheme", "https", ":authority", ours, ":path", "/first"}, more...)
	}
	for name, c := range map[string]struct {
		fields []string
		body   string
		passes bool
	}{
		"as it should be":          {usual("content-length", "5"), "hello", true},
		"without a length":         {usual(), "hello", true},
		"a length that is short":   {usual("content-length", "5"), "hello" + smuggled, false},
		"a length that is long":    {usual("content-length", "500"), "hello", false},
		"two lengths":              {usual("content-length", "5", "content-length", "6"), "hello", false},
		"the same length twice":    {usual("content-length", "5", "content-length", "5"), "hello", true},
		"a length that is none":    {usual("content-length", "5, 6"), "hello", false},
		"chunks":                   {usual("transfer-encoding", "chunked"), "0\r\n\r\n" + smuggled, false},
		"a header of the hop":      {usual("connection", "transfer-encoding"), "hello", false},
		"an upgrade":               {usual("upgrade", "websocket"), "hello", false},
		"a line in a value":        {usual("x-a", "b\r\ntransfer-encoding: chunked"), "0\r\n\r\n" + smuggled, false},
		"a line in a name":         {usual("x-a: b\r\nx-c", "d"), "hello", false},
		"capitals in a name":       {usual("Transfer-Encoding", "chunked"), "0\r\n\r\n" + smuggled, false},
		"a line in the path":       {[]string{":method", "POST", ":scheme", "https", ":authority", ours, ":path", "/ HTTP/1.1\r\nx: y"}, "hello", false},
		"a line in the method":     {[]string{":method", "GET /smuggled HTTP/1.1\r\nx: y", ":scheme", "https", ":authority", ours, ":path", "/"}, "", false},
		"a line in the authority":  {[]string{":method", "GET", ":scheme", "https", ":authority", ours + "\r\nx: y", ":path", "/"}, "", false},
		"another place":            {[]string{":method", "GET", ":scheme", "https", ":authority", ours + "/smuggled", ":path", "/"}, "", false},
		"two paths":                {usual(":path", "/smuggled"), "hello", false},
		"a path after the headers": {[]string{":method", "GET", ":scheme", "https", ":authority", ours, "x-a", "b", ":path", "/smuggled"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, came := ask(t, c.body, c.fields...)
			require.NotContains(t, strings.Join(came, ""), " /smuggled ")
			if !c.passes {
				require.True(t, status != "200" || len(came) == 0, "the pod answered")
				for _, one := range came { // what was cut did not come to its end
					require.True(t, strings.HasPrefix(one, "POST /first HTTP/1.1\r\n"), one)
					require.NotContains(t, one, "\r\nx: y")
				}
				return
			}

			require.Equal(t, "200", status)
			require.Len(t, came, 1)
			require.True(t, strings.HasSuffix(came[0], "\r\n\r\nhello"), came[0])
			head := strings.ToLower(came[0])
			require.Equal(t, 1, strings.Count(head, "\r\ncontent-length: ")+strings.Count(head, "\r\ntransfer-encoding: "), came[0])
		})
	}

	status, came := ask(t, "", ":method", "GET", ":scheme", "https", ":authority", ours, ":path", "/ HTTP/1.1")
	require.Equal(t, "200", status)
	require.Len(t, came, 1)
	require.True(t, strings.HasPrefix(came[0], "GET /%20HTTP/1.1 HTTP/1.1\r\n"), "a space in the path is one there")

	// The authority counts, and not a header beside it.
	status, came = ask(t, "", ":method", "GET", ":scheme", "https", ":authority", "localhost", ":path", "/", "host", ours)
	require.Contains(t, []string{"", "200", "400"}, status)
	require.Empty(t, came)
	status, came = ask(t, "", ":method", "GET", ":scheme", "https", ":authority", ours, ":path", "/", "host", "evil.example")
	require.Contains(t, []string{"", "200", "400"}, status)
	require.NotContains(t, strings.Join(came, ""), "evil.example")
}

// The headers of an answer are in memory as a whole, for each of many requests: what is longer does not come through.
func TestAttacks_HeadersOfAnAnswerAreBounded(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		size := 32 << 10
		if r.URL.Path == "/long" {
			size = mostHeader
		}
		w.Header().Set("X-Long", strings.Repeat("x", size))
	}
	of := newCrew(t, []http.HandlerFunc{answer})
	in := newServer(t, answer)

	require.Len(t, of.send(t, "GET", "/", "").Header.Get("X-Long"), 32<<10)
	require.Len(t, in.ask(t, "GET", "/", "").Header.Get("X-Long"), 32<<10)
	detail, _ := told(t, of.send(t, "GET", "/long", ""), http.StatusBadGateway)
	require.Contains(t, detail, "64 KiB")
	detail, _ = told(t, in.ask(t, "GET", "/long", ""), http.StatusBadGateway)
	require.Contains(t, detail, "64 KiB")
}

// Interim answers cost the server work, and bring the request no nearer to its end: who sends too many of them is not waited for.
func TestAttacks_InterimAnswersAreBounded(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		for n := 0; n < mostInterim || r.URL.Path == "/endless" && r.Context().Err() == nil; n++ {
			w.WriteHeader(http.StatusProcessing)
		}
		_, _ = io.WriteString(w, "done")
	}
	of := newCrew(t, []http.HandlerFunc{answer})
	in := newServer(t, answer)

	require.Equal(t, "done", text(t, of.send(t, "GET", "/", "")))
	require.Equal(t, "done", text(t, in.ask(t, "GET", "/", "")))
	detail, _ := told(t, of.send(t, "GET", "/endless", ""), http.StatusBadGateway)
	require.Contains(t, detail, "the worker sent more than 100 interim answers")
	detail, _ = told(t, in.ask(t, "GET", "/endless", ""), http.StatusBadGateway)
	require.Contains(t, detail, "the pod sent more than 100 interim answers")
}
