package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// event is one of the changes of the target.
type event struct{ id, name, kind, of, change, status, endpoint string }

// eventReader follows the changes of the target.
type eventReader struct {
	c        *Check
	events   chan event
	comments chan string
	stood    chan string // the ids that come without an event
	ended    chan error
	hangUp   context.CancelFunc
}

// openEvents follows the changes with a key, and gives once the stream stands. The query begins with a question mark; after is sent as the last
// event's id. Hang up.
func (c *Check) openEvents(key, query, after string) *eventReader {
	c.needsControls()                                                     // else it may be no berth
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) //nolint:gosec // G118: by hangUp
	req, err := http.NewRequestWithContext(ctx, "GET", c.URL+controlsPath+"events"+query, nil)
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

	r := &eventReader{
		c: c, hangUp: cancel, events: make(chan event, 10_000), comments: make(chan string, 1000), stood: make(chan string, 1000), ended: make(chan error, 1),
	}
	go r.read(response)
	return r
}

// followEvents is openEvents from now on, and gives the id of where it stands.
func (c *Check) followEvents(key, query string) (r *eventReader, stands string) {
	r = c.openEvents(key, query, "")
	select {
	case stands = <-r.stood:
	case <-time.After(c.suite.patience()):
	}
	require.NotEmpty(c, stands, "the stream begins with where it stands")
	return r, stands
}

func (r *eventReader) read(response *http.Response) {
	defer func() { _ = response.Body.Close() }()
	scanner := bufio.NewScanner(response.Body)
	var one event

	for scanner.Scan() {
		name, text, _ := strings.Cut(scanner.Text(), ":")
		text = strings.TrimPrefix(text, " ")

		switch name {
		case "id":
			one.id = text
		case "event":
			one.name = text
		case "data":
			var data struct{ Kind, ID, Change, Status, EndpointID string }
			if err := json.Unmarshal([]byte(text), &data); err != nil {
				r.ended <- fmt.Errorf("data %s: %w", text, err)
				return
			}
			one.kind, one.of, one.change, one.status, one.endpoint = data.Kind, data.ID, data.Change, data.Status, data.EndpointID
		case "":
			if text != "" {
				r.comments <- text
				continue
			}

			if one.kind != "" {
				r.events <- one
			} else if one.id != "" {
				r.stood <- one.id
			}
			one = event{}
		}
	}
	r.ended <- scanner.Err()
}

// until gives the events up to one that is as asked for.
func (r *eventReader) until(what string, is func(event) bool) (all []event) {
	deadline := time.After(r.c.suite.patience())
	for {
		select {
		case e := <-r.events:
			require.Equal(r.c, e.name, e.kind)
			if all = append(all, e); is(e) {
				return all
			}
		case err := <-r.ended:
			require.Fail(r.c, "the stream ended", "%v, before %s", err, what)
		case <-deadline:
			require.Fail(r.c, "it did not come", "%s, after %v", what, all)
		}
	}
}

// change gives the next event of a thing.
func (r *eventReader) change(kind, id string) event {
	all := r.until("an event of "+kind+" "+id, func(e event) bool { return e.kind == kind && e.of == id })
	return all[len(all)-1]
}

// settled gives all that comes up to a change that the reader sees and that is made now, without a reset because of what was being written when
// somebody began to follow.
func (r *eventReader) settled(made func() (kind, id string)) []event {
	kind, id := made()
	all := r.until("an event of "+kind+" "+id, func(e event) bool { return e.kind == kind && e.of == id })
	return slices.DeleteFunc(all[:len(all)-1], func(e event) bool { return e.kind == "reset" })
}

// ends waits for the end of the stream.
func (r *eventReader) ends() {
	select {
	case <-r.ended:
	case <-time.After(r.c.suite.patience()):
		require.Fail(r.c, "the stream does not end")
	}
}

// mark makes a template, whose event comes after those of what was done before, and gives its id.
func (c *Check) mark() string { return strings.TrimPrefix(c.newTemplate(plainTemplate), templates+"/") }

// as gives a Check of the same rule with another key.
func (c *Check) as(key string) *Check {
	target := c.Target
	target.Key = key
	return c.of(target)
}

// thingsOf gives the things of which there are events, by kind.
func thingsOf(all []event) map[string][]string {
	things := map[string][]string{}
	for _, e := range all {
		things[e.kind] = append(things[e.kind], e.of)
	}
	return things
}

