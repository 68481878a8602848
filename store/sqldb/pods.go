package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// The columns of a pod, by the statements that write them: InsertPod writes all.
var (
	// podFixed stay as they were inserted.
	podFixed = all(columns[compute.Pod]{
		text("id", func(p *compute.Pod) *compute.PodID { return &p.ID }),
		text("user_id", func(p *compute.Pod) *compute.UserID { return &p.UserID }),
		text("cloud", func(p *compute.Pod) *compute.Cloud { return &p.Cloud }),
		text("template_id", func(p *compute.Pod) *compute.TemplateID { return &p.TemplateID }),
		text("cluster_id", func(p *compute.Pod) *compute.ClusterID { return &p.ClusterID }),
		text("cluster_type", func(p *compute.Pod) *compute.ClusterType { return &p.ClusterType }),
		instant("created_at", func(p *compute.Pod) *time.Time { return &p.CreatedAt }),
		words("cuda_versions", func(p *compute.Pod) *[]string { return &p.Needs.CUDAVersions }),
		text("least_cuda", func(p *compute.Pod) *string { return &p.Needs.LeastCUDA }),
		whole("gpu_vcpus", func(p *compute.Pod) *int64 { return &p.Needs.VCPUsPerGPU }),
		whole("gpu_memory_gb", func(p *compute.Pod) *int64 { return &p.Needs.MemoryGBPerGPU }),
		instant("terminate_after", func(p *compute.Pod) *time.Time { return &p.TerminateAfter }),
	},
		optional(func(p *compute.Pod) **compute.GPU { return &p.GPU }, gpuColumns),
		optional(func(p *compute.Pod) **compute.CPU { return &p.CPU }, cpuColumns),
		optional(func(p *compute.Pod) **compute.NetworkMount { return &p.Network }, columns[compute.NetworkMount]{
			text("network_volume_id", func(m *compute.NetworkMount) *compute.VolumeID { return &m.VolumeID }),
		}))

	// podSettings are written by ChangePod.
	podSettings = all(columns[compute.Pod]{
		text("name", func(p *compute.Pod) *string { return &p.Name }),
		text("image", func(p *compute.Pod) *string { return &p.Image }),
		text("args", func(p *compute.Pod) *string { return &p.Args }),
		whole("disk_gb", func(p *compute.Pod) *int64 { return &p.DiskGB }),
		words("ports", func(p *compute.Pod) *[]string { return &p.Ports }),
		wordMap("env", func(p *compute.Pod) *map[string]string { return &p.Env }),
		text("registry_id", func(p *compute.Pod) *compute.RegistryID { return &p.RegistryID }),
		real("cost_per_hour", func(p *compute.Pod) *float64 { return &p.CostPerHour }),
		real("bid_per_gpu", func(p *compute.Pod) *float64 { return &p.BidPerGPU }),
		flag("global_networking", func(p *compute.Pod) *bool { return &p.GlobalNetworking }),
		flag("locked", func(p *compute.Pod) *bool { return &p.Locked }),
	},
		optional(func(p *compute.Pod) **compute.PersistentMount { return &p.Persistent }, mountColumns),
		optional(func(p *compute.Pod) **compute.NetworkMount { return &p.Network }, columns[compute.NetworkMount]{
			text("network_path", func(m *compute.NetworkMount) *string { return &m.Path }),
		}))

	// podMoves are written by MovePod.
	podMoves = columns[compute.Pod]{
		text("status", func(p *compute.Pod) *compute.PodStatus { return &p.Status }),
		text("reason", func(p *compute.Pod) *string { return &p.Reason }),
		text("ended_by", func(p *compute.Pod) *compute.PodEnd { return &p.EndedBy }),
		text("data_center_id", func(p *compute.Pod) *string { return &p.DataCenterID }),
		text("host_id", func(p *compute.Pod) *string { return &p.HostID }),
		words("devices", func(p *compute.Pod) *[]string { return &p.Devices }),
		whole("network_address", func(p *compute.Pod) *compute.NetworkAddress { return &p.Address }),
		instant("started_at", func(p *compute.Pod) *time.Time { return &p.StartedAt }),
		instant("restart_at", func(p *compute.Pod) *time.Time { return &p.RestartAt }),
		instant("moved_at", func(p *compute.Pod) *time.Time { return &p.MovedAt }),
		instant("stop_after", func(p *compute.Pod) *time.Time { return &p.StopAfter }),
		instant("interrupt_at", func(p *compute.Pod) *time.Time { return &p.InterruptAt }),
		instant("interrupted_at", func(p *compute.Pod) *time.Time { return &p.InterruptedAt }),
	}

	podColumns = all(podFixed, podSettings, podMoves, columns[compute.Pod]{
		whole("version", func(p *compute.Pod) *int64 { return &p.Version }), // counted by the statements
		written("gone", func(p *compute.Pod) any { return p.Status == compute.PodTerminated }),
	})

	gpuColumns = columns[compute.GPU]{
		text("gpu_id", func(g *compute.GPU) *string { return &g.ID }),
		whole("gpu_count", func(g *compute.GPU) *int64 { return &g.Count }),
	}
	cpuColumns = columns[compute.CPU]{
		text("cpu_id", func(c *compute.CPU) *string { return &c.ID }),
		whole("cpu_vcpus", func(c *compute.CPU) *int64 { return &c.VCPUCount }),
		whole("cpu_memory_gb", func(c *compute.CPU) *int64 { return &c.MemoryGB }),
	}
	mountColumns = columns[compute.PersistentMount]{
		whole("persistent_gb", func(m *compute.PersistentMount) *int64 { return &m.SizeGB }),
		text("persistent_path", func(m *compute.PersistentMount) *string { return &m.Path }),
	}

	podIDColumn  = columns[compute.PodID]{text("id", itself[compute.PodID])}
	podAddresses = podColumns.only("user_id", "network_address")
)

