package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// receiver is where webhooks go to: it answers each post with the next of its statuses, the last one for ever.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	got      []map[string]any
}

// receive runs f with a receiver. It listens on loopback, so the target must run on this machine and permit that.
func (c *Check) receive(f func(*receiver), statuses ...int) {
	host, err := url.Parse(c.QueueURL)
	require.NoError(c, err)
	if host.Hostname() != "127.0.0.1" && host.Hostname() != "localhost" {
		c.Skip("the target is on another machine, from which the receiver of webhooks cannot be reached")
	}
	if !c.webhooksArrive() {
		c.Skip("within " + webhookTime.String() + " no webhook of the target came to 127.0.0.1: it may not post there (berth serve --private-webhooks)")
	}
	r := newReceiver(statuses...)
	defer r.Close()
	f(r)
}

func newReceiver(statuses ...int) *receiver {
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(r)
	return r
}

// webhookTime is how long a first webhook may be under way in real time.
const webhookTime = 15 * time.Second

// webhooksArrive reports whether webhooks of the target come to this machine, which is tried out once: servers that others can
// reach do not post to loopback addresses, and no interface says so.
func (c *Check) webhooksArrive() bool {
	c.suite.mu.Lock()
	known := c.suite.webhooks
	c.suite.mu.Unlock()
	if known != nil {
		return *known
	}

	r := newReceiver(200)
	defer r.Close()
	c.cancel(c.hooked(r, ""))
	for deadline := time.Now().Add(webhookTime); len(r.posts()) == 0 && time.Now().Before(deadline); {
		c.sleep(5 * time.Millisecond)
	}
	arrive := len(r.posts()) > 0
	c.suite.mu.Lock()
	c.suite.webhooks = &arrive
	c.suite.mu.Unlock()

	return arrive
}

// silent makes so many receivers that never answer, until the function that it gives is called.
func (c *Check) silent(n int) (all []*receiver, end func()) {
	over := make(chan struct{})
	for range n {
		all = append(all, &receiver{Server: httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))})
	}
	return all, func() {
		close(over)
		for _, one := range all {
			one.Close()
		}
	}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var document map[string]any
	_ = json.Unmarshal(body, &document)
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" {
		document = map[string]any{"wrong": req.Method + " " + req.Header.Get("Content-Type")}
	}
	r.got = append(r.got, document)
	w.WriteHeader(r.statuses[0])
	if len(r.statuses) > 1 {
		r.statuses = r.statuses[1:]
	}
}

func (r *receiver) posts() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]map[string]any{}, r.got...)
}

// awaits waits until there were so many posts, in real time: the receiver does not live on the clock of the target.
func (c *Check) awaits(r *receiver, n int) []map[string]any {
	deadline := time.Now().Add(c.suite.patience())
	for len(r.posts()) < n {
		require.True(c, time.Now().Before(deadline), "not within %s: %d posts", c.suite.patience(), n)
		c.sleep(5 * time.Millisecond)
	}
	require.Len(c, r.posts(), n)
	return r.posts()
}

// hooked submits a job with the webhook.
func (c *Check) hooked(r *receiver, more string) string {
	return c.submit(fmt.Sprintf(`{"input":{},"webhook":%q%s}`, r.URL+"/hook", more))
}

