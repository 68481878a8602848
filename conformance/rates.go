package conformance

import (
	"regexp"
	"strconv"

	"github.com/stretchr/testify/require"
)

const (
	rateLimit = `^"minute";r=(\d+);t=(\d+), "hour";r=(\d+);t=(\d+), "day";r=(\d+);t=(\d+)$`
	policy    = `^"minute";q=(\d+);w=60, "hour";q=(\d+);w=3600, "day";q=(\d+);w=86400$`
)

// rates asserts the two headers and gives what is left in the minute and in the day.
func (c *Check) rates(a Answer) (minute, day int) {
	require.Regexp(c, policy, a.Header.Get("RateLimit-Policy"))
	parts := regexp.MustCompile(rateLimit).FindStringSubmatch(a.Header.Get("RateLimit"))
	require.NotNil(c, parts, a.Header.Get("RateLimit"))
	minute, err := strconv.Atoi(parts[1])
	require.NoError(c, err)
	day, err = strconv.Atoi(parts[5])
	require.NoError(c, err)
	return minute, day
}

// policyOf gives the quotas that the headers of an answer name, of a minute, an hour and a day; nil if they name none.
func policyOf(a Answer) []string {
	parts := regexp.MustCompile(policy).FindStringSubmatch(a.Header.Get("RateLimit-Policy"))
	if parts == nil {
		return nil
	}
	return parts[1:]
}

// limited runs f as a user who may make five requests an hour, with two keys of that user, one of which can only read.
func (c *Check) limited(f func(send func(key, method, path, body string) Answer, key, reader string)) {
	c.quotas(plenty, 5, plenty, func(key string) {
		_, reader := c.newKey(`,"user":"counted"`, "rest:read")
		f(func(key, method, path, body string) Answer {
			return c.Send(Request{Method: method, URL: c.URL + path, Body: body, Key: "Bearer " + key})
		}, key, reader)
	})
}

// exhausted is limited for a user who has made the five requests.
func (c *Check) exhausted(f func(send func(key, method, path, body string) Answer, key, reader string)) {
	c.limited(func(send func(key, method, path, body string) Answer, key, reader string) {
		for range 5 {
			require.Equal(c, 200, c.listPods(key).Status)
		}
		f(send, key, reader)
	})
}

