package conformance

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// queueLimits are the published numbers of requests in ten seconds, each with a request that counts and does nothing.
var queueLimits = []struct {
	operation, method, path, body string
	n                             int
}{
	{"run", "POST", "run", "{}", 1000},
	{"runsync", "POST", "runsync", "{}", 2000},
	{"status", "GET", "status/nosuchjob", "", 2000},
	{"stream", "GET", "stream/nosuchjob", "", 2000},
	{"cancel", "POST", "cancel/nosuchjob", "", 100},
	{"purge-queue", "POST", "purge-queue", "", 2},
	{"openai", "POST", "openai" + chat, "[]", 2000},
}

// queueRates runs f while the clock stands still and the published limits hold.
func (c *Check) queueRates(f func()) {
	c.limit = true
	c.set("PUT", "quotas", `{"minute":1000000,"hour":1000000,"day":1000000,"queue":"published"}`)
	defer c.set("POST", "reset", "")
	c.frozen(f)
}

// overLimit sends the request n times, and gives how many were refused with 429.
func (c *Check) overLimit(n int, r Request) int {
	const workers = 8
	refused := make(chan bool, n)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < n; i += workers {
				req, err := http.NewRequest(r.Method, r.URL, strings.NewReader(r.Body))
				require.NoError(c, err)
				req.Header.Set("Authorization", r.Key)
				req.Header.Set("Content-Type", "application/json")
				res, err := client.Do(req)
				require.NoError(c, err)
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				refused <- res.StatusCode == 429
			}
		})
	}

	all.Wait()
	close(refused)
	count := 0
	for is := range refused {
		if is {
			count++
		}
	}

	return count
}

// limitedAs gives the operation with which an operation of the queue shares its limit; empty: it has none.
func limitedAs(path string) string {
	switch operation := strings.Split(path, "/")[3]; operation {
	case "status-sync":
		return "status"
	case "retry", "health", "metrics":
		return ""
	default:
		return operation
	}
}

var _ = area(func() {
	add("queue.rates.preset", []string{"run", "runSync", "status", "statusSync", "stream", "cancel", "purgeQueue"}, func(c *Check) {
		for range 3 {
			require.Equal(c, 200, c.Queue("POST", "purge-queue", "").Status, "there is no limit by default")
		}
		c.queueRates(func() {
			_, key := c.newKey(`,"user":"counted"`, "all") // whose endpoint it is not: refused requests count too
			base := c.QueueURL + "/v2/" + c.Endpoint + "/"
			for _, l := range queueLimits {
				r := Request{Method: l.method, URL: base + l.path, Body: l.body, Key: key}
				require.Zero(c, c.overLimit(l.n, r), l.operation)
				require.Equal(c, 8, c.overLimit(8, r), l.operation)
			}

			for _, op := range c.Operations() {
				if op.Document != "queue" {
					continue
				}
				r := Request{Method: op.Method, URL: c.QueueURL + strings.Replace(op.Path, "endpointId", c.Endpoint, 1), Key: key}
				if op.Body {
					r.Body = job
				}
				a := c.Send(r)
				if limitedAs(op.Path) == "" {
					c.Refused(a, 404)
					continue
				}

				c.Refused(a, 429)
				require.NotEmpty(c, a.Header.Get("Retry-After"))
			}
		})
	})

	add("queue.rates.exceeded", []string{"purgeQueue", "cancel"}, func(c *Check) {
		c.queueRates(func() {
			purge := func(key, endpoint string) Answer {
				return c.Send(Request{Method: "POST", URL: c.QueueURL + "/v2/" + endpoint + "/purge-queue", Key: key})
			}
			for range 2 {
				require.Equal(c, 200, purge(c.Key, c.Endpoint).Status)
			}
			a := purge(c.Key, c.Endpoint)
			c.Refused(a, 429)
			require.NotContains(c, a.JSON, "status")
			require.Equal(c, a.JSON["detail"], a.JSON["error"])
			require.Contains(c, a.JSON["detail"], "purge-queue")

			c.Refused(c.Queue("POST", "cancel/nosuchjob", ""), 404)
			c.Refused(purge(c.Key, "otherendpoint1"), 404)
			_, other := c.newKey(`,"user":"other"`, "all")
			c.Refused(purge(other, c.Endpoint), 404)
			_, exempt := c.newKey(`,"exempt":true`, "all")
			for range 3 {
				require.Equal(c, 200, purge(exempt, c.Endpoint).Status)
			}
			seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
			require.NoError(c, err)
			require.Positive(c, seconds)
			require.LessOrEqual(c, seconds, 10)

			if seconds > 2 {
				c.advance(time.Duration(seconds-2) * time.Second)
				c.Refused(purge(c.Key, c.Endpoint), 429)
				seconds = 2
			}

			c.advance(time.Duration(seconds) * time.Second)
			require.Equal(c, 200, purge(c.Key, c.Endpoint).Status)
		})
	})
})
