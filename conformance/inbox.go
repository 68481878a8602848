package conformance

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/stretchr/testify/require"
)

// inbox is an address of the target for webhooks, of a name that no other rule has.
func (c *Check) inbox() string { return c.URL + controlsPath + "inbox/" + c.name }

// received waits until the journal has so many requests to the inbox, and gives them.
func (c *Check) received(n int) (all []map[string]any) {
	require.Eventually(c, func() bool {
		all = nil
		for _, e := range c.control("GET", "journal?operation=receiveWebhook&resource="+c.name, "").JSON["entries"].([]any) {
			all = append(all, e.(map[string]any))
		}
		return len(all) >= n
	}, c.suite.patience(), 5*time.Millisecond, "not received: %d", n)
	require.Len(c, all, n)
	return all
}

// sentIn gives the document that an entry of the journal has.
func (c *Check) sentIn(entry map[string]any) (document map[string]any) {
	body := entry["request"].(map[string]any)["body"].(map[string]any)
	require.NoError(c, json.Unmarshal([]byte(body["text"].(string)), &document))
	return document
}

// delivery gives the entry of the job in the log of webhooks: the latest one.
func (c *Check) delivery(job string) map[string]any {
	for _, w := range c.control("GET", "webhooks", "").JSON["webhooks"].([]any) {
		if w := w.(map[string]any); w["job"] == job {
			return w
		}
	}
	require.Fail(c, "not in the log", job)
	return nil
}

// numberOf gives the number of the delivery of the job as it is written.
func (c *Check) numberOf(job string) json.Number {
	var log struct {
		Webhooks []struct {
			Job    string
			Number json.Number
		}
	}
	require.NoError(c, json.Unmarshal(c.control("GET", "webhooks", "").Body, &log))
	for _, w := range log.Webhooks {
		if w.Job == job {
			return w.Number
		}
	}
	require.Fail(c, "not in the log", job)
	return ""
}

// redeliver asks for one more delivery.
func (c *Check) redeliver(number any) Answer {
	return c.control("POST", fmt.Sprintf("webhooks/%.0f/deliver", number), "")
}

// ofInbox submits a job whose webhook is the inbox.
func (c *Check) ofInbox() string {
	return c.submit(fmt.Sprintf(`{"input":{},"webhook":%q}`, c.inbox()))
}

var _ = area(func() {
	add("controls.inbox", []string{"receiveWebhook", "listJournal", "verifyJournal"}, func(c *Check) {
		c.forget()
		id := c.ofInbox()
		c.takeJob("w", id)
		c.done("w", id, `{"output":{"n":1,"value":7,"password":"shown"}}`)
		entry := c.received(1)[0]
		require.Equal(c, c.status(id), c.sentIn(entry))
		require.Empty(c, entry["keyId"])

		a := c.control("POST", "journal/verify", fmt.Sprintf(
			`{"expectations":[{"operation":"receiveWebhook","resource":%q,"body":[{"pointer":"/output/n","equals":1},{"pointer":"/output/value","equals":7}],"times":{"exactly":1}}]}`, c.name))
		require.Equal(c, true, a.JSON["ok"], "%s", a.Body)

		send := func(body string) Answer {
			return c.Send(Request{Method: "POST", URL: c.inbox(), Body: body, Key: "-"})
		}
		require.Equal(c, 204, send(`{"any":["thing"]}`).Status)
		require.Equal(c, map[string]any{"any": []any{"thing"}}, c.sentIn(c.received(2)[1]))
		c.Refused(send(`{`), 400)
	})

	add("controls.inbox.faults", []string{"receiveWebhook", "addFault"}, func(c *Check) {
		c.frozen(func() {
			c.set("PUT", "faults", `{"faults":[{"operation":"receiveWebhook","resource":"`+c.name+`","status":503,"times":1}]}`)
			defer c.set("DELETE", "faults", "")
			id := c.ofInbox()
			c.cancel(id)
			require.EqualValues(c, 503, c.received(1)[0]["status"])
			c.advance(10 * time.Second)
			require.EqualValues(c, 204, c.received(2)[1]["status"])
		})
	})

	add("controls.webhooks.numbers", []string{"getWebhooks", "run"}, func(c *Check) {
		c.needsControls()
		id := c.ofInbox()
		c.cancel(id)
		number, whole := new(big.Int).SetString(string(c.numberOf(id)), 10)
		require.True(c, whole)
		require.Positive(c, number.Sign())
		require.Negative(c, number.Cmp(big.NewInt(1<<53)), "%s", number)
	})

	add("controls.webhooks.deliver", []string{"deliverWebhook", "getWebhooks"}, func(c *Check) {
		c.frozen(func() {
			id := c.ofInbox()
			c.cancel(id)
			c.received(1)
			require.Eventually(c, func() bool { return c.delivery(id)["nextAt"] == nil }, c.suite.patience(), 5*time.Millisecond)
			first := c.delivery(id)["number"]
			require.Equal(c, 204, c.redeliver(first).Status)
			again := c.received(2)
			require.Equal(c, c.sentIn(again[0]), c.sentIn(again[1]))
			require.Greater(c, c.delivery(id)["number"], first, "an entry of its own")

			c.set("PUT", "faults", `{"faults":[{"operation":"receiveWebhook","resource":"`+c.name+`","status":503}]}`)
			defer c.set("DELETE", "faults", "")
			require.Equal(c, 204, c.redeliver(first).Status)
			c.received(3)
			c.Refused(c.redeliver(c.delivery(id)["number"]), 409)
			c.Refused(c.redeliver(7.0), 404)

			c.advance(31 * time.Minute) // the result of the job is gone
			c.Refused(c.redeliver(first), 404)
		})
	})
})
