package conformance

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

// renting rents an interruptible pod with an L4 and these fields of the input, as they are.
func (c *Check) renting(fields string) Answer {
	return c.graphQL(`mutation{podRentInterruptable(input:{gpuTypeId:"NVIDIA L4",imageName:"i",` + fields + `}){id costPerHr podType bidPerGpu desiredStatus}}`)
}

// rented gives the id of an interruptible pod that bids 0.4 USD an hour.
func (c *Check) rented() string { return c.idOf(c.renting(`bidPerGpu:0.4`)) }

// spotPod gives what GraphQL shows of the pod.
func (c *Check) spotPod(id string) map[string]any {
	pod := c.data(c.graphQL(`{pod(input:{podId:"` + id + `"}){podType bidPerGpu lowestBidPriceToResume costPerHr desiredStatus lastStatusChange}}`))["pod"]
	require.NotNil(c, pod)
	return pod.(map[string]any)
}

// interrupt interrupts what the body names, and gives how many.
func (c *Check) interrupt(body string) (pods, workers float64) {
	a := c.control("POST", "interrupt", body)
	require.Equal(c, http.StatusOK, a.Status, "%s", a.Body)
	return a.JSON["pods"].(float64), a.JSON["workers"].(float64)
}

func podOf(id string) string { return `{"pod":"` + id + `"}` }

// systemLog waits for a line of the log of the server about the pod that has the words.
func (c *Check) systemLog(id, words string) {
	s := c.logs(id, "?source=system&tail=100", "")
	defer s.hangUp()
	for {
		select {
		case line := <-s.lines:
			if strings.Contains(line.line, words) {
				return
			}
		case <-time.After(c.suite.patience()):
			require.Fail(c, "no line of the log has: "+words)
		}
	}
}

