package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const podColumns = `id, user_id, name, image, args, disk_gb, ports, env, registry_id, persistent_gb, persistent_path,
network_volume_id, network_path, gpu_id, gpu_count, cpu_id, cpu_vcpus, cpu_memory_gb, cloud, data_center_id, host_id, template_id,
cluster_id,
devices, network_address, global_networking, locked, cost_per_hour, status, gone, reason, version, created_at, started_at, restart_at, moved_at`

// podFields are the same to be read: the ids joined, which hold no control characters, and the whole numbers.
const podFields = `concat_ws(char(31), id, user_id, registry_id, coalesce(network_volume_id, ''), coalesce(gpu_id, ''), coalesce(cpu_id, ''),
cloud, data_center_id, host_id, template_id, cluster_id, status), name, image, args, ports, env, coalesce(persistent_path, ''),
coalesce(network_path, ''), devices, reason, cost_per_hour, concat_ws(' ', disk_gb, coalesce(persistent_gb, -1), coalesce(gpu_count, 0),
coalesce(cpu_vcpus, 0), coalesce(cpu_memory_gb, 0), network_address, global_networking, locked, version, coalesce(created_at, 0),
coalesce(started_at, 0), coalesce(restart_at, 0), coalesce(moved_at, 0))`

const (
	insertPod = `INSERT INTO pods (` + podColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectPod        = `SELECT ` + podFields + ` FROM pods WHERE id = ?`
	selectPodsOfUser = `SELECT ` + podFields + ` FROM pods WHERE user_id = ? AND gone = 0 ORDER BY created_at DESC, seq DESC`
	// The user is any: with it the index serves that leaves out those that are gone.
	selectPodsByStatus = `SELECT ` + podFields + ` FROM pods WHERE user_id >= '' AND gone = 0 AND status = ? ORDER BY created_at, seq`
	countPods          = `SELECT status, count(*) FROM pods WHERE user_id >= '' AND gone = 0 GROUP BY status`
	movePod            = `UPDATE pods SET status = ?, reason = ?, started_at = ?, restart_at = ?, data_center_id = ?, host_id = ?, devices = ?, network_address = ?, moved_at = ?, version = version + 1`
	oneVersion         = ` WHERE id = ? AND version = ?`
	endPod             = movePod + `, gone = 1, env = '{}', args = ''` + oneVersion
	movePodOn          = movePod + oneVersion
	selectNextGone     = `SELECT MIN(moved_at) FROM pods WHERE gone = 1`
	deleteGone         = `DELETE FROM pods WHERE seq IN (SELECT seq FROM pods WHERE gone = 1 AND moved_at < ? LIMIT ?)`
	selectAddresses    = `SELECT user_id, network_address FROM pods WHERE network_address > 0 AND gone = 0 ORDER BY network_address`
	changePod          = `UPDATE pods SET name = ?, image = ?, args = ?, disk_gb = ?, ports = ?, env = ?, registry_id = ?, persistent_gb = ?,
persistent_path = ?, network_path = ?, global_networking = ?, locked = ?, version = version + 1` + oneVersion
)

// InsertPod stores a new pod. Conflict when the id is taken.
func (tx *Tx) InsertPod(p compute.Pod) error {
	var persistentGB, persistentPath, networkID, networkPath, gpuID, gpuCount, cpuID, vcpus, memory any
	if m := p.Persistent; m != nil {
		persistentGB, persistentPath = m.SizeGB, m.Path
	}
	if m := p.Network; m != nil {
		networkID, networkPath = string(m.VolumeID), m.Path
	}
	if g := p.GPU; g != nil {
		gpuID, gpuCount = g.ID, g.Count
	}
	if c := p.CPU; c != nil {
		cpuID, vcpus, memory = c.ID, c.VCPUCount, c.MemoryGB
	}
	_, err := tx.exec("insert pod "+string(p.ID), insertPod,
		string(p.ID), string(p.UserID), p.Name, p.Image, p.Args, p.DiskGB, text(p.Ports), text(p.Env), string(p.RegistryID),
		persistentGB, persistentPath, networkID, networkPath, gpuID, gpuCount, cpuID, vcpus, memory,
		string(p.Cloud), p.DataCenterID, p.HostID, string(p.TemplateID), string(p.ClusterID), text(p.Devices), int64(p.Address), p.GlobalNetworking, p.Locked, p.CostPerHour,
		string(p.Status), p.Status == compute.PodTerminated, p.Reason, p.Version, millis(p.CreatedAt), millis(p.StartedAt), millis(p.RestartAt), millis(p.MovedAt))
	return err
}

