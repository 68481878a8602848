package sqldb

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// claimRow is a row of a claim: part 0 has the amounts, and each further part a device.
type claimRow struct {
	compute.Claim
	part   int
	device *string
}

// claimSum is what all claims on a host hold together.
type claimSum struct {
	host string
	compute.Claimed
}

var (
	claimColumns = all(columns[claimRow]{
		text("holder_id", func(c *claimRow) *string { return &c.HolderID }),
		flag("kept", func(c *claimRow) *bool { return &c.Kept }),
		whole("part", func(c *claimRow) *int { return &c.part }),
		text("host_id", func(c *claimRow) *string { return &c.HostID }),
		whole("vcpus", func(c *claimRow) *int64 { return &c.VCPUs }),
		whole("memory_gb", func(c *claimRow) *int64 { return &c.MemoryGB }),
		whole("disk_gb", func(c *claimRow) *int64 { return &c.DiskGB }),
	}, optional(func(c *claimRow) **string { return &c.device }, columns[string]{text("device", itself[string])}))
	claimHost   = claimColumns.only("host_id")
	claimDevice = claimColumns.only("host_id", "device")

	amountColumns = columns[compute.Claimed]{
		whole("gpus", func(c *compute.Claimed) *int64 { return &c.GPUs }),
		whole("vcpus", func(c *compute.Claimed) *int64 { return &c.VCPUs }),
		whole("memory_gb", func(c *compute.Claimed) *int64 { return &c.MemoryGB }),
		whole("disk_gb", func(c *compute.Claimed) *int64 { return &c.DiskGB }),
	}
	sumColumns = all(columns[claimSum]{text("host_id", func(s *claimSum) *string { return &s.host })},
		embedded(func(s *claimSum) *compute.Claimed { return &s.Claimed }, amountColumns))

	addClaims = sumColumns.insert("claim_sums") + ` ON CONFLICT (host_id) DO UPDATE SET ` +
		amountColumns.format("%s = claim_sums.%s + excluded.%s")
	// Of all claims on the host, with these, no more may be held than it has: the arguments say how much the others may hold, and what
	// comes with each of their GPUs.
	guardClaims = addClaims + ` WHERE claim_sums.gpus <= ? AND claim_sums.vcpus + claim_sums.gpus * ? <= ?
AND claim_sums.memory_gb + claim_sums.gpus * ? <= ? AND claim_sums.disk_gb <= ?`
	forgetSums = `DELETE FROM claim_sums WHERE host_id = ? AND gpus = 0 AND vcpus = 0 AND memory_gb = 0 AND disk_gb = 0`

	insertClaim = claimColumns.insert("claims")
	resizeClaim = `UPDATE claims SET disk_gb = disk_gb + ?1 WHERE holder_id = ?2 AND kept = ?3 AND part = 0
AND coalesce((SELECT disk_gb FROM claim_sums WHERE claim_sums.host_id = claims.host_id), 0) <= ?4 RETURNING ` + claimHost.list()
	releaseClaims   = `DELETE FROM claims WHERE holder_id = ? AND kept <= ? RETURNING ` + claimColumns.list()
	selectClaims    = `SELECT ` + claimColumns.list() + ` FROM claims ORDER BY holder_id, kept, part`
	selectClaimsOn  = `SELECT ` + claimColumns.list() + ` FROM claims WHERE host_id = ? ORDER BY holder_id, kept, part`
	selectClaimsOf  = `SELECT ` + claimColumns.list() + ` FROM claims WHERE holder_id = ? ORDER BY kept, part`
	selectClaimSums = `SELECT ` + sumColumns.list() + ` FROM claim_sums`
	selectDevices   = `SELECT ` + claimDevice.list() + ` FROM claims WHERE device IS NOT NULL`
)