var _ = area(func() {
	ops := []string{"getPod", "interruptWork"}
	add("graphql.spot", []string{"getPod"}, func(c *Check) {
		made := c.data(c.renting(`bidPerGpu:0.4,gpuCount:2`))["podRentInterruptable"].(map[string]any)
		id := made["id"].(string)
		require.Equal(c, map[string]any{"id": id, "costPerHr": 0.8, "podType": "INTERRUPTABLE", "bidPerGpu": 0.4, "desiredStatus": "RUNNING"}, made)
		require.InDelta(c, 0.8, c.becomes(id, "RUNNING")["cost"], 1e-6)
		require.Positive(c, c.spotPod(id)["lowestBidPriceToResume"])

		reserved := c.spotPod(c.idOf(c.onL4(`gpuCount:1`)))
		require.Equal(c, []any{"RESERVED", nil, nil}, []any{reserved["podType"], reserved["bidPerGpu"], reserved["lowestBidPriceToResume"]})
	})

	add("graphql.spot.prices", nil, func(c *Check) {
		for _, t := range c.data(c.graphQL(`{gpuTypes{id securePrice secureSpotPrice communityPrice communitySpotPrice lowestPrice(input:{gpuCount:2,secureCloud:true}){minimumBidPrice}}}`))["gpuTypes"].([]any) {
			gpu := t.(map[string]any)
			for _, cloud := range []string{"secure", "community"} {
				price, spot := gpu[cloud+"Price"].(float64), gpu[cloud+"SpotPrice"].(float64)
				require.LessOrEqual(c, spot, price, gpu["id"])
				require.Equal(c, price > 0, spot > 0, gpu["id"])
			}
			if least := gpu["lowestPrice"].(map[string]any)["minimumBidPrice"]; least != nil {
				require.InDelta(c, 2*gpu["secureSpotPrice"].(float64), least, 1e-9)
			}
		}
	})

	add("graphql.spot.bid", nil, func(c *Check) {
		least := c.data(c.graphQL(`{gpuTypes(input:{id:"NVIDIA L4"}){secureSpotPrice}}`))["gpuTypes"].([]any)[0].(map[string]any)["secureSpotPrice"].(float64)
		price := func(bid float64) string { return "bidPerGpu:" + strconv.FormatFloat(bid, 'f', -1, 64) }
		refused := c.wrongly(c.renting(price(least-0.01)), 200, "REJECTED")
		require.Contains(c, refused, "bidPerGpu")
		require.Contains(c, refused, "below the minimum bid price")
		for _, much := range []float64{1e10, 4611686018.427388, 1e15} {
			require.Contains(c, c.wrongly(c.renting(price(much)), 200, "REJECTED"), "bidPerGpu")
		}
		c.idOf(c.renting(price(least)))
		for _, none := range []string{`gpuCount:1`, `bidPerGpu:0`, `bidPerGpu:null`, `bidPerGpu:-1`} {
			require.Contains(c, c.wrongly(c.renting(none), 200, "INVALID"), "bidPerGpu")
		}
	})

	add("graphql.spot.bid.cloud", []string{"getPod"}, func(c *Check) {
		for _, row := range c.data(c.graphQL(`{gpuTypes{id securePrice secureSpotPrice communityPrice communitySpotPrice}}`))["gpuTypes"].([]any) {
			gpu := row.(map[string]any)
			secure, community := gpu["secureSpotPrice"].(float64), gpu["communitySpotPrice"].(float64)
			if secure == 0 || secure >= community || gpu["communityPrice"].(float64) >= gpu["securePrice"].(float64) { // else the cheaper cloud is the one that the bid reaches, too
				continue
			}
			bid := strconv.FormatFloat(secure, 'f', -1, 64)
			a := c.graphQL(`mutation{podRentInterruptable(input:{gpuTypeId:"` + gpu["id"].(string) + `",cloudType:ALL,bidPerGpu:` + bid + `,imageName:"i"}){id}}`)
			require.Equal(c, "SECURE", c.getPod(c.idOf(a))["cloud"])
			return
		}
		c.Skip("no GPU type is cheaper to bid for in the dearer cloud")
	})

	add("graphql.spot.full", nil, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 0, ""))()
		require.Contains(c, c.wrongly(c.renting(`bidPerGpu:0.4`), 200, "REJECTED"), "no longer any instances available with the request specifications")
	})

	add("graphql.spot.resume", append(ops, "podAction"), func(c *Check) {
		for start, cost := range map[string]float64{"podResume": 0.4, "REST": 0.4, "podBidResume": 0.35} {
			id := c.rented()
			c.interrupt(podOf(id))
			require.Zero(c, c.spotPod(id)["costPerHr"])
			switch start {
			case "REST":
				require.Equal(c, 200, c.act(id, "start").Status)
			case "podResume":
				c.data(c.graphQL(`mutation{podResume(input:{podId:"` + id + `"}){id}}`))
			default:
				c.wrongly(c.graphQL(`mutation{podBidResume(input:{podId:"`+id+`",bidPerGpu:0.01,gpuCount:1}){id}}`), 200, "REJECTED")
				c.data(c.graphQL(`mutation{podBidResume(input:{podId:"` + id + `",bidPerGpu:0.35,gpuCount:1}){id}}`))
			}

			c.becomes(id, "RUNNING")
			pod := c.spotPod(id)
			require.InDelta(c, cost, pod["costPerHr"], 1e-9, start)
			require.Equal(c, []any{"INTERRUPTABLE", cost, "RUNNING"}, []any{pod["podType"], pod["bidPerGpu"], pod["desiredStatus"]}, start)
			require.NotContains(c, pod["lastStatusChange"], "interrupted")
		}
	})

	add("graphql.spot.resume.reserved", []string{"getPod"}, func(c *Check) {
		resume := func(id string, bid float64, count int) Answer {
			return c.graphQL(fmt.Sprintf(`mutation{podBidResume(input:{podId:"%s",bidPerGpu:%g,gpuCount:%d}){podType costPerHr}}`, id, bid, count))
		}
		id := c.idOf(c.onL4(`gpuCount:1`))
		c.wrongly(resume(id, 0.4, 1), 200, "CONFLICT")
		c.stop(id)
		c.wrongly(resume(id, 0.4, 2), 200, "REJECTED")
		c.wrongly(resume(id, 0.01, 1), 200, "REJECTED")
		c.wrongly(resume(id, 0, 1), 200, "INVALID")
		require.Equal(c, map[string]any{"podType": "INTERRUPTABLE", "costPerHr": 0.4}, c.data(resume(id, 0.4, 1))["podBidResume"])

		cpu := c.deployCPU(graphclient.DeployCpuPodInput{ImageName: to("i")}).Id
		c.stop(cpu)
		require.Contains(c, c.wrongly(resume(cpu, 0.4, 0), 200, "REJECTED"), "only GPU pods")
	})

	add("spot.interrupt", append(ops, "getPodLogs"), func(c *Check) {
		c.needsSim()
		id := c.idOf(c.renting(`bidPerGpu:0.4,volumeInGb:10,env:[{key:"BERTH_SIM_MARK",value:"here"}]`))
		c.becomes(id, "RUNNING")
		c.interrupt(podOf(id))
		require.Equal(c, "EXITED", c.getPod(id)["status"])
		pod := c.spotPod(id)
		require.Equal(c, "EXITED", pod["desiredStatus"])
		require.Contains(c, pod["lastStatusChange"], "it was interrupted")
		c.systemLog(id, "pod is EXITED: it was interrupted")
		require.Contains(c, c.getPod(id)["mounts"], "persistent")

		starting := c.rented() // PROVISIONING or STARTING
		c.interrupt(podOf(starting))
		require.Equal(c, "EXITED", c.getPod(starting)["status"])
	})

	add("spot.interrupt.all", ops, func(c *Check) {
		c.interrupt(`{}`)
		one, two, reserved := c.rented(), c.rented(), c.idOf(c.onL4(`gpuCount:1`))
		c.becomes(one, "RUNNING")
		c.becomes(reserved, "RUNNING")
		pods, workers := c.interrupt(`{}`)
		require.Equal(c, []float64{2, 0}, []float64{pods, workers})
		for _, id := range []string{one, two} {
			require.Equal(c, "EXITED", c.getPod(id)["status"])
		}
		require.Equal(c, "RUNNING", c.getPod(reserved)["status"])
		pods, _ = c.interrupt(`{}`)
		require.Zero(c, pods)
	})

	add("spot.interrupt.one", ops, func(c *Check) {
		one, other := c.rented(), c.rented()
		pods, _ := c.interrupt(podOf(one))
		require.InDelta(c, 1, pods, 0)
		require.NotEqual(c, "EXITED", c.getPod(other)["status"])
		c.Refused(c.control("POST", "interrupt", podOf(one)), 409)
		c.Refused(c.control("POST", "interrupt", podOf(c.idOf(c.onL4(`gpuCount:1`)))), 409)
		c.Refused(c.control("POST", "interrupt", podOf("nosuch")), 404)
		c.Refused(c.control("POST", "interrupt", `{"pod":"a","worker":"b"}`), 422)
	})

	add("spot.rate", []string{"getPod", "setFleet"}, func(c *Check) {
		c.frozen(func() {
			defer c.set("PUT", "fleet", `{"interruptAfter":0}`)
			lives := func(seed string) (after []int) {
				c.set("PUT", "fleet", `{"interruptAfter":3600000,"interruptSeed":`+seed+`}`)
				ids := []string{c.rented(), c.rented(), c.rented(), c.rented()}
				reserved := c.idOf(c.onL4(`gpuCount:1`))
				after = make([]int, len(ids))
				for minutes, left := 0, len(ids); left > 0; minutes += 5 {
					require.Less(c, minutes, 100*60)
					for i, id := range ids {
						if after[i] == 0 && c.getPod(id)["status"] == "EXITED" {
							after[i], left = minutes, left-1
						}
					}
					c.advance(5 * time.Minute)
				}
				require.Equal(c, "RUNNING", c.getPod(reserved)["status"])
				return after
			}

			first := lives("7")
			require.Equal(c, first, lives("7"))
			require.NotEqual(c, first, lives("8"))
		})
	})
})