var (
	insertPod  = podColumns.insert("pods")
	selectPods = `SELECT ` + podColumns.list() + ` FROM pods WHERE `

	selectPod = selectPods + `id = ?`
	pagesPods = pagesOf("pods", podColumns, `user_id = ? AND gone = 0`, func(one *compute.Pod) string { return string(one.ID) })
	// The user is any: with it the index serves that leaves out those that are gone.
	selectPodsByStatus = selectPods + `user_id >= '' AND gone = 0 AND status = ? ORDER BY created_at, seq`
	selectTimedPods    = `SELECT id FROM pods WHERE (stop_after IS NOT NULL OR terminate_after IS NOT NULL OR interrupt_at IS NOT NULL) AND gone = 0 ORDER BY seq`
	countPods          = `SELECT ` + countedColumns.list() + ` FROM pods WHERE user_id >= '' AND gone = 0 GROUP BY status`
	movePod            = `UPDATE pods SET ` + podMoves.set() + `, version = version + 1`
	endPod             = movePod + `, gone = 1, env = '{}', args = ''` + oneVersion
	movePodOn          = movePod + oneVersion
	changePod          = `UPDATE pods SET ` + podSettings.set() + `, version = version + 1` + oneVersion
	selectAddresses    = `SELECT ` + podAddresses.list() + ` FROM pods WHERE network_address > 0 AND gone = 0 ORDER BY network_address`
)

const (
	oneVersion = ` WHERE id = ? AND version = ?`
	// No index serves this, for which each move would pay: of the pods that are older few are left. The first one that is not is looked for as in
	// deleteLog.
	deleteGone = `DELETE FROM pods WHERE seq IN (SELECT seq FROM pods WHERE gone = 1 AND moved_at < ?1
AND seq < coalesce((SELECT seq FROM pods WHERE created_at >= ?1 AND created_at <= ?2 ORDER BY seq LIMIT 1), 1 << 62) LIMIT ?3)`
)

