package conformance

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// dial opens a connection to the queue of the target, for the time of the rule, and skips the rule where that speaks TLS: the
// rules here look at what a client does below HTTP.
func (c *Check) dial() net.Conn { return c.dialTo(c.QueueURL) }

// dialTo is dial for what is at another base.
func (c *Check) dialTo(at string) net.Conn {
	base, err := url.Parse(at)
	require.NoError(c, err)
	if base.Scheme != "http" {
		c.Skip("the target is behind TLS")
	}

	conn, err := new(net.Dialer).DialContext(c.context(), "tcp", base.Host)
	require.NoError(c, err)
	context.AfterFunc(c.context(), func() { _ = conn.Close() })
	c.mu.Lock()
	c.conns = append(c.conns, conn)
	c.mu.Unlock()
	require.NoError(c, conn.SetDeadline(time.Now().Add(c.suite.patience())))

	return conn
}

// sends opens a connection and sends the text.
func (c *Check) sends(text string) net.Conn {
	conn := c.dial()
	_, err := io.WriteString(conn, text)
	require.NoError(c, err)
	return conn
}

// head gives the head of a request to the queue; of a body the length, or in lines what else there is of it.
func (c *Check) head(method, operation, key string, lines ...string) string {
	if key != "" {
		lines = append(lines, "Authorization: Bearer "+key)
	}
	return fmt.Sprintf("%s /v2/%s/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%s\r\n\r\n",
		method, c.Endpoint, operation, strings.Join(lines, "\r\n"))
}

// answered reads the status of the answer, and waits until the connection is ended.
func (c *Check) answered(conn net.Conn) int {
	status, _, _ := c.lastAnswer(conn)
	return status
}

// notRead asserts that what was sent was refused with a problem, and the connection ended.
func (c *Check) notRead(conn net.Conn) {
	status, header, body := c.lastAnswer(conn)
	require.Equal(c, "application/problem+json", header.Get("Content-Type"))
	var problem struct {
		Title, Detail string
		Status        int
	}
	require.NoError(c, json.Unmarshal(body, &problem), "%s", body)
	require.NotEmpty(c, problem.Title)
	require.NotEmpty(c, problem.Detail)
	require.Equal(c, status, problem.Status)
	require.Contains(c, []int{400, 417, 431, 501, 505}, problem.Status)
}

// lastAnswer reads an answer and its body, and waits until the connection is ended.
func (c *Check) lastAnswer(conn net.Conn) (status int, header http.Header, body []byte) {
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(c, err)
	defer func() { _ = answer.Body.Close() }()
	body, err = whole(answer.Body)
	require.NoError(c, err)
	_, err = conn.Read(make([]byte, 1))
	require.Error(c, err)
	require.NotErrorIs(c, err, os.ErrDeadlineExceeded, "the connection is still there")
	return answer.StatusCode, answer.Header, body
}

// largeOutput gives a job with an output of nearly 10 MB, and that output.
func (c *Check) largeOutput() (id, output string) {
	id = c.submit(job)
	c.takeJob("w", id)
	output = numbered(9_900_000)
	c.done("w", id, `{"output":`+output+`}`)
	return id, output
}

// numbered gives JSON of about so many bytes, no two parts of which are the same.
func numbered(bytes int) string {
	var b strings.Builder
	b.WriteString(`"`)
	for b.Len() < bytes {
		fmt.Fprintf(&b, "%d,", b.Len())
	}
	b.WriteString(`"`)
	return b.String()
}

// unread opens connections that ask for the status of the job, and never read it.
func (c *Check) unread(id string, n int) (all []net.Conn) {
	for range n {
		conn := c.dial()
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		_, err := io.WriteString(conn, c.head("GET", "status/"+id, c.Key))
		require.NoError(c, err)
		all = append(all, conn)
	}
	return all
}

// submitsBesideStalled reports whether a job was submitted before any of a hundred uploads by the key, which stall, was ended.
func (c *Check) submitsBesideStalled(key string) bool {
	var stalled []net.Conn
	for range 100 {
		stalled = append(stalled, c.sends(c.head("POST", "run", key, "Content-Length: 9000000")+"{"))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = stalled[0].Read(make([]byte, 1))
	}()
	c.submit(`{"input":{"text":"` + strings.Repeat("x", 2_000_000) + `"}}`)

	before := true
	select {
	case <-ended:
		before = false
	default:
	}
	for _, conn := range stalled {
		_ = conn.Close()
	}
	<-ended
	return before
}