var _ = area(func() {
	ops := []string{"getEvents"}
	add("controls.events", []string{"getEvents", "createPod", "deletePod"}, func(c *Check) {
		r, stands := c.followEvents(c.Key, "")
		defer r.hangUp()
		id := c.newPod(gpuPod)
		first := r.change("pod", id)
		require.Equal(c, "created", first.change)
		require.NotEmpty(c, first.status)
		require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+id, "").Status)

		all := r.until("its end", func(e event) bool { return e.of == id && e.change == "deleted" })
		require.Equal(c, "TERMINATED", all[len(all)-1].status)
		epoch, _, _ := strings.Cut(stands, "-")
		seen := map[string]bool{stands: true}
		for _, e := range append([]event{first}, all...) {
			require.True(c, strings.HasPrefix(e.id, epoch+"-"), "%s: one server, one epoch", e.id)
			require.False(c, seen[e.id], "%s: no two events have one id", e.id)
			seen[e.id] = true
		}
	})

	add("controls.events.resources", ops, func(c *Check) {
		r, _ := c.followEvents(c.Key, "")
		defer r.hangUp()
		for _, one := range []struct {
			kind string
			make func() (path string)
		}{
			{"volume", func() string { return volumePath + "/" + c.newVolume() }},
			{"volume", func() string { return globalVolumes + "/" + c.newGlobalVolume() }},
			{"endpoint", func() string { return c.newEndpoint(gpuEndpoint, `"workers":{"max":0}`) }},
			{"template", func() string { return c.newTemplate(plainTemplate) }},
			{"registry", func() string { return registries + "/" + c.newRegistry() }},
			{"secret", func() string { return c.newSecret(c.own("followed")) }},
		} {
			path := one.make()
			id := path[strings.LastIndex(path, "/")+1:]
			require.Equal(c, "created", r.change(one.kind, id).change, path)
			require.Equal(c, 204, c.REST("DELETE", path, "").Status, path)
			r.until(path+" deleted", func(e event) bool { return e.kind == one.kind && e.of == id && e.change == "deleted" })
		}
	})

	add("controls.events.jobs", []string{"getEvents", "run", "takeJob", "finishJob"}, func(c *Check) {
		q, _ := c.ownQueue()
		r, _ := c.followEvents(c.Key, "?kinds=job,worker")
		defer r.hangUp()
		id := q.submit(job)
		made := r.change("job", id)
		require.Equal(c, event{id: made.id, name: "job", kind: "job", of: id, change: "created", status: "IN_QUEUE", endpoint: q.Endpoint}, made)
		q.takeJob("w", id)
		taken := r.until("it is taken", func(e event) bool { return e.status == "IN_PROGRESS" })
		require.Equal(c, "changed", taken[len(taken)-1].change)
		require.Equal(c, q.Endpoint, r.change("worker", "w").endpoint, "its worker has something to do")
		q.done("w", id, `{"output":1}`)
		r.until("it has ended", func(e event) bool { return e.kind == "job" && e.of == id && e.status == "COMPLETED" })
	})

	add("controls.events.window", []string{"getEvents", "streamJob"}, func(c *Check) {
		q, _ := c.ownQueue()
		r, _ := c.followEvents(c.Key, "?kinds=job")
		defer r.hangUp()
		id := q.submit(job)
		q.takeJob("w", id)
		r.until("it is taken", func(e event) bool { return e.of == id && e.status == "IN_PROGRESS" })
		began := time.Now()
		for n := range 50 {
			require.Equal(c, 200, q.Queue("POST", "job-stream/w/"+id+"?gpu=x", fmt.Sprintf(`{"output":%d}`, n)).Status)
		}
		q.done("w", id, `{}`)
		windows := int(time.Since(began)/(100*time.Millisecond)) + 2
		all := r.until("it has ended", func(e event) bool { return e.of == id && e.status == "COMPLETED" })
		require.LessOrEqual(c, len(thingsOf(all)["job"]), windows, "events of 51 changes")
	})

	add("controls.events.kinds", ops, func(c *Check) {
		r, _ := c.followEvents(c.Key, "?kinds=template,volume")
		defer r.hangUp()
		c.newSecret(c.own("unseen"))
		volume := c.newVolume()
		for kind := range thingsOf(r.settled(func() (string, string) { return "template", c.mark() })) {
			require.Contains(c, []string{"template", "volume"}, kind, volume)
		}
		for query, place := range map[string]string{"kinds=pods": "query.kinds", "kinds=": "query.kinds", "kinds=reset": "query.kinds", "kind=pod": "query.kind"} {
			errors := c.Refused(c.about("events?"+query), 422)
			require.Len(c, errors, 1, query)
			require.True(c, strings.HasPrefix(errors[0], place), errors[0])
		}
	})

	add("controls.events.scope", ops, func(c *Check) {
		q, _ := c.ownQueue()
		_, reading := c.newKey("", "rest:read")
		_, invoking := c.newKey("", "queue:"+q.Endpoint+":invoke")
		_, other := c.newKey("", "queue:otherendpoint1:invoke", "rest:read")
		_, stranger := c.newKey(`,"user":"stranger"`, "all")
		readers := map[string]*eventReader{}
		for _, key := range []string{reading, invoking, other, stranger, c.Key} {
			readers[key], _ = c.followEvents(key, "?kinds=job,template")
			defer readers[key].hangUp()
		}

		id, template := q.submit(job), c.mark()
		require.Equal(c, "created", readers[c.Key].change("job", id).change)
		require.Equal(c, "created", readers[invoking].change("job", id).change)
		for _, key := range []string{reading, other} {
			require.Empty(c, thingsOf(readers[key].settled(func() (string, string) { return "template", template }))["job"])
		}

		theirs := c.as(stranger)
		all := readers[stranger].settled(func() (string, string) { return "template", theirs.mark() })
		require.Empty(c, all, "of another user")
		invoked := readers[invoking].settled(func() (string, string) { return "job", q.submit(job) })
		require.Empty(c, thingsOf(invoked)["template"], "it may not read them")
	})

	add("controls.events.all", []string{"getEvents", "freezeClock", "addFault", "deleteFault", "createKey", "listPods"}, func(c *Check) {
		r, _ := c.followEvents(c.ControlsKey, "")
		defer r.hangUp()
		account, _ := c.followEvents(c.Key, "")
		defer account.hangUp()

		id, stranger := c.newKey(`,"user":"stranger"`, "all")
		require.Equal(c, "created", r.change("key", id).change)
		c.frozen(func() { r.change("clock", "") })
		a := c.control("POST", "faults", `{"operation":"getSshKeys","when":"before","latency":1,"resource":"`+c.name+`"}`)
		require.Equal(c, 201, a.Status, "%s", a.Body)
		r.change("fault", "")
		c.set("DELETE", "faults/"+a.JSON["id"].(string), "")
		c.listPods(stranger)
		r.change("journal", "")
		r.change("template", c.as(stranger).mark())

		remove := c.addBox()
		r.change("host", "box")
		remove()
		things := thingsOf(account.settled(func() (string, string) { return "template", c.mark() }))
		for _, kind := range []string{"clock", "fault", "journal", "webhook"} {
			require.Empty(c, things[kind], kind)
		}
	})

	add("controls.events.resume", ops, func(c *Check) {
		r, stands := c.followEvents(c.Key, "?kinds=template")
		r.hangUp()
		first, second := c.mark(), c.mark()
		again := c.openEvents(c.Key, "?kinds=template", stands)
		defer again.hangUp()
		after := again.change("template", first)
		again.change("template", second)

		third := c.openEvents(c.Key, "?kinds=template", after.id)
		defer third.hangUp()
		require.NotContains(c, thingsOf(third.until("the second", func(e event) bool { return e.of == second }))["template"], first)
	})

	add("controls.events.reset", []string{"getEvents", "resetState"}, func(c *Check) {
		for _, unknown := range []string{"nowhere-1", "17", "x"} {
			r := c.openEvents(c.Key, "?kinds=template", unknown)
			require.Equal(c, "reset", r.until("the first", func(event) bool { return true })[0].kind, unknown)
			r.change("template", c.mark())
			r.hangUp()
		}
		r, _ := c.followEvents(c.Key, "?kinds=template")
		defer r.hangUp()
		c.set("POST", "reset", "")
		r.change("reset", "")
	})

	add("controls.events.heartbeat", ops, func(c *Check) {
		c.frozen(func() {
			r, _ := c.followEvents(c.Key, "?kinds=secret")
			defer r.hangUp()
			for range 3 {
				c.advance(15 * time.Second)
				select {
				case <-r.comments:
				case <-time.After(c.suite.patience()):
					require.Fail(c, "no comment comes after 15 seconds")
				}
			}
		})
	})

	add("controls.events.bounds", ops, func(c *Check) {
		_, key := c.newKey("", "rest:read")
		var open []*eventReader
		for range 10 {
			r, _ := c.followEvents(key, "")
			open = append(open, r)
		}
		more := func() Answer {
			return c.Send(Request{Method: "GET", URL: c.URL + controlsPath + "events", Key: "Bearer " + key})
		}
		c.limit = true // the answer is meant
		c.Refused(more(), 429)
		for _, r := range open {
			r.hangUp()
		}
		c.limit = false
		r, _ := c.followEvents(c.Key, "")
		r.hangUp()
	})

	add("controls.events.key", []string{"getEvents", "revokeKey"}, func(c *Check) {
		id, key := c.newKey("", "rest:read")
		r, _ := c.followEvents(key, "?kinds=secret")
		defer r.hangUp()
		var revoked sync.WaitGroup
		revoked.Go(func() { c.set("DELETE", "keys/"+id, "") })
		r.ends()
		revoked.Wait()
	})
})
