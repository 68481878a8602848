package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// logLine is one event of a log.
type logLine struct{ id, source, line, ts string }

// logStream is a log that is read while it comes.
type logStream struct {
	c        *Check
	header   http.Header
	lines    chan logLine
	comments chan string // but for soFar
	marked   chan int    // gets how many lines had come before that
	ended    chan error  // nil: it ended as it should
	hangUp   context.CancelFunc
}

// soFar is the comment that follows the lines that there were.
const soFar = "so far"

const lastEventID = "Last-Event-ID"

// logs opens the log of a pod. The query begins with a question mark; after is sent as the last event's id. Hang up.
func (c *Check) logs(id, query, after string) *logStream {
	return c.follow("/v2/pods/"+id+"/logs", query, after)
}

// follow opens the log at the path, as logs does.
func (c *Check) follow(path, query, after string) *logStream {
	return c.followAs(c.Key, path, query, after)
}

// followAs is follow with another key.
func (c *Check) followAs(key, path, query, after string) *logStream {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	req, err := http.NewRequestWithContext(ctx, "GET", c.URL+path+query, nil)
	require.NoError(c, err)
	req.Header.Set("Authorization", "Bearer "+key)
	if after != "" {
		req.Header.Set(lastEventID, after)
	}
	response, err := client.Do(req) //nolint:bodyclose // by read
	require.NoError(c, err)

	c.Spec.Check(c, req, Answer{Status: response.StatusCode, Header: response.Header})
	require.Equal(c, 200, response.StatusCode)
	require.Equal(c, eventStream, response.Header.Get("Content-Type"))
	s := &logStream{
		c: c, header: response.Header, hangUp: cancel,
		lines: make(chan logLine, 10_000), comments: make(chan string, 1000), marked: make(chan int, 1), ended: make(chan error, 1),
	}
	go s.read(response)

	return s
}

func (s *logStream) read(response *http.Response) {
	defer func() { _ = response.Body.Close() }()
	scanner := bufio.NewScanner(response.Body)
	var one logLine
	given, marked := 0, false
	for scanner.Scan() {
		name, text, _ := strings.Cut(scanner.Text(), ":")
		text = strings.TrimPrefix(text, " ")
		switch name {
		case "id":
			one.id = text
		case "data":
			var data map[string]string
			if err := json.Unmarshal([]byte(text), &data); err != nil || len(data) != 3 {
				s.ended <- fmt.Errorf("data %s: %w", text, err)
				return
			}
			one.source, one.line, one.ts = data["source"], data["line"], data["ts"]
			s.lines <- one
			given++
			one = logLine{}
		case "":
			switch {
			case text == soFar && !marked:
				marked = true
				s.marked <- given
			case text != "":
				s.comments <- text
			}
		}
	}

	s.ended <- scanner.Err()
}

// next gives the next line, which may still have to be written.
func (s *logStream) next() (l logLine) {
	s.c.Eventually(func() (ok bool) {
		l, ok = s.line(0)
		return ok
	}, "a line of the log")
	return l
}

// line gives the next line if it comes within that time.
func (s *logStream) line(wait time.Duration) (l logLine, ok bool) {
	select { // what has come is taken before the end is seen
	case l = <-s.lines:
		return l, true
	default:
	}

	select {
	case l = <-s.lines:
		return l, true
	case err := <-s.ended:
		select { // the last line came beside the end
		case l = <-s.lines:
			s.ended <- err
			return l, true
		default:
			require.Fail(s.c, "the log ended", "%v", err)
		}
	case <-time.After(wait):
	}

	return l, false
}

// written is texts for lines that were written before: the clock of the target stays as it is.
func (s *logStream) written(n int) (all []string) {
	for range n {
		l, ok := s.line(patience)
		require.True(s.c, ok, "the line after %d of %d did not come within %s", len(all), n, patience)
		all = append(all, strings.TrimPrefix(l.line, "sim: "))
	}
	return all
}

// texts gives the next n lines, without what marks the simulated fleet's.
func (s *logStream) texts(n int) (all []string) {
	for range n {
		all = append(all, strings.TrimPrefix(s.next().line, "sim: "))
	}
	return all
}

// until gives the lines up to one with the text.
func (s *logStream) until(text string) (all []logLine) {
	for {
		all = append(all, s.next())
		if strings.Contains(all[len(all)-1].line, text) {
			return all
		}
	}
}

// soFar gives the lines that there were when the log was opened.
func (s *logStream) soFar() (all []string) {
	select {
	case n := <-s.marked:
		return s.written(n)
	case err := <-s.ended:
		require.Fail(s.c, "the log ended", "%v", err)
	case <-time.After(patience):
		require.Fail(s.c, "nothing says which lines there were")
	}
	return nil
}

