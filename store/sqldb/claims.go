package sqldb

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

const (
	// Of all claims on the host, with these, no more may be held than it has: the last six say how much the others may hold, and what
	// comes with each of their GPUs.
	guardClaims = addClaims + ` WHERE gpus <= ?6 AND vcpus + gpus * ?10 <= ?7 AND memory_gb + gpus * ?11 <= ?8 AND disk_gb <= ?9`
	addClaims   = `INSERT INTO claim_sums (host_id, gpus, vcpus, memory_gb, disk_gb) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (host_id) DO UPDATE SET
gpus = gpus + excluded.gpus, vcpus = vcpus + excluded.vcpus, memory_gb = memory_gb + excluded.memory_gb, disk_gb = disk_gb + excluded.disk_gb`
	insertClaim     = `INSERT INTO claims (holder_id, kept, part, host_id, vcpus, memory_gb, disk_gb) VALUES (?, ?, 0, ?, ?, ?, ?)`
	insertOneDevice = `INSERT INTO claims (holder_id, kept, part, host_id, device, vcpus, memory_gb, disk_gb)
VALUES (?1, ?2, 0, ?3, NULL, ?4, ?5, ?6), (?1, ?2, 1, ?3, ?7, 0, 0, 0)`
	// Each row is a list: kept, part, device, vCPUs, memory, disk.
	insertClaims = `INSERT INTO claims (holder_id, kept, part, host_id, device, vcpus, memory_gb, disk_gb)
SELECT ?1, value ->> 0, value ->> 1, ?2, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?3)`
	resizeClaim = `UPDATE claims SET disk_gb = disk_gb + ?1 WHERE holder_id = ?2 AND kept = ?3 AND part = 0
AND (?1 <= 0 OR coalesce((SELECT disk_gb FROM claim_sums WHERE claim_sums.host_id = claims.host_id), 0) + ?1 <= ?4) RETURNING host_id`

	forgetSums = `DELETE FROM claim_sums WHERE host_id = ? AND gpus = 0 AND vcpus = 0 AND memory_gb = 0 AND disk_gb = 0`

	claimColumns    = `holder_id, kept, part, host_id, coalesce(device, ''), vcpus, memory_gb, disk_gb`
	releaseClaims   = `DELETE FROM claims WHERE holder_id = ? AND kept <= ? RETURNING ` + claimColumns
	selectClaims    = `SELECT ` + claimColumns + ` FROM claims ORDER BY holder_id, kept, part`
	selectClaimsOn  = `SELECT ` + claimColumns + ` FROM claims WHERE host_id = ? ORDER BY holder_id, kept, part`
	selectClaimSums = `SELECT host_id, gpus, vcpus, memory_gb, disk_gb FROM claim_sums`
	selectDevices   = `SELECT host_id, device FROM claims WHERE device IS NOT NULL`
)

// InsertClaims stores the claims of one holder on one host, all or none of them. Conflict if a device is another's, or the host has
// not so much left; then nothing has changed.
func (tx *Tx) InsertClaims(size compute.HostSize, claims ...compute.Claim) error {
	var sum compute.Claimed
	for _, c := range claims {
		sum = sum.Plus(c.Claimed())
	}
	host, holder := claims[0].HostID, claims[0].HolderID
	left, altered := size.Free(sum), tx.altered
	if min(left.GPUs, left.VCPUs, left.MemoryGB, left.DiskGB) < 0 {
		return overfull(host)
	}
	n, err := tx.affected("sum claims", guardClaims, host, sum.GPUs, sum.VCPUs, sum.MemoryGB, sum.DiskGB,
		left.GPUs, left.VCPUs, left.MemoryGB, left.DiskGB, size.VCPUsPerGPU, size.MemoryGBPerGPU)
	if err == nil && n == 0 {
		tx.altered = altered
		return overfull(host)
	}
	if err != nil {
		return err
	}

	one := claims[0]
	switch { // most pods have no GPU, or one
	case len(claims) == 1 && len(one.Devices) == 0:
		_, err = tx.exec("insert claim", insertClaim, holder, one.Kept, host, one.VCPUs, one.MemoryGB, one.DiskGB)
	case len(claims) == 1 && len(one.Devices) == 1:
		_, err = tx.exec("insert claim", insertOneDevice, holder, one.Kept, host, one.VCPUs, one.MemoryGB, one.DiskGB, one.Devices[0])
	default:
		_, err = tx.exec("insert claims", insertClaims, holder, host, claimRows(claims))
	}
	if compute.CodeOf(err) == compute.Conflict { // the statement undid itself, and the sums are taken back
		if err := tx.subtractClaims(host, sum); err != nil {
			return err
		}
		tx.altered = altered
	}
	return err
}

func overfull(hostID string) error {
	return compute.Errorf(compute.Conflict, "claim host %s: it has not so much left", hostID)
}