// InsertClaims stores the claims of one holder on one host, all or none of them. Conflict if a device is another's, or the host has
// not so much left; then nothing has changed.
func (tx *Tx) InsertClaims(size compute.HostSize, claims ...compute.Claim) error {
	var sum compute.Claimed
	for _, c := range claims {
		sum = sum.Plus(c.Claimed())
	}
	host := claims[0].HostID
	left, altered := size.Free(sum), tx.altered
	if min(left.GPUs, left.VCPUs, left.MemoryGB, left.DiskGB) < 0 {
		return overfull(host)
	}

	n, err := tx.affected("sum claims", guardClaims, sumColumns.values(tx.args(), &claimSum{host, sum},
		left.GPUs, size.VCPUsPerGPU, left.VCPUs, size.MemoryGBPerGPU, left.MemoryGB, left.DiskGB)...)
	if err == nil && n == 0 {
		tx.altered = altered
		return overfull(host)
	}
	if err != nil {
		return err
	}

	err = tx.insertClaimRows(claims)
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

// insertClaimRows stores the rows in one statement: if one is refused, none of them is there.
func (tx *Tx) insertClaimRows(claims []compute.Claim) error {
	args := tx.args()
	rows := 0
	add := func(r claimRow) {
		args = claimColumns.values(args, &r)
		rows++
	}

	for _, c := range claims {
		add(claimRow{Claim: c})
		for i := range c.Devices {
			add(claimRow{compute.Claim{HolderID: c.HolderID, HostID: c.HostID, Kept: c.Kept}, i + 1, &c.Devices[i]})
		}
	}

	// There are no more forms of it than a host has devices.
	_, err := tx.exec("insert claims", insertClaim+strings.Repeat(", ("+claimColumns.marks()+")", rows-1), args...)
	return err
}

func (tx *Tx) addClaims(hostID string, c compute.Claimed) error {
	_, err := tx.exec("sum claims", addClaims, sumColumns.values(tx.args(), &claimSum{hostID, c})...)
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

// ResizeClaim adds so much disk to a claim, or takes it away; it reports whether there is such a claim and its host, which has mostGB in
// all, has so much left.
func (tx *Tx) ResizeClaim(holderID string, kept bool, byGB, mostGB int64) (bool, error) {
	before := int64(math.MaxInt64) // what may be held of the host before
	if byGB > 0 {
		before = mostGB - byGB // in 64 bits, which a sum of what clients ask for may not have
	}
	c, found, err := gave(tx, "resize claim of "+holderID, claimHost, resizeClaim, byGB, holderID, kept, before)
	if err != nil || !found {
		return false, err
	}
	return true, tx.addClaims(c.HostID, compute.Claimed{DiskGB: byGB})
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

// ClaimsOf gives the claims of a holder.
func (tx *Tx) ClaimsOf(holderID string) ([]compute.Claim, error) {
	return tx.claims("list claims of "+holderID, selectClaimsOf, holderID)
}

// ClaimsOn gives the claims on a host, by their holders. It looks at all claims.
func (tx *Tx) ClaimsOn(hostID string) ([]compute.Claim, error) {
	return tx.claims("list claims on "+hostID, selectClaimsOn, hostID)
}

// claims makes claims of their rows, in the order of their holders: a statement that deletes gives them in any.
func (tx *Tx) claims(what, query string, args ...any) (all []compute.Claim, err error) {
	rows, err := list(tx, what, claimColumns, query, args...)
	slices.SortFunc(rows, func(a, b claimRow) int {
		return cmp.Or(cmp.Compare(a.HolderID, b.HolderID), cmp.Compare(bit(a.Kept), bit(b.Kept)), cmp.Compare(a.part, b.part))
	})

	for _, r := range rows {
		if r.part == 0 {
			all = append(all, r.Claim)
			continue
		}
		claim := &all[len(all)-1]
		claim.Devices = append(claim.Devices, *r.device)
	}

	return all, err
}

// ClaimSums gives what the claims on each host hold together. It looks at no claim.
func (tx *Tx) ClaimSums() (map[string]compute.Claimed, error) {
	rows, err := list(tx, "sum claims", sumColumns, selectClaimSums)
	sums := make(map[string]compute.Claimed, len(rows))
	for _, r := range rows {
		sums[r.host] = r.Claimed
	}
	return sums, err
}

// ClaimedDevices gives to each the devices that are claimed, with their hosts.
func (tx *Tx) ClaimedDevices(each func(hostID, device string)) error {
	return tx.each("list claimed devices", func(r row) error {
		var c claimRow
		err := claimDevice.scan(r, &c)
		if err == nil {
			each(c.HostID, *c.device)
		}
		return err
	}, selectDevices)
}
