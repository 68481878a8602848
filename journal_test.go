package berth_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// send sends a request to the server and reads the answer; header is Name: value, and an empty key sends none.
func send(t *testing.T, method, url, key, body string, headers ...string) (int, string) {
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}

	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text)
}

// entries gives the entries of the journal.
func entries(t *testing.T, s *berth.Server, f berth.JournalFilter) []berth.JournalEntry {
	list, err := s.Journal().Entries(t.Context(), f)
	require.NoError(t, err)
	return list
}

func journaled(t *testing.T) *berth.Server {
	return berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "echo"}}})
}

func TestJournal_HasWhatWasSentAndAnswered(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	s.Clock().Freeze()
	url := s.QueueURL() + "/v2/" + s.Endpoint("echo") + "/run"
	_, answer := send(t, "POST", url, s.Key(), `{"input":{"n":7}}`, "X-Trace: on")

	list := entries(t, s, berth.JournalFilter{})
	require.Len(t, list, 1)
	e := list[0]
	require.EqualValues(t, 1, e.Number)
	require.WithinDuration(t, s.Clock().Now(), e.Time, 0)
	require.Equal(t, "POST /v2/"+s.Endpoint("echo")+"/run", e.Method+" "+e.Path)
	require.Equal(t, "run", e.Operation)
	require.Equal(t, map[string]string{"endpoint": s.Endpoint("echo")}, e.Resources)
	require.Equal(t, "owner", e.User)
	require.Contains(t, s.Key(), "brt_"+e.KeyID+"_")
	require.Equal(t, `{"input":{"n":7}}`, e.Request.Body.Text)
	require.Contains(t, e.Request.Headers, berth.JournalHeader{Name: "X-Trace", Value: "on"})
	require.Contains(t, e.Request.Headers, berth.JournalHeader{Name: "Authorization", Value: "***"})
	require.EqualValues(t, 200, e.Status)
	require.Equal(t, answer, e.Response.Body.Text)
	require.EqualValues(t, len(answer), e.Response.Body.Length)
	require.Contains(t, e.Response.Headers, berth.JournalHeader{Name: "Content-Type", Value: "application/json"})

	send(t, "GET", s.URL()+"/healthz", "", "")
	send(t, "GET", s.ControlsURL()+"/clock", s.ControlsKey(), "")
	send(t, "GET", s.URL()+"/v2/openapi.json", "", "")
	require.Len(t, entries(t, s, berth.JournalFilter{}), 1, "what is none of the published interfaces")
	require.NoError(t, s.Journal().Clear(t.Context()))
	require.Empty(t, entries(t, s, berth.JournalFilter{}))
}

func TestJournal_HasBodiesThatNobodyRead(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	const body = `{"name":"a","image":"i"}`
	send(t, "POST", s.URL()+"/v2/pods", "nobody's", body)
	send(t, "POST", s.URL()+"/v2/nosuch/path/at/all", s.Key(), body)
	send(t, "DELETE", s.URL()+"/v2/pods/nosuchpod", s.Key(), body)
	status, _ := send(t, "PUT", s.ControlsURL()+"/faults", s.ControlsKey(), `{"faults":[{"operation":"createPod","status":503,"times":1},{"operation":"createPod","drop":true}]}`)
	require.Equal(t, 204, status)
	send(t, "POST", s.URL()+"/v2/pods", s.Key(), body)
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL()+"/v2/pods", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Key())
	_, err = http.DefaultClient.Do(req) //nolint:bodyclose // there is no answer
	require.Error(t, err)

	list := entries(t, s, berth.JournalFilter{})
	require.Len(t, list, 5)
	for i, e := range list {
		require.Equal(t, body, e.Request.Body.Text, i)
		require.EqualValues(t, len(body), e.Request.Body.Length)
		require.False(t, e.Request.Body.Truncated)
		require.Equal(t, []int64{401, 404, 404, 503, 0}[i], e.Status)
		require.Equal(t, []string{"createPod", "unknown", "deletePod", "createPod", "createPod"}[i], e.Operation)
	}

	require.Empty(t, list[0].KeyID)
	require.Nil(t, list[2].Fault)
	require.EqualValues(t, 503, *list[3].Fault.Status)
	require.True(t, list[4].Fault.Drop)
	require.Empty(t, list[4].Response.Headers)
}

