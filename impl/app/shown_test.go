package app_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/certificate/certificatetest"
)

// webPod is a pod with a web server in it, as its clients see it.
type webPod struct {
	*testing.T
	client *http.Client // reaches the server by any name
	base   string       // of the port, as the proxy shows it
	id     string
	call   func(method, path, body string) (int, map[string]any)
	kill   func(process int) // kills the process of the pod
}

// webEndpoint is a command that serves on the port.
func webEndpoint(port string) app.Endpoint {
	return app.Endpoint{Name: "web", Command: []string{"env", asWeb + "=127.0.0.1:" + port, os.Args[0]}}
}

// make makes the pod, with what more says of it, and waits until it answers.
func (p *webPod) make(port string, more ...string) {
	body := strings.Join(append([]string{`{"name":"a","cpu":{"id":"cpu3g","vcpuCount":2},"ports":["` + port + `/http"]`}, more...), ",") + "}"
	status, made := p.call("POST", "/v2/pods", body)
	require.Equal(p, 201, status, made)
	p.id = made["id"].(string)
	p.base = strings.Replace(p.base, "POD", p.id+"-"+port, 1)
	p.answers()
}

// answers waits until the pod answers, and gives its process. Until then the proxy says that it cannot be reached.
func (p *webPod) answers() (process int) {
	p.Helper()
	said := ""
	defer func() {
		if p.Failed() {
			p.Log("the last answer:", said)
		}
	}()
	require.Eventually(p, func() bool {
		res, text, err := p.ask("GET", "/process", nil)
		if err != nil {
			said = err.Error()
			return false // the server is away
		}
		if said = res.Status + " " + text; res.StatusCode != 200 {
			require.Equal(p, 502, res.StatusCode, text)
			return false
		}
		process, err = strconv.Atoi(text)
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	return process
}

// ask sends a request to the pod, and gives the answer with the whole of its body. A body that ends early is an error.
func (p *webPod) ask(method, path string, body io.Reader) (closed, string, error) {
	req, err := http.NewRequestWithContext(p.Context(), method, p.base+path, body)
	require.NoError(p, err)
	res, err := p.client.Do(req)
	if err != nil {
		return closed{}, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return closed{res}, string(text), err
}

// closed is an answer whose body is closed.
type closed struct{ *http.Response }

// killProcess kills a process of this machine.
func (p *webPod) killProcess(process int) {
	found, err := os.FindProcess(process)
	require.NoError(p, err)
	require.NoError(p, found.Kill())
}

// back starts the pod again, once it is seen that it has ended.
func (p *webPod) back() int {
	require.Eventually(p, func() bool {
		_, pod := p.call("GET", "/v2/pods/"+p.id, "")
		return pod["status"] == "EXITED" || pod["status"] == "ERROR"
	}, time.Minute, 20*time.Millisecond)
	status, answer := p.call("POST", "/v2/pods/"+p.id+"/action", `{"action":"start"}`)
	require.Equal(p, 200, status, answer)
	return p.answers()
}

// newWebPod starts a server, over TLS or not, with a pod in it.
func newWebPod(t *testing.T, secure bool) *webPod {
	port := app.FreePort(t)
	c := app.Config{Data: t.TempDir(), Runtime: "process", Domain: "pods.example", Endpoints: []app.Endpoint{webEndpoint(port)}}
	scheme, trusted := "http", x509.NewCertPool()
	if secure {
		scheme, c.QueueListen = "https", "127.0.0.1:0"
		c.TLSCert, c.TLSKey, trusted = certificatetest.Files(t, "berth.example", "*.pods.example")
	}
	s := start(t, c)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	p := &webPod{T: t, client: trusting(t, s, trusted), base: scheme + "://POD.pods.example"}
	p.call = func(method, path, body string) (int, map[string]any) {
		return call(t, method, s.QueueURL()+path, s.FirstKey(), body)
	}
	p.kill = p.killProcess
	p.make(port, `"image":"web"`)
	return p
}

// inEach runs the test over plain HTTP, and over TLS, where what is no websocket has HTTP/2.
func inEach(t *testing.T, test func(p *webPod)) {
	t.Parallel()
	for name, secure := range map[string]bool{"http": false, "https": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newWebPod(t, secure))
		})
	}
}

func TestShown_Websocket(t *testing.T) { inEach(t, (*webPod).echoes) }

// echoes speaks with the pod over a websocket.
func (p *webPod) echoes() {
	conn, _, err := websocket.Dial(p.Context(), p.base+"/echo", &websocket.DialOptions{HTTPClient: p.socketClient(), Subprotocols: []string{"echo"}}) //nolint:bodyclose // the connection has it
	require.NoError(p, err)
	conn.SetReadLimit(4 << 20)
	require.Equal(p, "echo", conn.Subprotocol())
	for i := range 200 {
		kind, message := websocket.MessageText, []byte(fmt.Sprint("message ", i))
		if i%50 == 0 {
			kind, message = websocket.MessageBinary, bytes.Repeat([]byte{byte(i)}, 1<<20)
		}
		require.NoError(p, conn.Write(p.Context(), kind, message))
		gotKind, got, err := conn.Read(p.Context())
		require.NoError(p, err)
		require.Equal(p, kind, gotKind)
		require.True(p, bytes.Equal(message, got))
	}

	require.NoError(p, conn.Write(p.Context(), websocket.MessageText, []byte("leave")))
	_, _, err = conn.Read(p.Context())
	require.EqualValues(p, 4321, websocket.CloseStatus(err), "%v", err)
}

