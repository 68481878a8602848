package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
)

// judged is how rules fared, as the JUnit file says.
type judged struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Skipped  int `xml:"skipped,attr"`
	Cases    []struct {
		Name    string  `xml:"name,attr"`
		Time    float64 `xml:"time,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
			Text    string `xml:",chardata"`
		} `xml:"failure"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
	} `xml:"testcase"`
}

// judge runs berth conformance, and asserts its exit code and that the JUnit file has every rule that was asked for.
func judge(ctx context.Context, t *testing.T, code, rules int, args ...string) (judged, ran) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "junit.xml")
	r := call(ctx, "", append([]string{"conformance", "--junit", path}, args...)...)
	require.Equal(t, code, r.code, r.err)

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var j judged
	require.NoError(t, xml.Unmarshal(text, &j))
	require.Len(t, j.Cases, rules)

	failures, skipped := 0, 0
	for _, c := range j.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Skipped != nil {
			require.NotEmpty(t, c.Skipped.Message, c.Name)
			skipped++
		}
	}

	require.Equal(t, []int{rules, failures, skipped}, []int{j.Tests, j.Failures, j.Skipped})
	return j, r
}

var allRules = func() int {
	rules, err := conformance.RulesOf("")
	if err != nil {
		panic(err)
	}
	return len(rules)
}()

func TestConformance_HoldsOnADefaultServerAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}, "echo")
	key := s.server.FirstKey()
	lists := func() (all []string) {
		for _, path := range []string{
			"/v2/pods?includeClusterPods=true", "/v2/clusters", "/v2/serverless", "/v2/templates", "/v2/network-volumes", "/v2/global-volumes", "/v2/registries",
			"/v2/registries/delegations", "/v2/account/ssh-keys",
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL()+path, nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+key)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)

			var list any
			require.NoError(t, json.NewDecoder(res.Body).Decode(&list))
			require.NoError(t, res.Body.Close())
			text, err := json.Marshal(list)
			require.NoError(t, err)
			all = append(all, path+" "+string(text))
		}

		return all
	}

	before := lists()
	echo := string(s.server.Endpoints()["echo"])
	rules := []string{"auth", "account", "clusters.create", "delegations", "graphql.registries", "queue.run", "queue.webhook", "volumes", "serverless.delete", "templates"}
	asked, err := conformance.Select("", rules, nil, nil)
	require.NoError(t, err)

	// The endpoint has workers: the rules make one of their own.
	j, r := judge(t.Context(), t, 0, len(asked), "--target", s.server.URL(), "--key", key, "--endpoint", echo, "--only", strings.Join(rules, ","), "--shuffle", "7")
	require.Empty(t, r.err)
	for _, c := range j.Cases {
		if c.Name == "queue.webhook" || c.Name == "serverless.delete.jobs" {
			require.Contains(t, c.Skipped.Message, "no webhook of the target came")
		}
	}

	require.Equal(t, before, lists())
}

func TestConformance_ReportsATargetThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	url, key := s.server.URL(), s.server.FirstKey()
	for why, args := range map[string][]string{
		"401: ": {"--key", "x"}, "401:": {"--key", key[:len(key)-4] + "aaaa"}, "no endpoint nosuchendpoint": {"--key", key, "--endpoint", "nosuchendpoint"},
		"no endpoint nosuch1": {"--key", key, "--managed-endpoint", "nosuch1"}, "the test controls": {"--key", key, "--endpoint", "x", "--controls-key", "x"},
	} {
		j, r := judge(t.Context(), t, exitRefused, allRules, append(args, "--target", url)...)
		require.Equal(t, allRules, j.Skipped)
		require.Contains(t, r.err, "berth: the target refuses to be checked: ")
		require.Contains(t, r.err, why)
		require.Contains(t, j.Cases[0].Skipped.Message, why)
		require.NotContains(t, r.err+r.out, key)
	}

	j, r := judge(t.Context(), t, exitUnreached, allRules, "--target", "http://127.0.0.1:1", "--key", key)
	require.Equal(t, allRules, j.Skipped)
	require.Contains(t, r.err, "berth: the target does not answer: 127.0.0.1:1: ")
}