func TestJournal_BoundsBodiesAndKnowsTheirLength(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	long := `{"input":{"x":"` + strings.Repeat("x", 200_000) + `"}}`
	url := s.QueueURL() + "/v2/" + s.Endpoint("echo") + "/run"
	status, _ := send(t, "POST", url, s.Key(), long)
	require.Equal(t, 200, status)
	status, _ = send(t, "POST", url, s.Key(), "\xff\xfe")
	require.Equal(t, 400, status)

	list := entries(t, s, berth.JournalFilter{})
	require.Equal(t, long[:64<<10], list[0].Request.Body.Text)
	require.EqualValues(t, len(long), list[0].Request.Body.Length)
	require.True(t, list[0].Request.Body.Truncated)
	require.Equal(t, "//4=", list[1].Request.Body.Text)
	require.True(t, list[1].Request.Body.Base64)
}

func TestJournal_HasStreamsWhenTheyEnd(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	_, text := send(t, "POST", s.URL()+"/v2/pods", s.Key(), `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	var pod struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(text), &pod))
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/v2/pods/"+pod.ID+"/logs", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Key())
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)

	operation := "getPodLogs"
	logs := berth.JournalFilter{Operation: &operation}
	require.Empty(t, entries(t, s, logs), "the stream goes on")
	require.NoError(t, res.Body.Close())
	require.Eventually(t, func() bool { return len(entries(t, s, logs)) == 1 }, time.Minute, time.Millisecond)
	e := entries(t, s, logs)[0]
	require.Contains(t, e.Response.Body.Text, strings.TrimSpace(line))
	require.Equal(t, map[string]string{"pod": pod.ID}, e.Resources)
}

func TestJournal_HasNoSecrets(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	const hidden = "hunter22hunter22"
	rest, queue := s.URL(), s.QueueURL()+"/v2/"+s.Endpoint("echo")
	graph := func(query, variables string) {
		body, err := json.Marshal(map[string]any{"query": query, "variables": json.RawMessage(variables)})
		require.NoError(t, err)
		send(t, "POST", s.GraphQLURL(), s.Key(), string(body))
		send(t, "POST", s.GraphQLURL()+"?api_key="+s.Key(), "", string(body))
	}

	for _, r := range [][]string{
		{"POST", rest + "/v2/registries", `{"name":"a","username":"u","password":"` + hidden + `"}`},
		{"POST", rest + "/v2/registries", `{"name":"a","username":"u","password":"` + hidden},
		{"POST", rest + "/v2/registries", `{"name":"a",password:"` + hidden + `"}`},
		{"POST", rest + "/v2/registrys", `{"name":"a","username":"u","password":"` + hidden + `"}`},
		{"POST", rest + "/v2/account/secrets", `{"name":"a","value":"` + hidden + `"}`},
		{"PATCH", rest + "/v2/account/secrets/x", `{"value":"` + hidden + `"}`},
		{"POST", rest + "/v2/pods", `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2},"env":{"DB_PASSWORD":"` + hidden + `","EPOCHS":"3"}}`},
		{"POST", queue + "/run", `{"input":{},"s3Config":{"accessId":"a","accessSecret":"` + hidden + `"},"webhook":"http://u:` + hidden + `@127.0.0.1:9/"}`},
		{"POST", queue + "/run", `{"input":{"key":"` + s.Key() + `"}}`},
		{"GET", rest + "/v2/pods?api_key=" + hidden, ""},
		{"GET", queue + "/job-take/" + s.Key(), ""},
	} {
		send(t, r[0], r[1], s.Key(), r[2], "Cookie: session="+hidden, "X-Api-Key: "+hidden)
	}
	send(t, "GET", rest+"/v2/pods", hidden, "")
	graph(`mutation{secretCreate(input:{name:"a",value:"`+hidden+`"}){id}}`, `null`)
	graph(`mutation($p:String!){saveRegistryAuth(input:{name:"g",username:"u",password:$p}){id}}`, `{"p":"`+hidden+`"}`)
	graph(`mutation($i:SecretCreateInput!){secretCreate(input:$i){id}}`, `{"i":{"name":"b","value":"`+hidden+`"}}`)
	graph(`mutation{podFindAndDeployOnDemand(input:{name:"a",imageName:"i",gpuTypeId:"NVIDIA L4",env:[{key:"A_TOKEN",value:"`+hidden+`"},{key:"N",value:"3"}]}){id env}}`, `null`)
	graph(`{myself{pods{id e:env}}}`, `null`)

	list := entries(t, s, berth.JournalFilter{})
	require.Len(t, list, 12+10)
	text, err := json.Marshal(list)
	require.NoError(t, err)
	require.NotContains(t, string(text), hidden)
	require.NotContains(t, string(text), s.Key())
	require.NotContains(t, string(text), "hunter22")
	require.Contains(t, list[6].Request.Body.Text, `"env":{"DB_PASSWORD":"***","EPOCHS":"3"}`)
	require.Contains(t, list[6].Response.Body.Text, `"EPOCHS":"3"`)
	require.Contains(t, list[7].Request.Body.Text, `"s3Config":{"accessId":"***","accessSecret":"***"`)
	require.Equal(t, []string{"secretCreate"}, list[12].Graphql.Fields)

	har, err := s.Journal().HAR(t.Context(), berth.JournalFilter{})
	require.NoError(t, err)
	require.NotContains(t, string(har), "hunter22")
	require.False(t, bytes.Contains(har, []byte(s.Key())))
}

func TestJournal_Verifies(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	send(t, "POST", s.QueueURL()+"/v2/"+s.Endpoint("echo")+"/run", s.Key(), `{"input":{"n":7}}`)
	run := func(n string) berth.Expectation {
		return berth.Expectation{Operation: new("run"), Body: []berth.BodyExpectation{{Pointer: "/input/n", Equals: json.RawMessage(n)}}}
	}
	berthtest.Verify(t, s, run("7"))

	result, err := s.Journal().Verify(t.Context(), berth.Verification{Expectations: []berth.Expectation{run("7"), run("8")}})
	require.NoError(t, err)
	require.False(t, result.Ok)
	require.Len(t, result.Failures, 1)
	require.EqualValues(t, 1, result.Failures[0].Expectation)
	require.Equal(t, "7", result.Failures[0].Nearest.Differences[0].Found)

	_, err = s.Journal().Verify(t.Context(), berth.Verification{Expectations: []berth.Expectation{{Operation: new("run"), Times: &berth.ExpectedTimes{Exactly: new(int64(1)), AtMost: new(int64(2))}}}})
	require.ErrorContains(t, err, "exactly stands alone")
	_, err = s.Journal().Entries(t.Context(), berth.JournalFilter{Status: new("nonsense")})
	require.ErrorContains(t, err, "status")
}

func TestJournal_ExportsHAR(t *testing.T) {
	t.Parallel()
	s := journaled(t)
	url := s.QueueURL() + "/v2/" + s.Endpoint("echo") + "/run"
	send(t, "POST", url+"?a=%20b", s.Key(), "\xff")
	archive, err := s.Journal().HAR(t.Context(), berth.JournalFilter{})
	require.NoError(t, err)
	var har struct {
		Log struct {
			Version string
			Entries []struct {
				Request struct {
					Method, URL, HTTPVersion string
					PostData                 map[string]string
					QueryString              []map[string]string
				}
				Response struct{ Content map[string]any }
			}
		}
	}
	require.NoError(t, json.Unmarshal(archive, &har))
	require.Equal(t, "1.2", har.Log.Version)
	require.Len(t, har.Log.Entries, 1)
	r := har.Log.Entries[0].Request
	require.Equal(t, url+"?a=%20b", r.URL)
	require.Equal(t, "HTTP/1.1", r.HTTPVersion)
	require.Equal(t, []map[string]string{{"name": "a", "value": " b"}}, r.QueryString)
	require.Equal(t, map[string]string{"mimeType": "application/json", "text": "/w==", "_encoding": "base64"}, r.PostData)
	require.Equal(t, "application/problem+json", har.Log.Entries[0].Response.Content["mimeType"])
}
