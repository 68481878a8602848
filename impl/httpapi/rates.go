package httpapi

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// counted counts every authenticated REST request, those for unknown paths too, and writes where the user stands as
// structured-field lists (RFC 9651). It says nothing to exempt keys. An exceeded limit refuses only later, in the front of
// the operation: the scope comes first (rule errors.order.scope-rate).
func (s *Services) counted(next handler) handler {
	return func(r *request) error {
		if r.caller.ID == "" || r.caller.Exempt || isQueuePath(r.Request().URL.Path) {
			return next(r)
		}
		rates := s.Rates.Count(r.caller.UserID)

		limit, policy := make([]byte, 0, 128), make([]byte, 0, 128)
		for i, rate := range rates {
			if i > 0 {
				limit, policy = append(limit, ", "...), append(policy, ", "...)
			}
			limit = appendItem(limit, rate.Name, ";r=", rate.Remaining, ";t=", control.Seconds(rate.Reset))
			policy = appendItem(policy, rate.Name, ";q=", rate.Quota, ";w=", control.Seconds(rate.Length))
		}

		h := r.Response().Header()
		h["RateLimit"], h["RateLimit-Policy"] = []string{string(limit)}, []string{string(policy)} // not canonical: as documented
		if worst, exceeded := control.Exceeded(rates); exceeded {
			r.exceeded = new(worst)
		}
		return next(r)
	}
}

// appendItem appends an item of a list, with two parameters.
func appendItem(b []byte, name, first string, a int64, second string, c int64) []byte {
	b = append(strconv.AppendQuote(b, name), first...)
	b = append(strconv.AppendInt(b, a, 10), second...)
	return strconv.AppendInt(b, c, 10)
}

// limited refuses a REST request that is over a limit.
func limited(r *request) error {
	if r.exceeded == nil {
		return nil
	}
	return tooMany(r, *r.exceeded, "requests")
}

// queueOperations are the operations of the queue that can have a limit, by operationId: those that do the same share it.
var queueOperations = map[string]string{
	"run": "run", "runSync": "runsync", "cancel": "cancel", "purgeQueue": "purge-queue",
	"status": "status", "statusPost": "status", "statusSync": "status", "statusSyncPost": "status",
	"stream": "stream", "streamPost": "stream",
	"openAIChatCompletions": "openai", "openAICompletions": "openai", "openAIResponses": "openai", "openAIMessages": "openai",
	"openAIEmbeddings": "openai", "openAIModels": "openai", "openAIRoute": "openai", "openAIRouteGet": "openai",
}

// limitedQueue counts a request of the queue for the caller and the endpoint, unless the key is exempt.
func (s *Services) limitedQueue(id string, r *request) error {
	operation, ok := queueOperations[id]
	if !ok || r.caller.Exempt {
		return nil
	}
	rate, limited := s.QueueRates.Count(r.caller.UserID, compute.EndpointID(r.Param("endpointId")), operation)
	if !limited || !rate.Exceeded {
		return nil
	}
	return tooMany(r, rate, operation+" requests")
}

// tooMany reports when the window ends that the caller exceeded.
func tooMany(r *request, over compute.Rate, what string) error {
	wait := control.Seconds(over.Reset)
	r.Response().Header().Set(echo.HeaderRetryAfter, strconv.FormatInt(wait, 10))
	return compute.Errorf(compute.TooMany, "the limit of %d %s each %s is exceeded; try again in %d s", over.Quota, what, over.Name, wait)
}