// beats asserts that a comment comes 15 seconds after whatever was written last. The clock is frozen, and there were no lines.
func (s *logStream) beats() {
	const every = 15 * time.Second
	require.Empty(s.c, s.soFar()) // that mark is written, too
	for range 10 {
		s.c.advance(every - time.Millisecond)
		require.Empty(s.c, s.comments)
		s.c.advance(time.Millisecond)
		require.True(s.c, s.comes(s.c.suite.patience()), "a comment comes after %s", every)
	}
	require.Empty(s.c, s.lines)
}

// comes reports whether a comment comes within that time.
func (s *logStream) comes(within time.Duration) bool {
	select {
	case <-s.comments:
		return true
	case err := <-s.ended:
		require.Fail(s.c, "the log ended", "%v", err)
	case <-time.After(within):
	}
	return false
}

// ends asserts that the log ends as it should.
func (s *logStream) ends() {
	s.c.Eventually(func() bool { return len(s.ended) > 0 }, "the log ends")
	require.NoError(s.c, <-s.ended)
}

// rest gives the lines until the log ends, which it does by itself.
func (s *logStream) rest() (all []logLine) {
	s.ends()
	for len(s.lines) > 0 {
		all = append(all, <-s.lines)
	}
	return all
}

// ticking gives the id of a RUNNING pod that wrote n lines, tick 1 to tick n, and writes another one each second.
func (c *Check) ticking(n int) string {
	c.needsSim()
	id := c.running(with(`"env":{"BERTH_SIM_LOG_EVERY":"1s"}`))
	c.tickTo(c.time(c.getPod(id)["startedAt"]), n)
	return id
}

// tickTo sets the clock of the target forward to half a second after the nth line of what is up since then, if it is not
// later: on a slow machine a few lines may be written before anybody looks.
func (c *Check) tickTo(up time.Time, n int) {
	now := c.time(c.control("GET", "clock", "").JSON["now"])
	c.advance(max(0, up.Add(time.Duration(n)*time.Second+time.Second/2).Sub(now)))
}

func ticks(from, to int) (all []string) {
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprint("tick ", i))
	}
	return all
}

