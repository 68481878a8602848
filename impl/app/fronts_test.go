package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/certificate/certificatetest"
)

// front is a proxy before berth, of which deploy/front has the configuration.
type front struct {
	program, file string
	arguments     func(dir, file string) []string
	wrap          string // %s is the configuration in it
}

var fronts = map[string]front{
	"caddy": {
		"caddy", "Caddyfile", func(_, file string) []string { return []string{"run", "--adapter", "caddyfile", "--config", file} },
		"%s",
	},
	"nginx": {
		"nginx", "nginx.conf", func(dir, file string) []string { return []string{"-p", dir, "-c", file, "-e", "stderr"} },
		"daemon off; master_process off; pid nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off;\n" +
			"client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n%s\n}\n",
	},
}

// begin runs the proxy with its configuration, in which names, files and ports are others, before the server.
func (f front) begin(t *testing.T, certificate, key, backend string) (address string) {
	program, err := exec.LookPath(f.program)
	if err != nil && os.Getenv("BERTH_SHOWN") != "all" {
		t.Skip("SKIPPED: " + f.program + " is not here; make shown fails without it")
	}
	require.NoError(t, err)
	text, err := os.ReadFile("../../deploy/front/" + f.file)
	require.NoError(t, err)
	dir, port := t.TempDir(), app.FreePort(t)
	config := strings.NewReplacer(
		"berth.example.com, *.pods.example.com {", "https://berth.example:"+port+", https://*.pods.example:"+port+" {",
		"berth.example.com", "berth.example", "*.pods.example.com", "*.pods.example",
		"/etc/berth/fullchain.pem", certificate, "/etc/berth/privkey.pem", key, "127.0.0.1:8765", backend, "listen 443 ", "listen 127.0.0.1:"+port+" ",
		"admin off", "admin off\n\tauto_https disable_redirects",
	).Replace(string(text))
	file := filepath.Join(dir, f.file)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, f.wrap, config), 0o600))

	run := exec.Command(program, f.arguments(dir, file)...)
	run.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	var said strings.Builder
	run.Stdout, run.Stderr = &said, &said
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})

	address = "127.0.0.1:" + port
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	}, time.Minute, 10*time.Millisecond)
	return address
}

func TestShown_BehindAProxy(t *testing.T) {
	t.Parallel()
	for name, f := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			certificate, key, trusted := certificatetest.Files(t, "berth.example", "*.pods.example")
			port := app.FreePort(t)
			s := start(t, app.Config{
				Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{webEndpoint(port)}, // as docs/fronts.md has it
				Domain: "pods.example", TrustedProxies: []string{"127.0.0.1"}, PublicURL: "https://berth.example",
			})
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.Equal(t, "https://{podId}-{port}.pods.example", s.PodsURL())
			address := f.begin(t, certificate, key, s.Addr())
			p := &webPod{T: t, client: reaching(t, func() string { return address }, trusted), base: "https://POD.pods.example"}
			p.call = func(method, path, body string) (int, map[string]any) {
				return call(t, method, s.URL()+path, s.FirstKey(), body)
			}
			p.make(port, `"image":"web"`)

			res, text, err := p.ask("GET", "/headers", nil)
			require.NoError(t, err)
			require.Equal(t, "HTTP/2.0", res.Proto)
			var seen http.Header
			require.NoError(t, json.Unmarshal([]byte(text), &seen))
			require.Equal(t, []string{"https"}, seen["X-Forwarded-Proto"])
			require.Equal(t, []string{strings.TrimPrefix(p.base, "https://")}, seen["X-Forwarded-Host"])
			require.Equal(t, []string{"127.0.0.1", "127.0.0.1"}, seen["X-Forwarded-For"], "the client, as the proxy says, and the proxy")

			p.hangsUp()
			p.echoes()
			p.sendsEvents()
			p.takesAndGives()
		})
	}
}

// hangsUp has a client go while the pod holds its request, which the pod is to see.
func (p *webPod) hangsUp() {
	counts := func(path string) func() bool {
		return func() bool {
			_, n, err := p.ask("GET", path, nil)
			require.NoError(p, err)
			return n == "1"
		}
	}
	ctx, hangUp := context.WithCancel(p.Context())
	defer hangUp()
	req, err := http.NewRequestWithContext(ctx, "GET", p.base+"/held", nil)
	require.NoError(p, err)
	ended := make(chan error, 1)
	go func() {
		res, err := p.client.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		ended <- err
	}()

	require.Eventually(p, counts("/stuck"), time.Minute, 10*time.Millisecond)
	hangUp()
	require.ErrorIs(p, <-ended, context.Canceled)
	require.Eventually(p, counts("/left"), time.Minute, 10*time.Millisecond, "nobody told the pod that its client went")
}

// TestShown_BehindAProxy_SentOnce breaks the connection of each request that is to be sent once, with and without one that was used before.
func TestShown_BehindAProxy_SentOnce(t *testing.T) {
	t.Parallel()
	for name, f := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var came atomic.Int32
			backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/readyz" {
					return
				}
				came.Add(1)
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_ = conn.Close()
				}
			}))
			t.Cleanup(backend.Close)
			certificate, key, trusted := certificatetest.Files(t, "berth.example", "*.pods.example")
			address := f.begin(t, certificate, key, backend.Listener.Addr().String())
			client := reaching(t, func() string { return address }, trusted)

			for _, base := range []string{"https://p1-80.pods.example", "https://berth.example"} {
				for _, path := range []string{"/proxy/endpoints/e1/any", "/v2/e1/stream/j1", "/v2/e1/openai/v1/models", "/_berth/pods/p1/exec"} {
					p := &webPod{T: t, client: client, base: base}
					res, _, err := p.ask("GET", "/readyz", nil) // its connection may be used again
					require.NoError(t, err)
					require.Equal(t, 200, res.StatusCode)

					came.Store(0)
					res, _, err = p.ask("GET", path, nil)
					require.NoError(t, err)
					require.Equal(t, 502, res.StatusCode)
					require.EqualValues(t, 1, came.Load(), "%s%s: its connection broke, and it was sent again", base, path)
				}
			}
		})
	}
}