// InsertPod stores a new pod. Conflict when the id is taken.
func (tx *Tx) InsertPod(p compute.Pod) error {
	_, err := tx.exec("insert pod "+string(p.ID), insertPod, podColumns.values(tx.args(), &p)...)
	return err
}

// Pod gives one pod. NotFound for an unknown id.
func (tx *Tx) Pod(id compute.PodID) (compute.Pod, error) {
	p, found, err := get(tx, "read pod "+string(id), podColumns, selectPod, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "pod %q does not exist", id)
	}
	return p, err
}

// PagePods gives a page of the user's pods that are not TERMINATED, newest first, and where the next one begins.
func (tx *Tx) PagePods(user compute.UserID, p compute.Page) ([]compute.Pod, compute.Position, error) {
	return pagesPods.page(tx, "list pods", string(user), p)
}

// ListPodsByStatus gives every user's pods in the status, oldest first; none for TERMINATED.
func (tx *Tx) ListPodsByStatus(s compute.PodStatus) ([]compute.Pod, error) {
	return list(tx, "list pods by status", podColumns, selectPodsByStatus, string(s))
}

// TimedPods gives the pods that are to be stopped, terminated or interrupted at some time, oldest first, but for those that are TERMINATED.
func (tx *Tx) TimedPods() ([]compute.PodID, error) {
	return tx.podIDs("list pods with timers", selectTimedPods)
}

// counted is a status and how many there are in it.
type counted struct {
	status compute.PodStatus
	n      int64
}

var countedColumns = columns[counted]{
	text("status", func(c *counted) *compute.PodStatus { return &c.status }),
	computed("count(*)", whole("n", func(c *counted) *int64 { return &c.n })),
}

// CountPods gives how many pods there are in each status but TERMINATED, of which there may be any number: they are not looked at.
func (tx *Tx) CountPods() (map[compute.PodStatus]int64, error) {
	rows, err := list(tx, "count pods", countedColumns, countPods)
	counts := make(map[compute.PodStatus]int64, len(rows))
	for _, c := range rows {
		counts[c.status] = c.n
	}
	return counts, err
}

// MovePod moves the pod if its version is still p's. One that is TERMINATED loses its environment and arguments: they may hold
// secrets.
func (tx *Tx) MovePod(p compute.Pod) (bool, error) {
	query := movePodOn
	if p.Status == compute.PodTerminated {
		query = endPod
	}
	p.MovedAt = tx.wall
	return tx.changed("move pod "+string(p.ID), query, podMoves.values(tx.args(), &p, string(p.ID), p.Version)...)
}

// DeleteTerminated removes at most limit pods that were terminated before the time, and reports how many.
func (tx *Tx) DeleteTerminated(before time.Time, limit int) (int, error) {
	n, err := tx.affected("delete terminated pods", deleteGone, before.UnixMilli(), tx.wall.UnixMilli(), limit)
	tx.deleted = tx.deleted || n > 0
	return n, err
}

// ChangePod writes the pod's settings if its version is still p's.
func (tx *Tx) ChangePod(p compute.Pod) (bool, error) {
	return tx.changed("change pod "+string(p.ID), changePod, podSettings.values(tx.args(), &p, string(p.ID), p.Version)...)
}

// NetworkAddresses gives to each the addresses that pods have which are not TERMINATED, ascending, with whose they are.
func (tx *Tx) NetworkAddresses(each func(compute.UserID, compute.NetworkAddress)) error {
	return tx.each("list network addresses", func(r row) error {
		var p compute.Pod
		err := podAddresses.scan(r, &p)
		each(p.UserID, p.Address)
		return err
	}, selectAddresses)
}

// podIDs reads the ids of pods.
func (tx *Tx) podIDs(what, query string, args ...any) ([]compute.PodID, error) {
	return list(tx, what, podIDColumn, query, args...)
}