// The answers of a server that is none like ours.
func TestConformance_AnotherServerOnlyFailsRules(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{}`, `[]`, `null`, `{"pods":{},"id":7,"errors":{},"workers":[],"status":[]}`, `<html>`} {
		var requests atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			w.Header().Set("Content-Type", "application/json")
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = w.Write([]byte(answer))
		}))

		_, _ = judge(t.Context(), t, exitFailed, allRules, "--target", other.URL, "--key", "x", "--patience", "1ms")
		require.Greater(t, requests.Load(), int64(allRules/2))
		other.Close()
	}
}

func TestConformance_FailureShowsRequestAnswerAndExpectation(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"pods":[]}`))
	}))
	defer other.Close()
	j, r := judge(t.Context(), t, exitFailed, 1, "--target", other.URL, "--key", "brt_secret_key", "--only", "pods.get.unknown")
	want := "rule      An unknown pod is 404. (decided, decisions: REST)\n" +
		"request   GET " + other.URL + "/v2/pods/nosuchpod\n" +
		"answer    200 application/json {\"pods\":[]}\n" +
		"expected  "
	require.True(t, strings.HasPrefix(j.Cases[0].Failure.Text, want), j.Cases[0].Failure.Text)
	require.NotEmpty(t, j.Cases[0].Failure.Message)
	require.Positive(t, j.Cases[0].Time)
	require.Contains(t, r.out, "FAIL     pods.get.unknown\n")
	for _, never := range []string{"brt_secret_key", "Trace", ".go:", "goroutine"} {
		require.NotContains(t, r.out+r.err, never)
	}
}

func TestConformance_WritesAPageWhateverComesOfTheRun(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"pods":["<script>alert(1)</script>"]}`))
	}))
	defer other.Close()
	path := filepath.Join(t.TempDir(), "report.html")
	read := func() string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(text), "</html>\n"))
		return string(text)
	}

	_, _ = judge(t.Context(), t, exitFailed, 1, "--target", other.URL, "--key", "brt_secret_key", "--only", "pods.get.unknown", "--html", path)
	text := read()
	for _, want := range []string{"An unknown pod is 404.", "GET " + other.URL + "/v2/pods/nosuchpod", "&lt;script&gt;alert(1)", "1 of 1 rules were judged (100 %)"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "<script")
	require.NotContains(t, text, "brt_secret_key")

	_, r := judge(t.Context(), t, exitUnreached, allRules, "--target", "http://127.0.0.1:1", "--key", "x", "--html", path)
	require.Contains(t, r.out, "0 of "+strconv.Itoa(allRules)+" rules were judged (0 %)")
	require.Contains(t, read(), "The run ended before its rules: the target does not answer: 127.0.0.1:1: ")
}

// What is shown of the addresses is read by others.
func TestConformance_NothingShowsThePasswordOfTheTarget(t *testing.T) {
	t.Parallel()
	var named atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "Basic") {
			named.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"pods":[]}`))
	}))
	defer other.Close()
	path := filepath.Join(t.TempDir(), "report.html")
	at := strings.Replace(other.URL, "http://", "http://user4:hush4@", 1) + "/"
	j, r := judge(t.Context(), t, exitFailed, 2, "--target", at, "--queue-target", at, "--key", "brt_secret_key", "--only", "pods.get.unknown,auth.required", "--html", path)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, text := range []string{r.out, r.err, string(page), j.Cases[0].Failure.Text + j.Cases[1].Failure.Text} {
		require.NotContains(t, text, "hush4")
		require.NotContains(t, text, "user4")
	}
	require.Contains(t, string(page), "<code>"+other.URL+"/</code>")
	require.Contains(t, j.Cases[1].Failure.Text, "GET "+other.URL+"/v2/pods/nosuchpod\n")
	require.Zero(t, named.Load(), "a request without a key has none")
}

func TestConformance_RefusesAReportThatCannotBeWrittenBeforeItAsksAnything(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer other.Close()
	dir := t.TempDir()
	for _, flag := range []string{"--html", "--junit"} {
		for path, why := range map[string]string{filepath.Join(dir, "none", "report"): "no such file or directory", dir: "is a directory"} {
			r := call(t.Context(), "", "conformance", "--target", other.URL, "--key", "x", flag, path)
			require.Equal(t, exitFailed, r.code, r.err)
			require.Contains(t, r.err, path)
			require.Contains(t, r.err, why)
		}
	}
	require.Zero(t, requests.Load())
}