func scanPod(row scanner) (compute.Pod, error) {
	var read struct { // one thing to allocate
		compute.Pod
		persistentPath, networkPath string
	}
	p := &read.Pod
	err := row.Scan(joined{"\x1f", func(next *parts) {
		p.ID, p.UserID, p.RegistryID = compute.PodID(next.text()), compute.UserID(next.text()), compute.RegistryID(next.text())
		if id := next.text(); id != "" {
			p.Network = &compute.NetworkMount{VolumeID: compute.VolumeID(id)}
		}
		if id := next.text(); id != "" {
			p.GPU = &compute.GPU{ID: id}
		}
		if id := next.text(); id != "" {
			p.CPU = &compute.CPU{ID: id}
		}
		p.Cloud, p.DataCenterID, p.HostID = compute.Cloud(next.text()), next.text(), next.text()
		p.TemplateID, p.ClusterID, p.Status = compute.TemplateID(next.text()), compute.ClusterID(next.text()), compute.PodStatus(next.text())
	}}, &p.Name, &p.Image, &p.Args, words[[]string]{&p.Ports}, words[map[string]string]{&p.Env}, &read.persistentPath, &read.networkPath,
		words[[]string]{&p.Devices}, &p.Reason, &p.CostPerHour, joined{" ", func(next *parts) {
			p.DiskGB = next.number()
			if gb := next.number(); gb >= 0 {
				p.Persistent = &compute.PersistentMount{SizeGB: gb, Path: read.persistentPath}
			}
			if count := next.number(); p.GPU != nil {
				p.GPU.Count = count
			}
			if vcpus, memory := next.number(), next.number(); p.CPU != nil {
				p.CPU.VCPUCount, p.CPU.MemoryGB = vcpus, memory
			}
			p.Address, p.GlobalNetworking, p.Locked = compute.NetworkAddress(next.number()), next.number() != 0, next.number() != 0
			p.Version = next.number()
			p.CreatedAt, p.StartedAt, p.RestartAt, p.MovedAt = next.instant(), next.instant(), next.instant(), next.instant()
		}})
	if p.Network != nil {
		p.Network.Path = read.networkPath
	}
	return *p, err
}

// Pod gives one pod. NotFound for an unknown id.
func (tx *Tx) Pod(id compute.PodID) (p compute.Pod, err error) {
	found, err := tx.one("read pod "+string(id), func(row scanner) (err error) {
		p, err = scanPod(row)
		return err
	}, selectPod, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "pod %q does not exist", id)
	}
	return p, err
}

// ListPods gives the user's pods that are not TERMINATED, newest first.
func (tx *Tx) ListPods(user compute.UserID) ([]compute.Pod, error) {
	return list(tx, "list pods", scanPod, selectPodsOfUser, string(user))
}

// ListPodsByStatus gives every user's pods in the status, oldest first; none for TERMINATED.
func (tx *Tx) ListPodsByStatus(s compute.PodStatus) ([]compute.Pod, error) {
	return list(tx, "list pods by status", scanPod, selectPodsByStatus, string(s))
}

// CountPods gives how many pods there are in each status but TERMINATED, of which there may be any number: they are not looked at.
func (tx *Tx) CountPods() (map[compute.PodStatus]int64, error) {
	counts := map[compute.PodStatus]int64{}
	return counts, tx.each("count pods", func(row scanner) error {
		var status compute.PodStatus
		var n int64
		err := row.Scan(&status, &n)
		counts[status] = n
		return err
	}, countPods)
}

// MovePod moves the pod if its version is still p's. One that is TERMINATED loses its environment and arguments: they may hold
// secrets.
func (tx *Tx) MovePod(p compute.Pod) (bool, error) {
	query := movePodOn
	if p.Status == compute.PodTerminated {
		query = endPod
	}
	return tx.changed("move pod "+string(p.ID), query, string(p.Status), p.Reason, millis(p.StartedAt), millis(p.RestartAt), p.DataCenterID, p.HostID,
		text(p.Devices), int64(p.Address), millis(tx.wall), string(p.ID), p.Version)
}

// NextTerminated gives when the pod was terminated of which that is longest ago; zero if there is none.
func (tx *Tx) NextTerminated() (at time.Time, err error) {
	_, err = tx.one("find next terminated pod", func(row scanner) error { return row.Scan(instant{&at}) }, selectNextGone)
	return at, err
}

// DeleteTerminated removes at most limit pods that were terminated before the time, and tells how many.
func (tx *Tx) DeleteTerminated(before time.Time, limit int) (int, error) {
	n, err := tx.affected("delete terminated pods", deleteGone, before.UnixMilli(), limit)
	tx.deleted = tx.deleted || n > 0
	return n, err
}

// ChangePod writes the pod's settings if its version is still p's.
func (tx *Tx) ChangePod(p compute.Pod) (bool, error) {
	var persistentGB, persistentPath, networkPath any
	if m := p.Persistent; m != nil {
		persistentGB, persistentPath = m.SizeGB, m.Path
	}
	if m := p.Network; m != nil {
		networkPath = m.Path
	}
	return tx.changed("change pod "+string(p.ID), changePod, p.Name, p.Image, p.Args, p.DiskGB, text(p.Ports), text(p.Env),
		string(p.RegistryID), persistentGB, persistentPath, networkPath, p.GlobalNetworking, p.Locked, string(p.ID), p.Version)
}

// NetworkAddresses gives to each the addresses that pods have which are not TERMINATED, ascending, with whose they are.
func (tx *Tx) NetworkAddresses(each func(compute.UserID, compute.NetworkAddress)) error {
	return tx.each("list network addresses", func(row scanner) error {
		var user compute.UserID
		var address compute.NetworkAddress
		err := row.Scan(&user, &address)
		each(user, address)
		return err
	}, selectAddresses)
}
