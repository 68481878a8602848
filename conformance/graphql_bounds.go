package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
)

// many gives a field n times under different names.
func many(n int, field string) string {
	fields := []string{}
	for i := range n {
		fields = append(fields, fmt.Sprintf(field, i))
	}
	return strings.Join(fields, " ")
}

// heavy asks for about as much as a document without a key may.
func heavy() string {
	return "{" + many(30, `a%d:gpuTypes{id lowestPrice(input:{gpuCount:1}){stockStatus minVcpu}}`) + "}"
}

var _ = area(func() {
	add("graphql.anonymous.size", nil, func(c *Check) {
		body := func(bytes int) string {
			return `{"query":"{gpuTypes{id}}","variables":{"a":"` + strings.Repeat("x", bytes) + `"}}`
		}
		for bytes, status := range map[int]int{60_000: 200, 70_000: 413, 2_000_000: 413} {
			a := c.Send(Request{Method: "POST", URL: c.URL + graphqlPath, Body: body(bytes), Key: "-"})
			require.Equal(c, status, a.Status)
			if status == 413 {
				c.wrongly(a, 413, "REJECTED")
			}
		}

		c.data(c.raw(body(900_000)))
	})

	add("graphql.bytes", []string{"createTemplate"}, func(c *Check) {
		l := c.newLister()
		for range 10 {
			l.add(templates, plainTemplate[:len(plainTemplate)-1]+`,"env":{"A":"`+strings.Repeat("x", 900_000)+`"}}`)
		}
		once := `a:myself{podTemplates{id}}`
		data := c.data(c.graphQLAs(l.key, "{"+once+"}", nil))
		require.Len(c, data["a"].(map[string]any)["podTemplates"], 10)
		var a Answer
		for _, document := range []string{"{" + once + ` b:myself{podTemplates{id}}}`, `{myself{podTemplates{id env{a:value b:value}}}}`} {
			a = c.graphQLAs(l.key, document, nil)
			require.Contains(c, c.wrongly(a, 200, "REJECTED"), "GET /v2/templates")
		}

		name, env := c.worker("large"), []any{map[string]any{"key": "A", "value": strings.Repeat("x", 900_000)}}
		a = c.graphQLAs(l.key, `mutation($env:[EnvironmentVariableInput]){createCluster(input:{clusterName:"`+name+`",gpuTypeId:"NVIDIA L4",imageName:"i",podCount:20,env:$env}){id pods{env}}}`, map[string]any{"env": env})
		require.Contains(c, c.wrongly(a, 200, "REJECTED"), "POST /v2/clusters")
		require.NotContains(c, string(l.send("GET", clusters, "").Body), name)
	})

	add("graphql.anonymous.values", nil, func(c *Check) {
		c.data(c.graphQLAs("-", heavy(), nil))
		more := `{` + many(6, `a%d:dataCenters{gpuAvailability{id available stockStatus}}`) + `}`
		require.Contains(c, c.wrongly(c.graphQLAs("-", more, nil), 400, "REJECTED"), "lists in lists")
		c.data(c.graphQL(more))
	})

	add("graphql.anonymous.processor", nil, func(c *Check) {
		body, err := json.Marshal(map[string]string{"query": heavy()})
		require.NoError(c, err)
		both, enough := context.WithTimeout(c.context(), c.suite.patience())
		defer enough()

		var mu sync.Mutex
		var all sync.WaitGroup
		var refused Answer
		seen := map[int]int{}
		for range 120 {
			all.Go(func() { // again and again: a busy machine sends them slowly, and serves what it is sent
				for both.Err() == nil {
					req, _ := http.NewRequestWithContext(both, http.MethodPost, c.URL+graphqlPath, bytes.NewReader(body))
					req.Header.Set("Content-Type", "application/json")
					a, err := do(req)
					if err != nil {
						return
					}

					mu.Lock()
					if seen[a.Status]++; a.Status == 429 {
						refused = a
					}
					if seen[200] > 0 && seen[429] > 0 { // those that wait for their turn need not be served
						enough()
					}
					mu.Unlock()
				}
			})
		}

		all.Wait()
		require.Contains(c, seen, 200)
		require.Contains(c, seen, 429)
		require.Len(c, seen, 2)
		require.NoError(c, json.Unmarshal(refused.Body, &refused.JSON))

		c.wrongly(refused, 429, "TOO_MANY")
		require.NotEmpty(c, refused.Header.Get("Retry-After"))
		c.data(c.graphQL(heavy()))
		c.limit = true // the rest of the line leaves it when its connections are seen to be gone
		c.Eventually(func() bool { return c.graphQLAs("-", `{gpuTypes{id}}`, nil).Status == 200 }, "those without a key are served again")
	})

	add("graphql.size.values", nil, func(c *Check) {
		body := func(n int) string {
			return `{"query":"{myself{id}}","variables":{"a":[` + strings.Join(slices.Repeat([]string{"{}"}, n), ",") + `]}}`
		}
		c.data(c.raw(body(10_000)))
		require.Contains(c, c.wrongly(c.raw(body(30_000)), 400, "REJECTED"), "values")

		deep := strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000)
		c.wrongly(c.raw(`{"query":"{myself{id}}","variables":{"a":`+deep+`}}`), 400, "REJECTED")

		// A path for each of many members below a long name would take gigabytes.
		members := strings.ReplaceAll(many(15_000, `"%d":0`), " ", ",")
		c.data(c.raw(`{"query":"{myself{id}}","variables":{"` + strings.Repeat("n", 500_000) + `":{` + members + `}}}`))
	})

	add("graphql.values", nil, func(c *Check) {
		const field = `a%d:dataCenters{gpuAvailability{id available stockStatus gpuTypeId}}`
		require.Contains(c, c.wrongly(c.graphQL(`{`+many(30, field)+`}`), 400, "REJECTED"), "lists in lists")
		c.data(c.graphQL(`{` + many(3, field) + `}`))
	})

	add("graphql.fragments", nil, func(c *Check) {
		var nested, circle strings.Builder
		for i := range 49 {
			fmt.Fprintf(&nested, " fragment F%d on __Schema{...F%d ...F%d}", i, i+1, i+1)
		}
		for i := range 9 {
			fmt.Fprintf(&circle, " fragment F%d on __Schema{%s}", i, many(9, "...F%d"))
		}
		for _, key := range []string{"", "-"} {
			require.Contains(c, c.wrongly(c.graphQLAs(key, `{__schema{...F0}}`+nested.String()+` fragment F49 on __Schema{types{name}}`, nil), 400, "REJECTED"), "too many fields")
			c.wrongly(c.graphQLAs(key, `{__schema{...F0}}`+circle.String(), nil), 400, "INVALID")
		}
		c.data(c.graphQL(`{...a} fragment a on Query{...b ...b} fragment b on Query{myself{id}}`))
	})

	add("graphql.repeats", nil, func(c *Check) {
		for _, document := range []string{
			`{` + strings.Repeat(`myself{id} `, 150) + `}`, `{myself{` + strings.Repeat(`id `, 150) + `}}`, `{...a} fragment a on Query{` + strings.Repeat(`...a `, 150) + `}`,
			`{myself{... on User{` + strings.Repeat(`id `, 150) + `}}}`,
		} {
			require.Contains(c, c.wrongly(c.graphQL(document), 400, "REJECTED"), "repeats")
		}
		c.data(c.graphQL(`{` + strings.Repeat(`myself{id} `, 50) + `}`))
	})
})