func TestConformance_WaitsInRealTimeOnRequest(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	args := []string{"--target", s.server.URL(), "--key", s.server.FirstKey(), "--only", "queue.stream.present,queue.ttl.status,queue.ttl.running"}
	needs := func(j judged) (all []string) {
		for _, c := range j.Cases {
			if c.Skipped != nil {
				_, need, _ := strings.Cut(c.Skipped.Message, "the target has no test controls; in real time the rule waits for ")
				all = append(all, need)
			}
		}
		return all
	}

	j, r := judge(t.Context(), t, 0, 5, args...)
	require.Equal(t, []string{"1s: --wait 1s", "10s: --wait 10s", "5s: --wait 5s", "30m0s: --wait 30m0s", "168h0m0s: --wait 168h0m0s"}, needs(j))
	require.Contains(t, r.out, "   1 were not: the target has no test controls; in real time the rule waits for 5s: --wait 5s\n")

	j, r = judge(t.Context(), t, 0, 5, append(args, "--wait", "1s")...)
	require.Equal(t, []string{"10s: --wait 10s", "5s: --wait 5s", "30m0s: --wait 30m0s", "168h0m0s: --wait 168h0m0s"}, needs(j))
	require.Contains(t, r.out, "PASS     queue.stream.present\n")
	require.GreaterOrEqual(t, j.Cases[0].Time, 1.0)

	r = call(t.Context(), "", "conformance", "--wait", "-1s")
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "--wait: -1s is no time to wait for")
}

// The rules of the edition that is named are checked, in requests that name it, and the page says which it is.
func TestConformance_JudgesATargetByEdition(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	path := filepath.Join(t.TempDir(), "report.html")
	target := []string{"--target", s.server.URL(), "--key", s.server.FirstKey(), "--area", "public,templates", "--html", path}
	_, err := conformance.Select("2.0.0", nil, nil, []string{"public"})
	require.Error(t, err, "the strict edition has none of its rules")
	asked, err := conformance.Select("public-2026-10", nil, nil, []string{"public", "templates"})
	require.NoError(t, err)
	for _, name := range []string{"public", "public-2026-10"} {
		j, r := judge(t.Context(), t, 0, len(asked), append(target, "--contract", name)...)
		require.Zero(t, j.Failures)
		require.Contains(t, r.out, "public ")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), "<dd>public-2026-10</dd>")
		require.Contains(t, string(text), "<td>public-2026-10 alone</td>")
	}
}

func TestConformance_InterruptedRunReportsWhatItSkipped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	var requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 50 {
			cancel()
			_, _ = io.Copy(io.Discard, r.Body) // it is seen only then that the client hangs up
			<-r.Context().Done()
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	defer other.Close()

	j, r := judge(ctx, t, exitInterrupted, allRules, "--target", other.URL, "--key", "x")
	require.Contains(t, r.err, "berth: interrupted\n")
	require.Greater(t, j.Skipped, allRules/2)
}

func TestConformance_EndsWithItsTarget(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) > 50 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	defer other.Close()
	j, r := judge(t.Context(), t, exitUnreached, allRules, "--target", other.URL, "--key", "x", "--patience", "1s")
	require.Contains(t, r.err, "berth: the target does not answer: ")
	require.Greater(t, j.Skipped, allRules/2)
}

// A target without anything, whose limits refuse some requests for so many seconds: the first three are to see whether it can be
// checked.
func TestConformance_WaitsForLimitsOfRequests(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	refused := map[int64]string{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		if after := refused[requests.Add(1)]; after != "" {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"title":"t","detail":"d","status":429}`))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"title":"t","detail":"d","status":404}`))
	}))
	defer other.Close()
	refused[2], refused[5] = "1", "1"

	start := time.Now()
	_, r := judge(t.Context(), t, 0, 1, "--target", other.URL, "--key", "x", "--only", "pods.get.unknown")
	require.GreaterOrEqual(t, time.Since(start), 2*time.Second)
	require.Contains(t, r.err, "takes no more requests of this key for 1s: waiting")

	rules, err := conformance.Select("", []string{"pods", "queue.run"}, []string{"pods.logs"}, []string{"pods"})
	require.NoError(t, err)
	for _, n := range []int64{1, 3, 4} {
		requests.Store(0)
		clear(refused)
		refused[n] = "3600"
		j, r := judge(t.Context(), t, exitRefused, len(rules), "--target", other.URL, "--key", "x", "--area", "pods", "--only", "pods,queue.run", "--skip", "pods.logs")
		require.Contains(t, r.err, "its limits refuse requests for 1h0m0s")
		require.Positive(t, j.Skipped)
	}
}