var _ = area(func() {
	ops := []string{"createEndpoint", "listEndpointWorkers", "takeJob", "interruptWork"}
	add("spot.workers", ops, func(c *Check) {
		c.needsSim()
		at := c.newEndpoint(gpuEndpoint, patient)
		q := c.on(at)
		id := q.submit(job)
		const times = 5 // more than the attempts that a job has
		for i := range times {
			worker := c.awaitCrew(at, "INITIALIZING")[0]["id"].(string)
			q.takeJob(worker, id)
			body := `{"worker":"` + worker + `"}`
			if i%2 == 1 {
				body = `{"endpoint":"` + q.Endpoint + `"}`
			}
			_, workers := c.interrupt(body)
			require.InDelta(c, 1, workers, 0)
			c.Eventually(func() bool { return q.status(id)["status"] == "IN_QUEUE" }, "the job goes back to the queue")
			c.Eventually(func() bool { return len(c.endedWorkers(at)) == i+1 }, "the worker ends")
			require.Equal(c, "the worker was interrupted", c.endedWorkers(at)[0]["reason"])
		}

		q.takeJob("w", id)
		c.advance(time.Minute) // and it does not ping: that is the first attempt that counts
		require.Equal(c, "IN_QUEUE", q.status(id)["status"])
		q.takeJob("other", id)
		q.done("other", id, `{"output":"right"}`)
		require.Equal(c, "right", q.status(id)["output"])
		require.InDelta(c, times+1, q.status(id)["retries"], 0)
	})

	add("spot.workers.unknown", ops, func(c *Check) {
		c.Refused(c.control("POST", "interrupt", `{"worker":"nosuch"}`), 404)
		_, workers := c.interrupt(`{"endpoint":"nosuch"}`)
		require.Zero(c, workers)
	})
})
