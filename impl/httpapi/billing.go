package httpapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/limit"
)

// The items of each bill.
var (
	podItems        = []compute.Item{compute.PodGPU, compute.PodCPU}
	serverlessItems = []compute.Item{compute.ServerlessGPU, compute.ServerlessCPU}
	storageItems    = []compute.Item{compute.StorageStandard, compute.StorageHighPerformance}
	clusterItems    = []compute.Item{compute.ClusterGPU}
)

// ListBilling is GET /v2/billing.
func (h restHandlers) ListBilling(c echo.Context, p rest.ListBillingParams) error {
	q := billQuery(p, slices.Concat(podItems, serverlessItems, storageItems, clusterItems))
	return answerBill(h, c, q, billView)
}

// ListPodBilling is GET /v2/billing/pods.
func (h restHandlers) ListPodBilling(c echo.Context, p rest.ListPodBillingParams) error {
	q := billQuery(rest.ListBillingParams{StartTime: p.StartTime, EndTime: p.EndTime, BucketSize: p.BucketSize, LastN: p.LastN}, podItems)
	q.Detailed, q.Resource = true, p.PodID
	return answerBill(h, c, q, podBillView)
}

// ListServerlessBilling is GET /v2/billing/serverless.
func (h restHandlers) ListServerlessBilling(c echo.Context, p rest.ListServerlessBillingParams) error {
	q := billQuery(rest.ListBillingParams{StartTime: p.StartTime, EndTime: p.EndTime, BucketSize: p.BucketSize, LastN: p.LastN}, serverlessItems)
	q.Detailed, q.Resource = true, p.ServerlessID
	return answerBill(h, c, q, serverlessBillView)
}

// ListEndpointBilling is GET /v2/billing/endpoints. There are no public endpoints, so there is no item.
func (h restHandlers) ListEndpointBilling(c echo.Context, p rest.ListEndpointBillingParams) error {
	return answerBill(h, c, billQuery(rest.ListBillingParams(p), nil), endpointBillView)
}

// ListNetworkVolumeBilling is GET /v2/billing/network-volumes.
func (h restHandlers) ListNetworkVolumeBilling(c echo.Context, p rest.ListNetworkVolumeBillingParams) error {
	q := billQuery(rest.ListBillingParams{StartTime: p.StartTime, EndTime: p.EndTime, BucketSize: p.BucketSize, LastN: p.LastN}, storageItems)
	q.Detailed, q.Resource = true, p.NetworkVolumeID
	return answerBill(h, c, q, volumeBillView)
}

// ListClusterBilling is GET /v2/billing/clusters.
func (h restHandlers) ListClusterBilling(c echo.Context, p rest.ListClusterBillingParams) error {
	q := billQuery(rest.ListBillingParams{StartTime: p.StartTime, EndTime: p.EndTime, BucketSize: p.BucketSize, LastN: p.LastN}, clusterItems)
	q.Detailed, q.Resource = true, p.ClusterID
	return answerBill(h, c, q, clusterBillView)
}

// mostBill is how many bytes the records of a bill may have: enough for the most that there may be.
const mostBill = 8 << 20

// answerBill answers with the view of the caller's bill.
func answerBill[V any](h restHandlers, c echo.Context, q control.BillQuery, view func(control.Bill) V) error {
	room, busy, leave := h.roomFor(c, mostBill)
	defer leave()
	q.Room = room
	b, err := h.Control.Bill(contextOf(c), callerOf(c).UserID, q)
	if compute.CodeOf(err) == compute.Rejected && busy() {
		return limit.Crowded()
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view(b))
}