var _ = area(func() {
	ops := []string{"run", "finishJob"}
	add("queue.webhook", ops, func(c *Check) {
		c.receive(func(r *receiver) {
			id := c.hooked(r, "")
			c.takeJob("w", id)
			c.done("w", id, `{"output":{"n":1}}`)
			require.Equal(c, c.status(id), c.awaits(r, 1)[0])
			c.cancel(c.submit(fmt.Sprintf(`{"input":{},"webhook":%q}`, strings.Replace(r.URL, "http:", "HTTP:", 1))))
			c.awaits(r, 2)
		}, 200)
	})

	add("queue.webhook.every-end", []string{"run", "finishJob", "cancel", "purgeQueue"}, func(c *Check) {
		c.receive(func(r *receiver) {
			c.frozen(func() {
				failed := c.hooked(r, "")
				c.takeJob("w", failed)
				c.done("w", failed, `{"error":"x"}`)
				c.awaits(r, 1)
				c.cancel(c.hooked(r, ""))
				c.awaits(r, 2)
				c.hooked(r, "")
				c.Queue("POST", "purge-queue", "")
				c.awaits(r, 3)
				c.hooked(r, `,"policy":{"ttl":10000}`)
				c.advance(10 * time.Second)
				c.awaits(r, 4)

				overrun := c.hooked(r, `,"policy":{"executionTimeout":5000}`)
				c.takeJob("w", overrun)
				c.advance(5 * time.Second)
				var statuses []any
				for _, document := range c.awaits(r, 5) {
					statuses = append(statuses, document["status"])
				}
				require.Equal(c, []any{"FAILED", "CANCELLED", "CANCELLED", "TIMED_OUT", "TIMED_OUT"}, statuses)
			})
		}, 200)
	})

	add("queue.webhook.success", ops, func(c *Check) {
		for _, status := range []int{200, 201, 204, 299} {
			c.receive(func(r *receiver) {
				c.frozen(func() {
					c.cancel(c.hooked(r, ""))
					c.awaits(r, 1)
					c.advance(time.Minute)
					c.awaits(r, 1)
				})
			}, status)
		}
	})

	add("queue.webhook.again", ops, func(c *Check) {
		c.receive(func(r *receiver) {
			c.frozen(func() {
				id := c.hooked(r, "")
				c.cancel(id)
				for n := 1; n <= 3; n++ {
					c.awaits(r, n)
					c.advance(10*time.Second - time.Millisecond)
					c.awaits(r, n)
					c.advance(time.Millisecond)
				}

				c.advance(time.Minute)
				for _, document := range c.awaits(r, 3) {
					require.Equal(c, id, document["id"])
				}
				require.Equal(c, "CANCELLED", c.status(id)["status"], "a failing webhook changes nothing of the job")
			})
		}, 500, 302, 500)
	})

	add("queue.webhook.alone", ops, func(c *Check) {
		c.receive(func(r *receiver) {
			c.frozen(func() {
				silent, end := c.silent(128)
				defer end()
				for _, one := range silent {
					c.hooked(one, "")
				}
				c.Queue("POST", "purge-queue", "")
				c.cancel(c.hooked(r, ""))
				c.awaits(r, 1)
			})
		}, 200)
	})

	add("queue.webhook.trouble", ops, func(c *Check) {
		c.receive(func(r *receiver) {
			c.frozen(func() {
				for range 6 {
					c.hooked(r, "")
				}
				c.Queue("POST", "purge-queue", "")

				posts := 0
				for _, pause := range []time.Duration{0, 1, 2, 4} {
					if pause > 0 {
						c.advance(pause*time.Second - time.Millisecond)
						c.awaits(r, posts)
						c.advance(time.Millisecond)
					}
					posts++
					c.awaits(r, posts)
				}

				c.advance(20 * time.Second) // it is well
				seen := map[any]bool{}
				for _, document := range c.awaits(r, 4+6) {
					seen[document["id"]] = true
				}
				require.Len(c, seen, 6)
			})
		}, 503, 429, 500, 500, 200)
	})

	add("queue.webhook.given-up", ops, func(c *Check) {
		c.receive(func(r *receiver) {
			c.frozen(func() {
				const jobs = 130
				for range jobs {
					c.hooked(r, "")
				}
				c.Queue("POST", "purge-queue", "")
				c.advance(time.Hour + 30*time.Second)
				posts := len(r.posts())
				require.Less(c, posts, 3*jobs)

				c.advance(time.Minute)
				c.awaits(r, posts)
			})
		}, 500)
	})

	add("queue.webhook.private", ops, func(c *Check) {
		if c.Guarded == nil {
			c.Skip("there is no target that posts to no private address")
		}

		guarded := c.of(*c.Guarded)
		c.receive(func(r *receiver) {
			guarded.frozen(func() {
				id := guarded.hooked(r, "")
				guarded.cancel(id)
				guarded.advance(time.Minute)
				delivery := guarded.control("GET", "webhooks", "").JSON["webhooks"].([]any)[0].(map[string]any)
				require.Equal(c, id, delivery["job"])
				require.EqualValues(c, 3, delivery["tries"])
				require.Contains(c, delivery["error"], "private")
				require.Empty(c, r.posts())
			})

			c.cancel(c.hooked(r, "")) // where it is set, it is posted
			c.awaits(r, 1)
		}, 200)
	})

	add("queue.webhook.link-local", ops, func(c *Check) {
		c.receive(func(r *receiver) {
			c.frozen(func() {
				refused := map[string]bool{}
				for _, address := range []string{"http://169.254.169.254/latest/", "http://[fe80::1]/", "http://0.0.0.0/"} {
					id := c.submit(`{"input":{},"webhook":"` + address + `"}`)
					refused[id] = true
					c.cancel(id)
				}

				// Tries are made in the order in which they fall due: when the last one is over, so are those before it.
				c.cancel(c.hooked(r, ""))
				c.awaits(r, 1)
				c.advance(time.Minute)

				for _, w := range c.control("GET", "webhooks", "").JSON["webhooks"].([]any) {
					if delivery := w.(map[string]any); refused[delivery["job"].(string)] {
						require.EqualValues(c, 3, delivery["tries"])
						require.EqualValues(c, 0, delivery["status"])
						require.Contains(c, delivery["error"], "link-local")
						delete(refused, delivery["job"].(string))
					}
				}

				require.Empty(c, refused)
			})
		}, 200)
	})
})
