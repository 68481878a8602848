package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	loginDecision = columns[compute.LoginRequest]{
		text("status", func(l *compute.LoginRequest) *compute.LoginStatus { return &l.Status }),
		text("approver", func(l *compute.LoginRequest) *compute.KeyID { return &l.Approver }),
		text("user_id", func(l *compute.LoginRequest) *compute.UserID { return &l.UserID }),
		text("key_id", func(l *compute.LoginRequest) *compute.KeyID { return &l.KeyID }),
	}
	loginColumns = all(
		columns[compute.LoginRequest]{
			text("hash", func(l *compute.LoginRequest) *string { return &l.Hash }),
			text("name", func(l *compute.LoginRequest) *string { return &l.Name }),
			text("challenge", func(l *compute.LoginRequest) *string { return &l.Challenge }),
			text("client", func(l *compute.LoginRequest) *string { return &l.Client }),
			text("origin", func(l *compute.LoginRequest) *string { return &l.Origin }),
			text("agent", func(l *compute.LoginRequest) *string { return &l.Agent }),
			instant("created_at", func(l *compute.LoginRequest) *time.Time { return &l.CreatedAt }),
			instant("expires_at", func(l *compute.LoginRequest) *time.Time { return &l.ExpiresAt }),
		},
		loginDecision,
	)

	// loginCounts are how many requests there are of an origin, and in all.
	loginCounts = columns[[2]int64]{
		whole("of_origin", func(n *[2]int64) *int64 { return &n[0] }),
		whole("in_all", func(n *[2]int64) *int64 { return &n[1] }),
	}

	insertLogin = loginColumns.insert("logins")
	selectLogin = `SELECT ` + loginColumns.list() + ` FROM logins WHERE hash = ?`
	moveLogin   = `UPDATE logins SET ` + loginDecision.set() + ` WHERE hash = ? AND status = ?`
)

const (
	countLogins = `SELECT coalesce(sum(CASE WHEN origin = ?1 THEN 1 ELSE 0 END), 0), count(*) FROM logins WHERE status = 'PENDING' AND expires_at > ?2`

	deleteLogins = `DELETE FROM logins WHERE hash IN (SELECT hash FROM logins WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`
)

// InsertLogin stores a new request to log in. Conflict when there is one with the hash.
func (tx *Tx) InsertLogin(l compute.LoginRequest) error {
	_, err := tx.exec("insert a request to log in", insertLogin, loginColumns.values(tx.args(), &l)...)
	return err
}

// Login gives the request whose id has the hash, as it is stored. NotFound for an unknown one.
func (tx *Tx) Login(hash string) (compute.LoginRequest, error) {
	l, found, err := get(tx, "read a request to log in", loginColumns, selectLogin, hash)
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "the request to log in does not exist")
	}
	return l, err
}

// CountLogins gives how many requests are stored as PENDING that end after the time: of the origin, and in all.
func (tx *Tx) CountLogins(origin string, after time.Time) (ofOrigin, inAll int64, err error) {
	n, _, err := get(tx, "count requests to log in", loginCounts, countLogins, origin, after.UnixMilli())
	return n[0], n[1], err
}

// MoveLogin writes status, Approver, UserID and KeyID of l, if its status is still the one given; it reports whether it was.
func (tx *Tx) MoveLogin(l compute.LoginRequest, from compute.LoginStatus) (bool, error) {
	return tx.changed("move a request to log in", moveLogin, loginDecision.values(tx.args(), &l, l.Hash, string(from))...)
}

// DeleteLogins removes at most limit requests that ended before the time, and reports how many.
func (tx *Tx) DeleteLogins(before time.Time, limit int) (int, error) {
	return tx.affected("delete requests to log in", deleteLogins, before.UnixMilli(), limit)
}
