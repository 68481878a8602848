package conformance

import (
	"regexp"
	"strconv"

	"github.com/stretchr/testify/require"
)

var (
	rateLimit = regexp.MustCompile(`^"minute";r=(\d+);t=(\d+), "hour";r=(\d+);t=(\d+), "day";r=(\d+);t=(\d+)$`)
	policy    = regexp.MustCompile(`^"minute";q=(\d+);w=60, "hour";q=(\d+);w=3600, "day";q=(\d+);w=86400$`)
)

// rates asserts the two headers and gives what is left in the minute and in the day.
func (c *Check) rates(a Answer) (minute, day int) {
	require.Regexp(c, policy, a.Header.Get("RateLimit-Policy"))
	parts := rateLimit.FindStringSubmatch(a.Header.Get("RateLimit"))
	require.NotNil(c, parts, a.Header.Get("RateLimit"))
	minute, err := strconv.Atoi(parts[1])
	require.NoError(c, err)
	day, err = strconv.Atoi(parts[5])
	require.NoError(c, err)
	return minute, day
}

func init() {
	add("rates.headers", []string{"listPods", "getPod", "createPod"}, func(c *Check) {
		c.rates(c.REST("GET", "/v2/pods", ""))
		c.rates(c.REST("GET", "/v2/pods/nosuchpod", ""))
		c.rates(c.REST("GET", "/v2/nothing", ""))
		c.rates(c.REST("POST", "/v2/pods", "{}"))
		a := c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: "-"})
		require.Empty(c, a.Header.Get("RateLimit"), "nobody is known to count for")
	})
	add("rates.windows", []string{"listPods"}, func(c *Check) {
		a := c.REST("GET", "/v2/pods", "")
		parts := rateLimit.FindStringSubmatch(a.Header.Get("RateLimit"))
		require.NotNil(c, parts)
		for i, length := range map[int]int{2: 60, 4: 3600, 6: 86400} {
			t, err := strconv.Atoi(parts[i])
			require.NoError(c, err)
			require.LessOrEqual(c, t, length)
			require.Positive(c, t)
		}
	})
	add("rates.counted", []string{"getPod"}, func(c *Check) {
		_, before := c.rates(c.REST("GET", "/v2/pods/nosuchpod", ""))
		_, after := c.rates(c.REST("GET", "/v2/pods/nosuchpod", ""))
		require.Equal(c, before-1, after, "a refused request counts")
	})
}
