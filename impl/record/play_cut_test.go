package record_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// numbered is a service that answers with the number of the request, once it has read it.
func numbered() http.HandlerFunc {
	n := 0
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n++
		answering(`{"n":`+strconv.Itoa(n)+`}`)(w, r)
	}
}

func TestPlayer_AnswersRequestsThatWereNotKeptToTheirEnd(t *testing.T) {
	t.Parallel()
	long := func(n int, end string) string { return `{"name":"` + strings.Repeat("a", n) + end + `"}` }
	pem := strings.Repeat("key", 3000) // what was kept ends in it, and what was seen
	requests := []struct{ name, path, body string }{
		{"one", "/v2/own", long(2000, "b")},
		{"the same beginning, and longer", "/v2/own", long(2001, "b")},
		{"kept to its end", "/v2/own", `{"name":"short"}`},
		{"longer than what is seen of any", "/v2/own", long(2<<20, "")},
		{"no text", "/v2/own/run", strings.Repeat("\xff", 2000)},
		{"a character is cut", "/v2/own/run", strings.Repeat("a", 999) + strings.Repeat("ü", 500)},
		{"a secret is cut", "/v2/secrets", `{"name":"` + strings.Repeat("a", 900) + `","value":"` + pem + `"}`},
		{"a secret makes it short", "/v2/secrets", `{"value":"` + pem[:3000] + `","name":"` + strings.Repeat("a", 4000) + `"}`},
		{"GraphQL", "/graphql", `{"query":"mutation A($a:String!){secretCreate(input:{name:$a,value:\"hush\"}){id}}","variables":{"a":"` + strings.Repeat("a", 2000) + `"}}`},
		{"GraphQL that is not looked into", "/graphql", `{"query":"{myself{id}}","variables":{"a":"` + strings.Repeat("a", 2<<20) + `"}}`},
	}
	address, file := recorder(t, upstream(t, numbered()), record.Settings{Body: 1000})
	for _, r := range requests {
		sent(t, "POST", address+r.path, r.body)
	}
	played := player(t, file)

	for i, r := range requests {
		for range 2 {
			res, body := sent(t, "POST", played+r.path, r.body)
			require.Equal(t, http.StatusOK, res.StatusCode, "%s: %s", r.name, body)
			require.JSONEq(t, `{"n":`+strconv.Itoa(i+1)+`}`, body, r.name)
		}
	}
	for name, body := range map[string]string{"another beginning": strings.Replace(long(2000, "b"), "a", "c", 5), "another length": long(2002, "b")} {
		res, said := sent(t, "POST", played+"/v2/own", body)
		require.Equal(t, http.StatusNotFound, res.StatusCode, "%s: %s", name, said)
	}
	res, said := sent(t, "POST", played+"/v2/own", long(3<<20, ""))
	require.Equal(t, http.StatusBadRequest, res.StatusCode, said)
}

func TestPlayer_OfBodiesThatWereNotKeptSaysHowLongTheyWere(t *testing.T) {
	t.Parallel()
	x := exchange(1, "POST", "/v2/own", `{"name":"aaa`, 200, `{}`)
	x.Operation = "unknown"
	x.Request.Truncated, x.Request.Length = true, 100
	first, second := x, x
	second.Number, second.Response.Body = 2, `{"n":2}`
	address, _ := playing(t, first, second)

	body := `{"name":"aaa` + strings.Repeat("b", 86) + `"}`
	for _, want := range []string{`{}`, `{"n":2}`, `{"n":2}`} {
		_, got := sent(t, "POST", address+"/v2/own", body)
		require.JSONEq(t, want, got, "in their order")
	}
	_, got := sent(t, "POST", address+"/v2/own", `{"name":"aab"}`)
	require.Contains(t, got, `; length of the body is 14, recorded is 100; beginning of the body is {\"name\":\"aab, recorded is {\"name\":\"aaa`)
}
