package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	clusterColumns = all(columns[compute.Cluster]{
		text("id", func(c *compute.Cluster) *compute.ClusterID { return &c.ID }),
		text("user_id", func(c *compute.Cluster) *compute.UserID { return &c.UserID }),
		text("name", func(c *compute.Cluster) *string { return &c.Name }),
		text("type", func(c *compute.Cluster) *compute.ClusterType { return &c.Type }),
		text("template_id", func(c *compute.Cluster) *compute.TemplateID { return &c.TemplateID }),
		whole("pod_count", func(c *compute.Cluster) *int64 { return &c.PodCount }),
		text("data_center_id", func(c *compute.Cluster) *string { return &c.DataCenterID }),
		instant("created_at", func(c *compute.Cluster) *time.Time { return &c.CreatedAt }),
	}, embedded(func(c *compute.Cluster) *compute.GPU { return &c.GPU }, gpuColumns))
	clusterName   = clusterColumns.only("name")
	memberColumns = columns[compute.ClusterMember]{
		text("id", func(m *compute.ClusterMember) *compute.PodID { return &m.ID }),
		text("status", func(m *compute.ClusterMember) *compute.PodStatus { return &m.Status }),
	}

	insertCluster     = clusterColumns.insert("clusters")
	selectCluster     = `SELECT ` + clusterColumns.list() + ` FROM clusters WHERE id = ?`
	selectClusters    = `SELECT ` + clusterColumns.list() + ` FROM clusters WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	renameCluster     = `UPDATE clusters SET ` + clusterName.set() + ` WHERE id = ?`
	selectClusterPods = selectPods + ofCluster
	selectMembers     = `SELECT ` + memberColumns.list() + ` FROM pods WHERE ` + ofCluster
)

const ofCluster = `cluster_id = ? AND cluster_id <> '' AND gone = 0 ORDER BY seq`

const deleteCluster = `DELETE FROM clusters WHERE id = ?`

// InsertCluster stores a new cluster. Conflict when the id is taken.
func (tx *Tx) InsertCluster(c compute.Cluster) error {
	_, err := tx.exec("insert cluster "+string(c.ID), insertCluster, clusterColumns.values(tx.args(), &c)...)
	return err
}

// Cluster gives one cluster. NotFound for an unknown id.
func (tx *Tx) Cluster(id compute.ClusterID) (compute.Cluster, error) {
	c, found, err := get(tx, "read cluster "+string(id), clusterColumns, selectCluster, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "cluster %q does not exist", id)
	}
	return c, err
}

// ListClusters gives the user's clusters, newest first, as far as there is room.
func (tx *Tx) ListClusters(user compute.UserID, room compute.Room) (all []compute.Cluster, whole bool, err error) {
	return listWithin(tx, room, "list clusters", clusterColumns, selectClusters, string(user))
}

// RenameCluster gives the cluster another name. NotFound for an unknown id.
func (tx *Tx) RenameCluster(id compute.ClusterID, name string) error {
	ok, err := tx.changed("rename cluster "+string(id), renameCluster, name, string(id))
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "cluster %q does not exist", id)
	}
	return err
}

// DeleteCluster removes the cluster, known or not, and leaves its pods.
func (tx *Tx) DeleteCluster(id compute.ClusterID) error {
	_, err := tx.exec("delete cluster "+string(id), deleteCluster, string(id))
	return err
}

// ClusterMembers gives the cluster's pods that are not TERMINATED, in the order of their insertion.
func (tx *Tx) ClusterMembers(id compute.ClusterID) ([]compute.ClusterMember, error) {
	return list(tx, "list members of cluster "+string(id), memberColumns, selectMembers, string(id))
}

// ClusterPods gives them in full, as far as there is room; whole says that it is all of them.
func (tx *Tx) ClusterPods(id compute.ClusterID, room compute.Room) (pods []compute.Pod, whole bool, err error) {
	return listWithin(tx, room, "list pods of cluster "+string(id), podColumns, selectClusterPods, string(id))
}