// claimRows gives the rows of claims as JSON.
func claimRows(claims []compute.Claim) string {
	var rows [][]any
	for _, c := range claims {
		kept := 0
		if c.Kept {
			kept = 1
		}
		rows = append(rows, []any{kept, 0, nil, c.VCPUs, c.MemoryGB, c.DiskGB})
		for i, device := range c.Devices {
			rows = append(rows, []any{kept, i + 1, device, 0, 0, 0})
		}
	}
	b, err := json.Marshal(rows)
	if err != nil {
		panic("sqldb: numbers and strings are always JSON: " + err.Error())
	}
	return string(b)
}

func (tx *Tx) addClaims(hostID string, c compute.Claimed) error {
	_, err := tx.exec("sum claims", addClaims, hostID, c.GPUs, c.VCPUs, c.MemoryGB, c.DiskGB)
	return err
}

// subtractClaims takes from the sums of a host, and forgets those of one that nobody holds anything of.
func (tx *Tx) subtractClaims(hostID string, c compute.Claimed) error {
	if err := tx.addClaims(hostID, compute.Claimed{}.Minus(c)); err != nil {
		return err
	}
	_, err := tx.exec("forget sums", forgetSums, hostID)
	return err
}

// ResizeClaim adds so much disk to a claim, or takes it away; it tells whether there is such a claim and its host, which has mostGB in
// all, has so much left.
func (tx *Tx) ResizeClaim(holderID string, kept bool, byGB, mostGB int64) (bool, error) {
	var host string
	found, err := tx.gave("resize claim of "+holderID, func(row scanner) error { return row.Scan(&host) }, resizeClaim, byGB, holderID, kept, mostGB)
	if err != nil || !found {
		return false, err
	}
	return true, tx.addClaims(host, compute.Claimed{DiskGB: byGB})
}

// ReleaseClaims removes what the holder has, without kept only what a stopped pod does not hold, and gives it.
func (tx *Tx) ReleaseClaims(holderID string, kept bool) ([]compute.Claim, error) {
	tx.altered = true
	released, err := tx.claims("release claims of "+holderID, releaseClaims, holderID, kept)
	if err != nil {
		return nil, err
	}
	sums := map[string]compute.Claimed{}
	for _, c := range released {
		sums[c.HostID] = sums[c.HostID].Plus(c.Claimed())
	}
	for _, host := range slices.Sorted(maps.Keys(sums)) {
		if err := tx.subtractClaims(host, sums[host]); err != nil {
			return nil, err
		}
	}
	return released, nil
}

// ListClaims gives all claims, by their holders.
func (tx *Tx) ListClaims() ([]compute.Claim, error) { return tx.claims("list claims", selectClaims) }

// ClaimsOn gives the claims on a host, by their holders. It looks at all claims.
func (tx *Tx) ClaimsOn(hostID string) ([]compute.Claim, error) {
	return tx.claims("list claims on "+hostID, selectClaimsOn, hostID)
}

// claimRow is one row of a claim.
type claimRow struct {
	compute.Claim
	kept, part int
	device     string
}

// claims makes claims of their rows, in the order of their holders: a statement that deletes gives them in any.
func (tx *Tx) claims(what, query string, args ...any) (all []compute.Claim, err error) {
	rows, err := list(tx, what, func(row scanner) (r claimRow, err error) {
		err = row.Scan(&r.HolderID, &r.kept, &r.part, &r.HostID, &r.device, &r.VCPUs, &r.MemoryGB, &r.DiskGB)
		r.Kept = r.kept == 1
		return r, err
	}, query, args...)
	slices.SortFunc(rows, func(a, b claimRow) int {
		return cmp.Or(cmp.Compare(a.HolderID, b.HolderID), cmp.Compare(a.kept, b.kept), cmp.Compare(a.part, b.part))
	})

	for _, r := range rows {
		if r.part == 0 {
			all = append(all, r.Claim)
			continue
		}
		claim := &all[len(all)-1]
		claim.Devices = append(claim.Devices, r.device)
	}
	return all, err
}

// ClaimSums gives what the claims on each host hold together. It looks at no claim.
func (tx *Tx) ClaimSums() (map[string]compute.Claimed, error) {
	sums := map[string]compute.Claimed{}
	return sums, tx.each("sum claims", func(row scanner) error {
		var host string
		var c compute.Claimed
		err := row.Scan(&host, &c.GPUs, &c.VCPUs, &c.MemoryGB, &c.DiskGB)
		sums[host] = c
		return err
	}, selectClaimSums)
}

// ClaimedDevices gives to each the devices that are claimed, with their hosts.
func (tx *Tx) ClaimedDevices(each func(hostID, device string)) error {
	return tx.each("list claimed devices", func(row scanner) error {
		var host, device string
		err := row.Scan(&host, &device)
		each(host, device)
		return err
	}, selectDevices)
}
