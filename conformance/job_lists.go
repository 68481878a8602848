package conformance

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// about reads what the controls tell of jobs, pods and endpoints, with the key of their owner.
func (c *Check) about(path string) Answer {
	c.needsControls() // else it may be no berth
	return c.Send(Request{Method: "GET", URL: c.URL + controlsPath + path, Key: "Bearer " + c.Key})
}

// jobsBy lists the jobs by a query, page by page of at most n, and gives them with their ids in order.
func (c *Check) jobsBy(query string, n int) (jobs []map[string]any, ids []string) {
	for cursor := ""; ; {
		a := c.about(fmt.Sprintf("jobs?%s&limit=%d%s", query, n, cursor))
		require.Equal(c, 200, a.Status, "%s", a.Body)
		page := a.JSON["jobs"].([]any)
		require.LessOrEqual(c, len(page), n)
		for _, one := range page {
			j := one.(map[string]any)
			jobs, ids = append(jobs, j), append(ids, j["id"].(string))
		}

		pagination := a.JSON["pagination"].(map[string]any)
		if pagination["hasNextPage"] == false {
			require.Nil(c, pagination["nextCursor"])
			return jobs, ids
		}
		cursor = "&cursor=" + url.QueryEscape(pagination["nextCursor"].(string))
	}
}

