package httpapi

import (
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// counted counts every authenticated REST request, those for unknown paths too, and writes where the user stands as
// structured-field lists (RFC 9651). It says nothing to exempt keys. An exceeded limit refuses only later, in the front of
// the operation: the scope comes first (rule errors.order.scope-rate).
func (s Services) counted(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who, ok := c.Get(ctxCaller).(caller)
		if !ok || who.Exempt || isQueuePath(c.Request().URL.Path) {
			return next(c)
		}
		rates := s.Rates.Count(who.UserID)
		var limit, policy strings.Builder
		for i, r := range rates {
			if i > 0 {
				limit.WriteString(", ")
				policy.WriteString(", ")
			}
			limit.WriteString(strconv.Quote(r.Name) + ";r=" + strconv.FormatInt(r.Remaining, 10) + ";t=" + strconv.FormatInt(control.Seconds(r.Reset), 10))
			policy.WriteString(strconv.Quote(r.Name) + ";q=" + strconv.FormatInt(r.Quota, 10) + ";w=" + strconv.FormatInt(control.Seconds(r.Length), 10))
		}
		h := c.Response().Header()
		h["RateLimit"], h["RateLimit-Policy"] = []string{limit.String()}, []string{policy.String()} // not canonical: as documented
		if worst, exceeded := control.Exceeded(rates); exceeded {
			c.Set(ctxExceeded, worst)
		}
		return next(c)
	}
}

// limited refuses a REST request that is over a limit.
func limited(c echo.Context) error {
	worst, exceeded := c.Get(ctxExceeded).(compute.Rate)
	if !exceeded {
		return nil
	}
	return tooMany(c, worst, "requests")
}

// queueOperations are the operations of the queue that can have a limit, by operationId: those that do the same share it.
var queueOperations = map[string]string{
	"run": "run", "runSync": "runsync", "cancel": "cancel", "purgeQueue": "purge-queue",
	"status": "status", "statusPost": "status", "statusSync": "status", "statusSyncPost": "status",
	"stream": "stream", "streamPost": "stream",
	"openAIChatCompletions": "openai", "openAICompletions": "openai", "openAIResponses": "openai", "openAIMessages": "openai",
	"openAIEmbeddings": "openai", "openAIModels": "openai",
}

// limitedQueue counts a request of the queue for the caller and the endpoint, unless the key is exempt.
func (s Services) limitedQueue(id string, c echo.Context) error {
	operation, ok := queueOperations[id]
	who := callerOf(c)
	if !ok || who.Exempt {
		return nil
	}
	rate, limited := s.QueueRates.Count(who.UserID, compute.EndpointID(c.Param("endpointId")), operation)
	if !limited || !rate.Exceeded {
		return nil
	}
	return tooMany(c, rate, operation+" requests")
}

// tooMany tells when the window ends that the caller exceeded.
func tooMany(c echo.Context, r compute.Rate, what string) error {
	wait := control.Seconds(r.Reset)
	c.Response().Header().Set(echo.HeaderRetryAfter, strconv.FormatInt(wait, 10))
	return compute.Errorf(compute.TooMany, "the limit of %d %s each %s is exceeded; try again in %d s", r.Quota, what, r.Name, wait)
}