var _ = area(func() {
	ops := []string{"getPodLogs", "createPod"}
	add("pods.logs", ops, func(c *Check) {
		c.needsSim()
		s := c.logs(c.running(with(`"args":"\"<é & \\n>\""`)), "?source=container", "")
		defer s.hangUp()
		l := s.next()
		require.Equal(c, "container", l.source)
		require.Contains(c, l.line, `<é & \`)
		c.time(l.ts)
		require.Equal(c, "sim: up", s.next().line)
	})

	add("pods.logs.id", ops, func(c *Check) {
		s := c.logs(c.running(gpuPod), "", "")
		defer s.hangUp()
		seen := map[string]bool{}
		for _, l := range s.until("RUNNING") {
			require.Equal(c, l.ts, l.id)
			require.False(c, seen[l.source+l.id])
			seen[l.source+l.id] = true
		}
	})

	add("pods.logs.headers", ops, func(c *Check) {
		s := c.logs(c.newPod(gpuPod), "", "")
		defer s.hangUp()
		require.Equal(c, "no-cache", s.header.Get("Cache-Control"))
		require.Equal(c, "no", s.header.Get("X-Accel-Buffering"))
	})

	add("pods.logs.live", append(ops, "podAction"), func(c *Check) {
		c.needsSim()
		id := c.newPod(gpuPod)
		s := c.logs(id, "?source=container", "")
		defer s.hangUp()
		s.until("sim: up")
		require.Equal(c, 200, c.act(id, "stop").Status)
		s.until("sim: ended")
		require.Equal(c, 200, c.act(id, "start").Status)
		require.Len(c, s.until("sim: up"), 2, "the next run: it starts and is up")
	})

	add("pods.logs.order", ops, func(c *Check) {
		s := c.logs(c.running(gpuPod), "", "")
		defer s.hangUp()
		last, sources := "", map[string]bool{}
		for _, l := range s.until("RUNNING") {
			require.Greater(c, l.id, last)
			last, sources[l.source] = l.id, true
		}
		require.Len(c, sources, 2)
	})

	add("pods.logs.source", ops, func(c *Check) {
		id := c.ticking(3)
		for source, end := range map[string]string{"container": "tick 3", "system": "RUNNING"} {
			s := c.logs(id, "?source="+source, "")
			for _, l := range s.until(end) {
				require.Equal(c, source, l.source)
			}
			s.hangUp()
		}
	})

	add("pods.logs.system", append(ops, "podAction"), func(c *Check) {
		c.needsSim()
		id := c.running(gpuPod)
		require.Equal(c, 200, c.act(id, "stop").Status)
		s := c.logs(id, "?source=system", "")
		defer s.hangUp()
		require.Equal(c, []string{"pod is PROVISIONING", "pod is STARTING", "pod is RUNNING", "pod is EXITED"}, s.texts(4))
		failed := c.logs(c.failed(), "?source=system", "")
		defer failed.hangUp()
		require.Equal(c, []string{"pod is PROVISIONING", "pod is ERROR: as asked"}, failed.texts(2))
	})

	add("pods.logs.tail", ops, func(c *Check) {
		c.frozen(func() {
			id := c.ticking(200)
			for query, from := range map[string]int{"": 101, "?tail=1": 200, "?tail=150": 51, "?tail=7&source=container": 194} {
				s := c.logs(id, query, "")
				require.Equal(c, ticks(from, 200), s.written(201-from), query)
				s.hangUp()
			}
			all := c.logs(id, "?tail=5000", "")
			defer all.hangUp()
			require.Len(c, all.until("tick 200"), 200+2+3, "with that it starts and is up, and the three statuses")
		})
	})

	add("pods.logs.tail.live", ops, func(c *Check) {
		c.frozen(func() {
			s := c.logs(c.ticking(200), "?tail=0", "")
			defer s.hangUp()
			require.Equal(c, ticks(201, 203), s.texts(3))
		})
	})

	add("pods.logs.tail.range", ops, func(c *Check) {
		id := c.newPod(gpuPod)
		for query, name := range map[string]string{
			"?tail=-1": "query.tail:", "?tail=5001": "query.tail:", "?tail=x": "query.tail:", "?source=both": "query.source:",
			"?since=yesterday": "query.since:", "?follow=true": "query.follow:",
		} {
			lines := c.Refused(c.REST("GET", "/v2/pods/"+id+"/logs"+query, ""), 422)
			require.Len(c, lines, 1)
			require.True(c, strings.HasPrefix(lines[0], name), lines[0])
		}
	})

	add("errors.parameters.header", ops, func(c *Check) {
		r := Request{Method: "GET", URL: c.URL + "/v2/pods/" + c.newPod(gpuPod) + "/logs", Header: map[string]string{lastEventID: "17"}}
		lines := c.Refused(c.Send(r), 422)
		require.Len(c, lines, 1)
		require.True(c, strings.HasPrefix(lines[0], "header.Last-Event-ID:"), lines[0])
	})

	add("pods.logs.since", ops, func(c *Check) {
		id := c.ticking(10)
		up := c.time(c.getPod(id)["startedAt"])
		s := c.logs(id, "?tail=1&since="+up.Add(4*time.Second).Format(time.RFC3339Nano), "")
		defer s.hangUp()
		require.Equal(c, ticks(4, 10), s.texts(7))
		later := c.logs(id, "?since="+up.Add(13*time.Second).Format(time.RFC3339Nano), "")
		defer later.hangUp()
		require.Equal(c, ticks(13, 13), later.texts(1))
	})

	add("pods.logs.last-event-id", ops, func(c *Check) {
		id := c.ticking(10)
		first := c.logs(id, "?source=container&since=2000-01-01T00:00:00Z", "")
		first.until("tick 6")
		last := first.next()
		first.hangUp()
		again := c.logs(id, "?tail=0&since="+last.ts[:4]+"-01-01T00:00:00Z", last.id)
		defer again.hangUp()
		require.Equal(c, ticks(8, 12), again.texts(5), "none is lost, none comes twice")
	})

	add("pods.logs.heartbeat", ops, func(c *Check) {
		c.frozen(func() {
			s := c.logs(c.running(gpuPod), "?tail=0", "")
			defer s.hangUp()
			s.beats()
			slow := c.logs(c.running(with(`"env":{"BERTH_SIM_LOG_EVERY":"2m"}`)), "?tail=0&source=container", "")
			defer slow.hangUp()
			require.Empty(c, slow.soFar())

			for range 3 { // a line does not put the next comment off for longer; the line after it comes much later, also if this one is seen late
				c.advance(100 * time.Second)
				slow.until("tick")
				for len(slow.comments) > 0 {
					<-slow.comments // from before it
				}
				c.advance(15 * time.Second)
				require.True(c, slow.comes(c.suite.patience()), "a comment comes 15 seconds after a line")
			}
		})
	})

	add("pods.logs.terminated", append(ops, "deletePod"), func(c *Check) {
		id := c.running(gpuPod)
		s := c.logs(id, "", "")
		defer s.hangUp()
		s.until("RUNNING")
		c.delete(id)
		s.ends()
	})

	add("pods.logs.unknown", append(ops, "deletePod"), func(c *Check) {
		id := c.newPod(gpuPod)
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		logs := func(id, key string) Answer {
			return c.Send(Request{Method: "GET", URL: c.URL + "/v2/pods/" + id + "/logs", Key: "Bearer " + key})
		}
		c.Refused(logs("nosuchpod", c.Key), 404)
		c.Refused(logs(id, stranger), 404)
		c.delete(id)
		c.Refused(logs(id, c.Key), 404)
	})
})