// socketClient is the client with HTTP/1.1 alone.
func (p *webPod) socketClient() *http.Client {
	transport := p.client.Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = false
	transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
	p.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestShown_EventsForAMinute has events come for some seconds, or for a minute with BERTH_SHOWN=all.
func TestShown_EventsForAMinute(t *testing.T) { inEach(t, (*webPod).sendsEvents) }

// sendsEvents reads events of the pod as they come.
func (p *webPod) sendsEvents() {
	n, every := 10, 500*time.Millisecond
	if os.Getenv("BERTH_SHOWN") == "all" {
		n, every = 12, 5*time.Second
	}
	req, err := http.NewRequestWithContext(p.Context(), "GET", fmt.Sprintf("%s/events?n=%d&every=%s", p.base, n, every), nil)
	require.NoError(p, err)
	res, err := p.client.Do(req)
	require.NoError(p, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(p, "text/event-stream", res.Header.Get("Content-Type"))

	var first, lastSent time.Time // when the first came, when the last was sent
	came := 0
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		text, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue
		}
		sent, err := strconv.ParseInt(text, 10, 64)
		require.NoError(p, err)
		if came++; came == 1 {
			first = time.Now()
		}
		lastSent = time.Unix(0, sent)
	}
	require.NoError(p, lines.Err())
	require.Equal(p, n, came)
	require.True(p, first.Before(lastSent), "what is sent is not held back until the end")
}

func TestShown_HundredMegabytesBothWays(t *testing.T) { inEach(t, (*webPod).takesAndGives) }

// takesAndGives sends 100 MB to the pod, and reads as many.
func (p *webPod) takesAndGives() {
	const size = 100 << 20
	want, err := digest(noise(size))
	require.NoError(p, err)

	for _, length := range []int64{size, -1} {
		req, err := http.NewRequestWithContext(p.Context(), "POST", p.base+"/up", noise(size))
		require.NoError(p, err)
		req.ContentLength = length
		res, err := p.client.Do(req)
		require.NoError(p, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(p, err)
		require.NoError(p, res.Body.Close())
		require.Equal(p, want+"<nil>", string(text))
	}

	req, err := http.NewRequestWithContext(p.Context(), "GET", fmt.Sprint(p.base, "/down?bytes=", size), nil)
	require.NoError(p, err)
	res, err := p.client.Do(req)
	require.NoError(p, err)
	got, err := digest(res.Body)
	require.NoError(p, err)
	require.NoError(p, res.Body.Close())
	require.Equal(p, want, got)
}

func TestShown_PodThatIsKilled(t *testing.T) { inEach(t, (*webPod).isKilled) }

// isKilled kills the pod in the middle of answers.
func (p *webPod) isKilled() {
	process := p.answers()
	for _, c := range []struct {
		path  string
		body  io.Reader
		begun bool // the answer has begun
	}{
		{"/held", nil, false}, {"/held", strings.NewReader("{}"), false},
		{"/part", nil, true}, {"/part?length=1000000", nil, true},
	} {
		method := "GET"
		if c.body != nil {
			method = "POST"
		}
		over := make(chan struct{})
		go func() {
			defer close(over)
			res, text, err := p.ask(method, c.path, c.body)
			if c.begun {
				require.Error(p, err, "an answer that is cut must not look whole: %v %s", res, text)
				return
			}
			require.NoError(p, err)
			require.Equal(p, 502, res.StatusCode, text)
		}()
		require.Eventually(p, func() bool {
			_, text, err := p.ask("GET", "/stuck", nil)
			return err == nil && text == "1"
		}, time.Minute, 10*time.Millisecond)
		p.kill(process)
		<-over
		process = p.back()
	}
}

// TestShown_ServerThatIsKilled kills the server in the middle of an answer: the next one shows the pod again.
func TestShown_ServerThatIsKilled(t *testing.T) {
	t.Parallel()
	port, listen, dir := app.FreePort(t), "127.0.0.1:"+app.FreePort(t), t.TempDir()
	b := servePart(t, part{Data: dir, Listen: listen, Web: port})
	key := b.key
	p := &webPod{T: t, base: "http://POD.localhost", client: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, listen)
		},
	}}}
	p.call = func(method, path, body string) (int, map[string]any) {
		return call(t, method, "http://"+listen+path, key, body)
	}
	p.make(port, `"image":"web"`)
	for _, path := range []string{"/part", "/part?length=1000000"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", p.base+path, nil)
		require.NoError(t, err)
		res, err := p.client.Do(req)
		require.NoError(t, err)
		begun := make([]byte, len("begun"))
		_, err = io.ReadFull(res.Body, begun)
		require.NoError(t, err)
		b.kill()
		_, err = io.ReadAll(res.Body)
		require.Error(t, err, "an answer that is cut must not look whole")
		require.NoError(t, res.Body.Close())

		b = servePart(t, part{Data: dir, Listen: listen, Web: port})
		p.answers()
	}
}
