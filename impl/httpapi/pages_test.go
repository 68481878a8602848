package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/store"
)

// socket sends requests to a server over a socket.
type socket struct {
	assert.TestingT
	url, token string
}

// ask gives the status and the body; 0 after a failure.
func (a socket) ask(method, path, body string) (int, []byte) {
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body)) //nolint:noctx // the server ends after the test
	if !assert.NoError(a, err) {
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if !assert.NoError(a, err) {
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	assert.NoError(a, err)
	return res.StatusCode, text
}

// TestPages_ListPodsOnceWhileOthersComeAndGo creates and terminates pods between and during the reads of pages: those that lasted
// throughout are listed once each, and none twice.
func TestPages_ListPodsOnceWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	e := open(t)
	const count = 10_000
	id := func(i int) string { return fmt.Sprintf("pod%011d", i) }
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		for i := range count {
			err := tx.InsertPod(compute.Pod{
				ID: compute.PodID(id(i)), UserID: "u", Name: "a", Image: "i", Ports: []string{}, Env: map[string]string{}, Cloud: compute.Secure,
				CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, Status: compute.PodExited, Version: 1,
				CreatedAt: tx.Wall().Add(time.Duration(i/7) * time.Millisecond), // of the same time, and later than some that come
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))

	server := httptest.NewServer(e.echo)
	t.Cleanup(server.Close)
	a := socket{t, server.URL, e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})}

	gone, changes, over, changed := map[string]bool{}, make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(changed)
		for i := 0; ; i++ {
			status, text := a.ask("POST", "/v2/pods", pod)
			var made rest.Pod
			assert.Equal(t, 201, status, "%s", text)
			assert.NoError(t, json.Unmarshal(text, &made))
			e.clock.Advance(5 * time.Millisecond)
			old := id(i * 7919 % count)
			gone[old] = true
			for _, end := range []string{old, made.ID}[:1+i%2] {
				status, text = a.ask("DELETE", "/v2/pods/"+end, "")
				assert.Equal(t, 204, status, "%s", text)
			}

			select {
			case changes <- struct{}{}:
			case <-over:
				return
			}
		}
	}()

	status, text := a.ask("GET", "/v2/pods", "")
	var first rest.PodList
	require.Equal(t, 200, status)
	require.NoError(t, json.Unmarshal(text, &first))
	require.Len(t, first.Pods, 1000, "as many as a page has without limit")

	seen := map[string]int{}
	for query, more := "limit=100", true; more; {
		status, text := a.ask("GET", "/v2/pods?"+query, "")
		require.Equal(t, 200, status, "%s", text)
		var page rest.PodList
		require.NoError(t, json.Unmarshal(text, &page))
		for _, p := range page.Pods {
			seen[p.ID]++
		}
		if more = page.Pagination.HasNextPage; more {
			require.Len(t, page.Pods, 100)
			query = "limit=100&cursor=" + url.QueryEscape(page.Pagination.NextCursor.MustGet())
		}
		<-changes
	}
	close(over)
	<-changed

	for one, times := range seen {
		require.Equal(t, 1, times, one)
	}
	for i := range count {
		require.True(t, gone[id(i)] || seen[id(i)] == 1, id(i))
	}
	require.Greater(t, len(gone), 50)
}

// TestPages_EndBeforeTheyAreTooLarge lists templates of a megabyte each: each page has as many as there is room for, and one in any case.
func TestPages_EndBeforeTheyAreTooLarge(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	const count, size = 24, 700_000
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
		for i := range count {
			one := compute.Template{ID: compute.TemplateID(fmt.Sprint(i)), UserID: "u", Category: compute.ForCPU, DiskGB: 1, Ports: []string{}, CUDAVersions: []string{}, Env: map[string]string{"A": strings.Repeat("x", size)}, CreatedAt: tx.Wall()}
			if err := tx.InsertTemplate(one); err != nil {
				return err
			}
		}
		return nil
	}))

	key := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	walk := func() (sizes []int) {
		seen := map[string]bool{}
		for query, more := "", true; more; {
			answer := e.call("GET", "/v2/templates"+query, key, "")
			require.Equal(t, 200, answer.Code)
			require.Less(t, answer.Body.Len(), 4<<20)
			var page rest.TemplateList
			require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &page))
			for _, one := range page.Templates {
				require.False(t, seen[one.ID], one.ID)
				seen[one.ID] = true
			}
			sizes = append(sizes, len(page.Templates))
			if more = page.Pagination.HasNextPage; more {
				query = "?cursor=" + url.QueryEscape(page.Pagination.NextCursor.MustGet())
			}
		}
		require.Len(t, seen, count, "none is missing")
		return sizes
	}
	require.Equal(t, []int{5, 5, 5, 5, 4}, walk())

	leave, free := answers.Try("one", 20_000_000)
	require.True(t, free, "what the pages had is given back")
	more, free := answers.Try("other", 11_000_000)
	require.True(t, free)
	require.Len(t, walk(), count, "without memory for large answers a page is small, and nobody waits")
	leave()
	more()
}
