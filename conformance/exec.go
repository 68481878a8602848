package conformance

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// execProtocol is the subprotocol of commands.
const execProtocol = "berth.exec.v1"

// upgrading are the headers that ask for a websocket of commands, and more.
func upgrading(more ...string) map[string]string {
	h := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": execProtocol,
	}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

// execOf gives the path of commands in what is at a path below the controls.
func (c *Check) execOf(path string) string { return c.URL + controlsPath + path + "/exec" }

// refusesExec asserts the status with which a websocket of commands is refused.
func (c *Check) refusesExec(status int, path, key string, more ...string) {
	c.Refused(c.Send(Request{Method: "GET", URL: c.execOf(path), Key: key, Header: upgrading(more...)}), status)
}

// exec opens a websocket of commands and gives what is said until its end: the channels in their order, and how it ended.
func (c *Check) exec(path, query string, header http.Header, protocols ...string) (channels []byte, output string, result map[string]any) {
	address := c.execOf(path) + query
	c.note(exchange{method: "GET", url: address})
	ws, answer, err := websocket.Dial(c.context(), address, &websocket.DialOptions{HTTPHeader: header, Subprotocols: append(protocols, execProtocol)}) //nolint:bodyclose // the library closes it
	require.NoError(c, err)
	defer func() { _ = ws.CloseNow() }()
	require.Equal(c, []string{execProtocol}, answer.Header.Values("Sec-WebSocket-Protocol"), "what showed the key is not answered back")
	asked, err := http.NewRequestWithContext(c.context(), http.MethodGet, address, nil)
	require.NoError(c, err)
	c.Spec.check(c, asked, Answer{Status: answer.StatusCode, Header: answer.Header}, nil, nil)

	for {
		kind, text, err := ws.Read(c.context())
		if err != nil {
			require.Equal(c, websocket.StatusNormalClosure, websocket.CloseStatus(err), "%v", err)
			return channels, output, result
		}
		require.Equal(c, websocket.MessageBinary, kind)
		require.NotEmpty(c, text)
		require.Nil(c, result, "it is the last message")
		channels = append(channels, text[0])
		switch text[0] {
		case 1, 2:
			output += string(text[1:])
		case 3:
			require.NoError(c, json.Unmarshal(text[1:], &result))
		default:
			require.Fail(c, "a channel that servers do not speak on")
		}
	}
}

