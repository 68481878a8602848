package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// ListClusters is GET /v2/clusters.
func (h restHandlers) ListClusters(c echo.Context) error {
	clusters, leave, err := unpaged(h, c, h.Control.ListClusters)
	defer leave()
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.ClusterList{Clusters: views(clusters, clusterView)})
}

// CreateCluster is POST /v2/clusters.
func (h restHandlers) CreateCluster(c echo.Context) error {
	cluster, err := h.Control.CreateCluster(contextOf(c), callerOf(c).UserID, newCluster(bodyOf[rest.CreateClusterRequest](c)))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, clusterView(cluster))
}

// GetCluster is GET /v2/clusters/{id}.
func (h restHandlers) GetCluster(c echo.Context, id string) error {
	cluster, err := h.Control.GetCluster(contextOf(c), callerOf(c).UserID, compute.ClusterID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, clusterView(cluster))
}

// UpdateCluster is PATCH /v2/clusters/{id}. Its one member is there: the schema asks for one at least.
func (h restHandlers) UpdateCluster(c echo.Context, id string) error {
	name := value(bodyOf[rest.UpdateClusterRequest](c).Name)
	cluster, err := h.Control.RenameCluster(contextOf(c), callerOf(c).UserID, compute.ClusterID(id), name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, clusterView(cluster))
}

// DeleteCluster is DELETE /v2/clusters/{id}.
func (h restHandlers) DeleteCluster(c echo.Context, id string) error {
	if err := h.Control.DeleteCluster(contextOf(c), callerOf(c).UserID, compute.ClusterID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// mostMembers is how many bytes the rows of a cluster's pods may have, about, to be listed at once.
const mostMembers = 8 << 20

// ListClusterPods is GET /v2/clusters/{id}/pods. The list has no pages, so it is refused where it is too large (rule clusters.pods.bytes).
func (h restHandlers) ListClusterPods(c echo.Context, id string) error {
	room, busy, leave := h.roomFor(c, mostMembers)
	defer leave()
	pods, err := h.Control.ClusterPods(contextOf(c), callerOf(c).UserID, compute.ClusterID(id), room)
	switch {
	case compute.CodeOf(err) == compute.Rejected && busy():
		return limit.Crowded()
	case compute.CodeOf(err) == compute.Rejected:
		return compute.Errorf(compute.Rejected, "the pods of the cluster have over %d bytes: list them in pages, with GET /v2/pods?includeClusterPods=true", mostMembers)
	case err != nil:
		return err
	}
	return c.JSON(http.StatusOK, rest.ClusterPodList{Pods: h.podViews(c, pods)})
}