// ownQueue gives a Check of a new endpoint without workers, and the query of its jobs.
func (c *Check) ownQueue() (q *Check, query string) {
	q = c.on(c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`))
	return q, "endpointId=" + q.Endpoint
}

// ends runs a job of the endpoint to its end with the report, and gives its id.
func (c *Check) ends(report string) string {
	id := c.submit(job)
	c.takeJob("w", id)
	c.done("w", id, report)
	return id
}

var _ = area(func() {
	list := []string{"listJobs", "run"}
	add("jobs.list", list, func(c *Check) {
		q, mine := c.ownQueue()
		c.frozen(func() {
			id := q.submit(job)
			c.advance(3 * time.Second)
			q.takeJob("w", id)
			running, _ := c.jobsBy(mine, 10)
			require.NotContains(c, running[0], "finishedAt")
			require.NotContains(c, running[0], "executionTime")
			c.advance(2 * time.Second)
			q.done("w", id, `{"output":"result"}`)
			waiting := q.submit(job)

			jobs, ids := c.jobsBy(mine, 10)
			require.Equal(c, []string{waiting, id}, ids, "the one that was submitted last first")
			ended := jobs[1]
			times := map[string]time.Time{}
			for _, name := range []string{"submittedAt", "startedAt", "finishedAt"} {
				var err error
				times[name], err = time.Parse(time.RFC3339Nano, ended[name].(string))
				require.NoError(c, err)
				require.Equal(c, times[name], times[name].Truncate(time.Millisecond), name)
				delete(ended, name)
			}
			// Each time of day is cut to its millisecond.
			require.InDelta(c, 3*time.Second, times["startedAt"].Sub(times["submittedAt"]), float64(time.Millisecond))
			require.InDelta(c, 2*time.Second, times["finishedAt"].Sub(times["startedAt"]), float64(time.Millisecond))
			require.Equal(c, map[string]any{
				"id": id, "endpointId": q.Endpoint, "status": "COMPLETED", "attempts": 1.0, "workerId": "w", "delayTime": 3000.0, "executionTime": 2000.0,
			}, ended, "without input and output")
			delete(jobs[0], "submittedAt")
			require.Equal(c, map[string]any{"id": waiting, "endpointId": q.Endpoint, "status": "IN_QUEUE", "attempts": 0.0}, jobs[0])
			q.cancel(waiting)
		})
	})

	add("jobs.list.pages", list, func(c *Check) {
		q, mine := c.ownQueue()
		var want []string
		for range 7 {
			want = append([]string{q.ends(`{}`)}, want...)
		}
		_, all := c.jobsBy(mine, 3)
		require.Equal(c, want, all)

		first := c.about("jobs?" + mine + "&limit=4")
		cursor := "&cursor=" + url.QueryEscape(first.JSON["pagination"].(map[string]any)["nextCursor"].(string))
		q.ends(`{}`) // what comes moves nothing from one page to another
		rest := c.about("jobs?" + mine + "&limit=4" + cursor)
		var ids []string
		for _, one := range append(first.JSON["jobs"].([]any), rest.JSON["jobs"].([]any)...) {
			ids = append(ids, one.(map[string]any)["id"].(string))
		}
		require.Equal(c, want, ids)
		c.Refused(c.about("jobs?"+mine+"&status=FAILED"+cursor), 422)
		for _, wrong := range []string{"cursor=x", "limit=0", "limit=1001", "page=2"} {
			c.Refused(c.about("jobs?"+wrong), 422)
		}
	})

	add("jobs.list.filters", list, func(c *Check) {
		q, mine := c.ownQueue()
		other, theirs := c.ownQueue()
		failed, completed := q.ends(`{"error":"x"}`), q.ends(`{}`)
		cancelled := q.submit(job)
		q.cancel(cancelled)
		waiting := other.submit(job)
		for query, want := range map[string][]string{
			mine: {cancelled, completed, failed}, theirs: {waiting}, mine + "&status=FAILED": {failed}, mine + "&status=COMPLETED": {completed},
			mine + "&status=CANCELLED": {cancelled}, mine + "&status=IN_QUEUE": nil, theirs + "&status=IN_QUEUE": {waiting}, mine + "&status=TIMED_OUT": nil,
		} {
			_, ids := c.jobsBy(query, 10)
			require.Equal(c, want, ids, query)
		}
		_, ids := c.jobsBy("status=IN_QUEUE", 1000)
		require.Contains(c, ids, waiting, "of all endpoints")
		other.cancel(waiting)

		c.frozen(func() {
			q, mine := c.ownQueue()
			first := q.ends(`{}`)
			c.advance(time.Minute)
			jobs, _ := c.jobsBy(mine, 10)
			second := q.ends(`{}`)
			later, _ := c.jobsBy(mine, 10)
			early, late := url.QueryEscape(jobs[0]["submittedAt"].(string)), url.QueryEscape(later[0]["submittedAt"].(string))
			for query, want := range map[string][]string{
				"&from=" + early: {second, first}, "&from=" + late: {second}, "&to=" + late: {first}, "&to=" + early: nil, "&from=" + early + "&to=" + late: {first},
			} {
				_, ids := c.jobsBy(mine+query, 1)
				require.Equal(c, want, ids, query)
			}
		})

		c.Refused(c.about("jobs?endpointId=nosuchendpoint"), 404)
		for _, wrong := range []string{"status=DONE", "from=yesterday", "to=1", "error="} {
			c.Refused(c.about("jobs?"+wrong), 422)
		}
	})

	add("jobs.list.error", list, func(c *Check) {
		q, mine := c.ownQueue()
		long := strings.Repeat("é", 400)
		cuda, other := q.ends(`{"error":"CUDA out of memory: 100%_used"}`), q.ends(`{"error":"`+long+`the end"}`)
		q.ends(`{}`)
		for text, want := range map[string][]string{
			"out of memory": {cuda}, "cuda": {cuda}, "100%_": {cuda}, "0__u": nil, "é": {other}, "THE END": {other}, "e": {other, cuda}, "nowhere": nil,
		} {
			_, ids := c.jobsBy(mine+"&error="+url.QueryEscape(text), 10)
			require.Equal(c, want, ids, text)
		}
		jobs, _ := c.jobsBy(mine+"&error=end", 10)
		require.Equal(c, long[:300*len("é")], jobs[0]["error"])
	})

	add("jobs.list.scope", []string{"listJobs", "getJob"}, func(c *Check) {
		q, mine := c.ownQueue()
		id := q.ends(`{}`)
		try := func(key, path string) Answer {
			return c.Send(Request{Method: "GET", URL: c.URL + controlsPath + path, Key: "Bearer " + key})
		}
		for _, scope := range []string{"queue:*:invoke", "queue:" + q.Endpoint + ":invoke", "all"} {
			_, key := c.newKey("", scope)
			a := try(key, "jobs?"+mine)
			require.Equal(c, 200, a.Status, scope)
			require.Len(c, a.JSON["jobs"], 1, scope)
			require.Equal(c, 200, try(key, "jobs/"+id).Status, scope)
		}

		_, narrow := c.newKey("", "queue:otherendpoint1:invoke")
		require.Empty(c, try(narrow, "jobs").JSON["jobs"])
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		require.Empty(c, try(stranger, "jobs").JSON["jobs"])
		for _, key := range []string{narrow, stranger} {
			c.Refused(try(key, "jobs?"+mine), 404)
			c.Refused(try(key, "jobs/"+id), 404)
		}

		_, reader := c.newKey("", "rest:read", "queue:*:work", "admin")
		for _, path := range []string{"jobs", "jobs/" + id} {
			c.Refused(try(reader, path), 403)
		}
		require.Equal(c, 200, try(c.ControlsKey, "jobs/"+id).Status)
	})

	add("jobs.show", []string{"getJob"}, func(c *Check) {
		q, _ := c.ownQueue()
		id := q.submit(`{"input":{"n": 1},"webhook":"http://127.0.0.1:9/hook","policy":{"executionTimeout":60000,"ttl":3600000,"lowPriority":true}}`)
		q.takeJob("w", id)
		q.done("w", id, `{"error":"it broke"}`)
		a := c.about("jobs/" + id)
		require.Equal(c, 200, a.Status, "%s", a.Body)
		for name, want := range map[string]any{
			"id": id, "endpointId": q.Endpoint, "status": "FAILED", "attempts": 1.0, "retries": 0.0, "workerId": "w", "error": "it broke", "sync": false,
			"lowPriority": true, "executionTimeout": 60000.0, "ttl": 3600000.0, "webhook": "http://127.0.0.1:9/hook",
			"input": map[string]any{"text": `{"n": 1}`, "length": 8.0, "truncated": false}, "output": map[string]any{"text": "", "length": 0.0, "truncated": false},
		} {
			require.Equal(c, want, a.JSON[name], name)
		}
		c.Refused(c.about("jobs/nosuchjob"), 404)
	})

	add("jobs.show.bounds", []string{"getJob"}, func(c *Check) {
		q, _ := c.ownQueue()
		text := strings.Repeat("é", 100_000)
		long := `{"ab":"` + text + `"}`
		id := q.submit(`{"input":` + long + `}`)
		q.takeJob("w", id)
		q.done("w", id, `{"output":`+long+`}`)
		a := c.about("jobs/" + id)
		for _, name := range []string{"input", "output"} {
			require.Equal(c, map[string]any{"text": long[:65535], "length": 200_009.0, "truncated": true}, a.JSON[name], "%s: not cut within a character", name)
		}

		failed := q.ends(`{"error":"` + text + `"}`)
		require.Equal(c, text[:65536], c.about("jobs/" + failed).JSON["error"])
	})
})