func bearing(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// requireEnds asserts that a command ended by itself, or did not run for a reason that is said.
func (c *Check) requireEnds(result map[string]any, output, want string) {
	if why, refused := result["error"]; refused {
		require.NotEmpty(c, why)
		require.Len(c, result, 1)
		return
	}
	require.Equal(c, map[string]any{"exitCode": 7.0}, result)
	require.Equal(c, want, output)
}

// runningPod makes a pod and gives its id once it runs.
func (c *Check) runningPod() string {
	id := c.newPod(gpuPod)
	c.Eventually(func() bool { return c.getPod(id)["status"] == "RUNNING" }, "the pod runs")
	return id
}

const execCommand = "?command=sh&command=-c&command=echo+out%3Becho+err+%3E%262%3B+exit+7"

var _ = area(func() {
	ops := []string{"execPod"}
	add("exec.protocol", ops, func(c *Check) {
		path := "pods/" + c.runningPod()
		channels, output, result := c.exec(path, execCommand, bearing(c.Key))
		require.EqualValues(c, 3, channels[len(channels)-1])
		c.requireEnds(result, output, "out\nerr\n")
		_, output, result = c.exec(path, execCommand+"&tty=true&width=80&height=24", bearing(c.Key))
		c.requireEnds(result, output, "out\r\nerr\r\n")
	})

	add("exec.upgrade", []string{"execPod", "execWorker"}, func(c *Check) {
		path := "pods/" + c.runningPod()
		for name, values := range map[string][]string{
			"Connection": {"", "close"}, "Upgrade": {"", "h2c"}, "Sec-WebSocket-Version": {"", "8"}, "Sec-WebSocket-Key": {"", "short"}, "Sec-WebSocket-Protocol": {"", "chat", execProtocol + "1"},
		} {
			for _, value := range values {
				c.refusesExec(400, path, "Bearer "+c.Key, name, value)
			}
		}
		c.Refused(c.Send(Request{Method: "GET", URL: c.execOf(path) + "?width=0&tty=perhaps", Key: "Bearer " + c.Key, Header: upgrading()}), 422)
	})

	add("exec.key", ops, func(c *Check) {
		path := "pods/" + c.runningPod()
		c.refusesExec(401, path, "-")
		c.refusesExec(401, path, "-", "Sec-WebSocket-Protocol", execProtocol+", berth.key."+base64.RawURLEncoding.EncodeToString([]byte(wrong(c.Key))))
		c.Refused(c.Send(Request{Method: "GET", URL: c.execOf(path) + "?api_key=" + c.Key, Key: "-", Header: upgrading()}), 401)
		_, output, result := c.exec(path, execCommand, nil, "berth.key."+base64.RawURLEncoding.EncodeToString([]byte(c.Key)))
		c.requireEnds(result, output, "out\nerr\n")
	})

	add("exec.scope", []string{"execPod", "execWorker"}, func(c *Check) {
		pod := c.runningPod()
		path := "pods/" + pod
		for scope, want := range map[string]int{"rest:read": 403, "admin": 403, "graphql:write": 403, "queue:*:invoke": 403, "pod:otherpod000000": 404} {
			_, key := c.newKey("", scope)
			c.refusesExec(want, path, "Bearer "+key)
		}
		for _, scope := range []string{"rest:write", "pod:" + pod} {
			_, key := c.newKey("", scope)
			c.exec(path, execCommand, bearing(key))
		}
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		c.refusesExec(404, path, "Bearer "+stranger)
		c.refusesExec(404, "endpoints/"+c.Endpoint+"/workers/w", "Bearer "+stranger)
	})

	add("exec.origin", []string{"execPod", "execWorker"}, func(c *Check) {
		path := "pods/" + c.runningPod()
		of, err := url.Parse(c.URL)
		require.NoError(c, err)
		for _, origin := range []string{"http://example.com", "null", "file://", c.URL + ".example.com", c.URL + "0", of.Scheme + "://" + of.Hostname() + ":1"} {
			c.refusesExec(403, path, "Bearer "+c.Key, "Origin", origin)
		}
		c.refusesExec(403, "endpoints/"+c.Endpoint+"/workers/w", "Bearer "+c.Key, "Origin", "http://example.com")
		own := bearing(c.Key)
		own.Set("Origin", c.URL)
		c.exec(path, execCommand, own)
	})

	add("exec.status", ops, func(c *Check) {
		c.refusesExec(404, "pods/nosuchpod", "Bearer "+c.Key)
		c.refusesExec(409, "pods/"+c.exited(), "Bearer "+c.Key)
	})

	add("exec.workers", []string{"execWorker"}, func(c *Check) {
		c.refusesExec(404, "endpoints/"+c.Endpoint+"/workers/nosuchworker", "Bearer "+c.Key)
		c.refusesExec(404, "endpoints/nosuchendpoint/workers/w", "Bearer "+c.Key)
		at := c.newEndpoint(gpuEndpoint)
		require.Equal(c, 200, c.REST("PATCH", at, `{"workers":{"min":1,"max":1}}`).Status)
		var worker string
		c.Eventually(func() bool {
			all, _ := c.REST("GET", at+"/workers", "").JSON["workers"].([]any)
			if len(all) > 0 {
				worker, _ = all[0].(map[string]any)["id"].(string)
			}
			return worker != ""
		}, "there is a worker")
		path := "endpoints/" + strings.TrimPrefix(at, serverless+"/") + "/workers/" + worker
		c.refusesExec(400, path, "Bearer "+c.Key, "Upgrade", "")
		_, output, result := c.exec(path, execCommand, bearing(c.Key))
		c.requireEnds(result, output, "out\nerr\n")
	})
})