var _ = area(func() {
	list := []string{"listPods"}
	add("rates.headers", []string{"listPods", "createPod", "deletePod"}, func(c *Check) {
		c.rates(c.REST("GET", "/v2/pods", ""))
		a := c.REST("POST", "/v2/pods", gpuPod)
		c.rates(a)
		c.rates(c.REST("DELETE", "/v2/pods/"+a.JSON["id"].(string), ""))
	})

	add("rates.headers.refused", []string{"listPods", "getPod", "createPod"}, func(c *Check) {
		c.needsControls()
		for status, r := range c.refusals() {
			if r.URL = c.URL + r.URL; status != 401 {
				c.rates(c.Send(r))
			}
		}
		c.rates(c.REST("GET", "/v2/nothing", ""))
		c.rates(c.inUnknown("/v2/pods", 400))
		c.rates(c.Send(Request{Method: "DELETE", URL: c.URL + "/v2/pods/x", Key: c.key("read")}))
	})

	add("rates.headers.anonymous", list, func(c *Check) {
		a := c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: "-"})
		require.Empty(c, a.Header.Get("RateLimit"))
		require.Empty(c, a.Header.Get("RateLimit-Policy"))
	})

	add("rates.format", list, func(c *Check) {
		h := c.REST("GET", "/v2/pods", "").Header
		require.Len(c, h.Values("RateLimit"), 1)
		require.Regexp(c, rateLimit, h.Get("RateLimit"))
		require.Regexp(c, policy, h.Get("RateLimit-Policy"))
	})

	add("rates.windows", list, func(c *Check) {
		left := c.resets()
		for i, length := range []int{60, 3600, 86400} {
			require.LessOrEqual(c, left[i], length)
			require.Positive(c, left[i])
		}
	})

	add("rates.fixed", list, func(c *Check) {
		first := c.resets()
		// The longest window is the least likely to be reset meanwhile.
		c.Eventually(func() bool { return c.resets()[2] < first[2] }, "the time to reset shrinks")
	})

	add("rates.counted", []string{"getPod"}, func(c *Check) {
		_, before := c.rates(c.REST("GET", "/v2/pods", ""))
		for i, path := range []string{"/v2/pods", "/v2/pods/nosuchpod", "/v2/nothing", "/v2/pods?nosuch=1"} {
			_, after := c.rates(c.REST("GET", path, ""))
			require.Equal(c, before-1-i, after, path)
		}
		_, after := c.rates(c.inUnknown("/v2/pods", 400))
		require.Equal(c, before-5, after, "in an edition that there is not")
	})

	add("rates.user", list, func(c *Check) {
		_, before := c.rates(c.REST("GET", "/v2/pods", ""))
		_, after := c.rates(c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: c.key("read")}))
		require.Equal(c, before-1, after)
	})

	add("rates.exempt", list, func(c *Check) {
		_, before := c.rates(c.REST("GET", "/v2/pods", ""))
		a := c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: c.key("exempt")})
		require.Equal(c, 200, a.Status)
		require.Empty(c, a.Header.Get("RateLimit"))
		require.Empty(c, a.Header.Get("RateLimit-Policy"))
		_, after := c.rates(c.REST("GET", "/v2/pods", ""))
		require.Equal(c, before-1, after)
	})

	add("rates.queue", []string{"health"}, func(c *Check) {
		_, before := c.rates(c.REST("GET", "/v2/pods", ""))
		require.Empty(c, c.Queue("GET", "health", "").Header.Get("RateLimit"))
		_, after := c.rates(c.REST("GET", "/v2/pods", ""))
		require.Equal(c, before-1, after)
	})

	add("rates.quotas", list, func(c *Check) {
		c.set("POST", "reset", "")
		policy := c.REST("GET", "/v2/pods", "").Header.Get("RateLimit-Policy")
		require.Equal(c, `"minute";q=1000;w=60, "hour";q=30000;w=3600, "day";q=500000;w=86400`, policy)
	})

	add("rates.settings", list, func(c *Check) {
		c.limited(func(send func(key, method, path, body string) Answer, key, _ string) {
			require.Contains(c, send(key, "GET", "/v2/pods", "").Header.Get("RateLimit-Policy"), `"hour";q=5;w=3600`)
		})
	})

	add("rates.exceeded", list, func(c *Check) {
		c.exhausted(func(send func(key, method, path, body string) Answer, key, _ string) {
			a := send(key, "GET", "/v2/pods", "")
			c.Refused(a, 429)
			require.Contains(c, a.JSON["detail"], "hour")
		})
	})

	add("rates.retry-after", list, func(c *Check) {
		c.exhausted(func(send func(key, method, path, body string) Answer, key, _ string) {
			a := send(key, "GET", "/v2/pods", "")
			wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
			require.NoError(c, err)
			parts := regexp.MustCompile(rateLimit).FindStringSubmatch(a.Header.Get("RateLimit"))
			require.NotNil(c, parts)
			require.Equal(c, parts[4], strconv.Itoa(wait))
			require.Positive(c, wait)
		})
	})

	add("rates.exceeded.headers", []string{"listPods", "createPod", "getPod", "deletePod", "listHosts", "listJobs"}, func(c *Check) {
		c.exhausted(func(send func(key, method, path, body string) Answer, key, _ string) {
			c.changeUser(c.name+"-counted", `{"role":"admin"}`)
			_, admin := c.newKey(`,"user":"counted"`, "admin")
			for _, op := range c.Operations() {
				if (op.Document != "rest" || op.Body) && !isServed(op) {
					continue
				}
				by, body := key, ""
				if isHosts(op) || isUsers(op) {
					by, body = admin, "{}"
				}
				a := send(by, op.Method, op.Path, body)
				require.Equal(c, 429, a.Status)
				c.rates(a)
				require.Contains(c, a.Header.Get("RateLimit"), `"hour";r=0;`)
			}
		})
	})
})

// resets gives the seconds until each window resets.
func (c *Check) resets() []int {
	parts := regexp.MustCompile(rateLimit).FindStringSubmatch(c.REST("GET", "/v2/pods", "").Header.Get("RateLimit"))
	require.NotNil(c, parts)
	var left []int
	for _, i := range []int{2, 4, 6} {
		t, err := strconv.Atoi(parts[i])
		require.NoError(c, err)
		left = append(left, t)
	}
	return left
}
