package record

import (
	"slices"
	"strings"
)

// What is never compared by value, since it is another one each time: docs/record.md lists it. That it is there, and of which type it is, is
// compared.
var (
	// priceEnds end the names of prices and amounts, which a service changes as it likes.
	priceEnds = []string{"cost", "price", "amount", "perhr", "balance"}
	// priceLists are members that hold prices under other names.
	priceLists = []string{"price", "prices", "pricing"}
	// moving are stock, measurements, what goes on at the moment, and what a scheduler chooses.
	moving = []string{
		"bidPerGpu", "discountFactor", "rentalPercentage",
		"stockStatus", "available", "availableGpuCounts", "maxUnreservedGpuCount", "rentedCount", "totalCount",
		"delayTime", "executionTime", "uptime", "uptimeSeconds", "uptimeInSeconds",
		"util", "memoryUtil", "cpuPercent", "memoryPercent", "gpuUtilPercent", "memoryUtilPercent",
		"workersTotal", "workersOnLatest", "percentOnLatest", "ip", "publicIp", "publicPort", "podHostId",
	}
	// measured are members of what is called measuring that come once they have been measured, a moment after the rest.
	measuring = "runtime"
	measured  = []string{"cpu", "memory", "gpus"}
	// movingNumbers are the same where they are numbers: counts of workers, and ports.
	movingNumbers = []string{"idle", "initializing", "ready", "running", "throttled", "unhealthy", "public", "private"}
	// movingHeaders are headers that say something of one answer, or of how many there were.
	movingHeaders = []string{"Date", "X-Request-Id", "RateLimit", "RateLimit-Policy", "Retry-After", "Age", "Expires", "Etag", "Last-Modified"}
	// movingParts are parts of the names of such headers.
	movingParts = []string{"ratelimit", "rate-limit", "request-id", "trace"}
	// ofGateways are headers of what stands in front of a service.
	ofGateways = []string{
		"Server", "Via", "Alt-Svc", "Vary", "Cache-Control", "Set-Cookie", "Strict-Transport-Security", "Nel", "Report-To", "Server-Timing", "Content-Encoding", "X-Powered-By",
	}
	gatewayStarts = []string{"cf-", "x-amz-", "x-cache", "x-envoy-", "x-vercel-", "x-served-"}
)

func moves(name string) bool {
	lower := strings.ToLower(name)
	return isPriceList(name) || slices.Contains(moving, name) || slices.ContainsFunc(priceEnds, func(end string) bool { return strings.HasSuffix(lower, end) })
}

func isPriceList(name string) bool { return slices.Contains(priceLists, name) }

// movesHeader reports whether the value of the header is never the same.
func movesHeader(name string) bool {
	lower := strings.ToLower(name)
	return containsFold(movingHeaders, name) || slices.ContainsFunc(movingParts, func(part string) bool { return strings.Contains(lower, part) })
}

// isOfGateway reports whether the header is one of what stands in front of a service.
func isOfGateway(name string) bool {
	lower := strings.ToLower(name)
	return containsFold(ofGateways, name) || slices.ContainsFunc(gatewayStarts, func(start string) bool { return strings.HasPrefix(lower, start) })
}

func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return strings.EqualFold(one, name) })
}