var _ = area(func() {
	add("bounds.uploads", []string{"run"}, func(c *Check) {
		var all sync.WaitGroup
		for _, rest := range []string{"Content-Length: 9000000", "Content-Length: 10", "Transfer-Encoding: chunked"} {
			conn := c.sends(c.head("POST", "run", c.Key, rest))
			if rest == "Transfer-Encoding: chunked" {
				_, err := io.WriteString(conn, "1\r\n{\r\n")
				require.NoError(c, err)
			}
			all.Go(func() { require.Equal(c, 408, c.answered(conn), rest) })
		}

		all.Wait()
	})

	add("bounds.uploads.others", []string{"run"}, func(c *Check) {
		_, bad := c.newKey("", "all")
		for range 3 { // the first of those that stall may be ended while a busy machine opens the last
			if c.submitsBesideStalled(bad) {
				return
			}
		}
		require.Fail(c, "a request was answered only after those that stall were ended")
	})

	add("bounds.refused", []string{"run"}, func(c *Check) {
		start := time.Now()
		require.Equal(c, 401, c.answered(c.sends(c.head("POST", "run", "", "Content-Length: 1000")+"{")))
		require.Equal(c, 401, c.answered(c.sends(c.head("POST", "run", "", "Transfer-Encoding: chunked")+"1\r\n{\r\n")))
		require.Less(c, time.Since(start), c.suite.patience()/2)
	})

	add("bounds.readers", []string{"status"}, func(c *Check) {
		id, _ := c.largeOutput()
		conn := c.unread(id, 1)[0]

		// It shows in a write: to read would be progress.
		for start := time.Now(); ; {
			if _, err := io.WriteString(conn, "\n"); err != nil {
				return
			}
			require.Less(c, time.Since(start), c.suite.patience(), "the connection is still there")
			<-time.After(100 * time.Millisecond)
		}
	})

	add("bounds.outputs", []string{"status", "stream"}, func(c *Check) {
		id, output := c.largeOutput()
		want := sha256.Sum256([]byte(output))
		c.unread(id, 5)
		var all sync.WaitGroup

		sums := make([][32]byte, 5)
		for i := range sums {
			all.Go(func() {
				a := c.Queue("GET", "status/"+id, "")
				if _, text, found := strings.Cut(string(a.Body), `"output":`); found {
					sums[i] = sha256.Sum256([]byte(strings.TrimSuffix(text, "}")))
				}
			})
		}

		all.Wait()
		for _, got := range sums {
			require.Equal(c, want, got)
		}
	})

	add("bounds.inputs", []string{"takeJob", "takeJobs"}, func(c *Check) {
		inputs := map[string]string{}
		submit := func() {
			input := `{"text":` + numbered(3_000_000) + `,"n":` + fmt.Sprint(len(inputs)) + `}`
			inputs[c.submit(`{"input":`+input+`}`)] = input
		}

		has := func(id, body string) {
			input := inputs[id]
			require.NotEmpty(c, input)
			require.True(c, strings.Contains(body, `"input":`+input+`,`), "the input of %s is another one", id)
			delete(inputs, id)
		}

		for range 4 {
			submit()
		}
		one := c.Queue("GET", "job-take/w?job_in_progress=0", "")
		has(one.JSON["id"].(string), string(one.Body))
		batch := c.Queue("GET", "job-take-batch/w?batch_size=3", "")
		for id := range inputs {
			has(id, string(batch.Body))
		}

		held := c.hold(func() Answer { return c.Queue("GET", "job-take/w?job_in_progress=0", "") })
		submit()
		last := <-held
		has(last.JSON["id"].(string), string(last.Body))
		require.Empty(c, inputs)
	})

	add("bounds.batches", []string{"createEndpoint", "takeJobs"}, func(c *Check) {
		const each, jobs, batches = 120_000, 67, 4 // a batch is as large as one may be
		q := c.on(c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`))
		inputs := map[string][32]byte{}
		for range batches {
			for range jobs {
				input := fmt.Sprintf(`{"n":%d,"text":%s}`, len(inputs), numbered(each))
				inputs[q.submit(`{"input":`+input+`}`)] = sha256.Sum256([]byte(input))
			}
		}

		for range batches - 1 {
			conn := c.dial()
			_ = conn.(*net.TCPConn).SetReadBuffer(4096)
			_, err := io.WriteString(conn, q.head("GET", "job-take-batch/slow?batch_size=1000&job_in_progress=1", c.Key))
			require.NoError(c, err)
			begun := make([]byte, len("HTTP/1.1 200"))
			_, err = io.ReadFull(conn, begun)
			require.NoError(c, err)
			require.Equal(c, "HTTP/1.1 200", string(begun), "it has taken a batch")
		}

		batch := q.Queue("GET", "job-take-batch/w?batch_size=1000&job_in_progress=1", "")
		require.Equal(c, 200, batch.Status)
		var taken []struct {
			ID    string
			Input json.RawMessage
		}
		require.NoError(c, json.Unmarshal(batch.Body, &taken))
		require.Len(c, taken, jobs)
		for _, one := range taken {
			require.Equal(c, inputs[one.ID], sha256.Sum256(one.Input))
		}
	})

	add("bounds.texts", []string{"createTemplate", "getTemplate"}, func(c *Check) {
		env := numbered(900_000)
		path := "/v2/templates/" + c.make("/v2/templates", c.edited(plainTemplate, `"env":{"A":`+env+`}`))["id"].(string)
		for range 30 {
			conn := c.dialTo(c.URL)
			_ = conn.(*net.TCPConn).SetReadBuffer(4096)
			_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n", path, c.Key)
			require.NoError(c, err)
		}

		var all sync.WaitGroup
		answers := make([]Answer, 5)
		for i := range answers {
			all.Go(func() { answers[i] = c.REST("GET", path, "") })
		}
		all.Wait()
		for _, a := range answers {
			require.Equal(c, 200, a.Status)
			require.True(c, strings.Contains(string(a.Body), `"env":{"A":`+env+`}`))
		}
	})

	add("bounds.root", nil, func(c *Check) {
		get := func(accept, host string) (int, string) {
			req, err := http.NewRequestWithContext(c.context(), "GET", c.URL+"/", nil)
			require.NoError(c, err)
			req.Host = host
			req.Header.Set("Accept", accept)
			res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
			require.NoError(c, err)
			require.NoError(c, res.Body.Close())
			return res.StatusCode, res.Header.Get("Location")
		}

		const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
		if status, _ := get(browser, ""); status == 401 {
			c.Skip("the target serves no pages")
		}
		status, to := get(browser, "")
		require.Equal(c, 302, status)
		require.Contains(c, []string{"/console", "/docs"}, to)

		for _, accept := range []string{"*/*", "", "application/json", "text/html;q=0, */*"} {
			status, to = get(accept, "")
			require.Equal(c, 401, status, accept)
			require.Empty(c, to)
		}

		require.Equal(c, 404, c.REST("GET", "/", "").Status)
		require.Equal(c, 405, c.REST("POST", "/v2/openapi.json", "{}").Status)
	})

	add("bounds.head", nil, func(c *Check) {
		for _, path := range []string{"/healthz", "/readyz", "/v2/openapi.json", "/openapi/queue.json", "/console", "/docs"} {
			answers := map[string]http.Header{}
			for _, method := range []string{"GET", "HEAD"} {
				req, err := http.NewRequestWithContext(c.context(), method, c.URL+path, nil)
				require.NoError(c, err)
				res, err := client.Do(req)
				require.NoError(c, err)
				body, err := whole(res.Body)
				require.NoError(c, err)
				require.NoError(c, res.Body.Close())
				if method == "GET" && res.StatusCode == 401 { // it is not served
					break
				}
				require.Equal(c, 200, res.StatusCode, "%s %s", method, path)
				require.True(c, method == "GET" || len(body) == 0)
				answers[method] = res.Header
			}
			require.Equal(c, answers["GET"].Get("Content-Type"), answers["HEAD"].Get("Content-Type"), path)
		}
	})

	add("bounds.hosts", nil, func(c *Check) {
		get := func(path, host, key string) int {
			req, err := http.NewRequestWithContext(c.context(), "GET", c.URL+path, nil)
			require.NoError(c, err)
			if req.Host = host; key != "" {
				req.Header.Set("Authorization", "Bearer "+key)
			}
			res, err := client.Do(req)
			require.NoError(c, err)

			defer func() { _ = res.Body.Close() }()
			body, err := whole(res.Body)
			require.NoError(c, err)
			if res.StatusCode == 403 {
				require.Contains(c, string(body), "host name")
			}

			return res.StatusCode
		}

		pages := []string{"/v2/openapi.json", "/openapi/queue.json", "/openapi/worker.json", "/healthz", "/readyz"}
		for _, path := range []string{"/console", "/console/pods", "/docs", "/docs/rest", graphqlPath} { // where they are served
			if get(path, "127.0.0.1", "") == 200 {
				pages = append(pages, path)
			}
		}

		if get(pages[0], "rebound.example", "") == 200 && get(pages[0], "other.example:80", "") == 200 {
			c.Skip("the target has any host name")
		}
		for _, path := range pages {
			for _, host := range []string{"rebound.example", "rebound.example:8765", "127.0.0.1.rebound.example"} {
				require.Equal(c, 403, get(path, host, ""), "%s at %s", path, host)
			}
			for _, host := range []string{"127.0.0.1", "127.0.0.1:1", "[::1]:8765", "localhost", "berth", "berth:8765"} {
				require.Equal(c, 200, get(path, host, ""), "%s at %s", path, host)
			}
		}

		require.Equal(c, 200, get("/v2/pods", "rebound.example", c.Key), "what asks for a key")
		require.Equal(c, 401, get("/v2/pods", "rebound.example", ""))
	})
})
