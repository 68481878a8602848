package sqldb

import "time"

var (
	lagColumn  = columns[time.Duration]{span("lag", itself[time.Duration])}
	selectLag  = `SELECT ` + lagColumn.list() + ` FROM clock`
	seenColumn = columns[time.Time]{instant("seen_at", itself[time.Time])}
	lastWall   = `SELECT max(seen_at) FROM (
SELECT seen_at FROM clock
UNION ALL SELECT max(began_at) FROM charges WHERE ended_at IS NULL
UNION ALL SELECT max(seen_at) FROM charges WHERE ended_at IS NULL) AS times`
)

const (
	seeWall = `INSERT INTO clock (one, lag, seen_at) VALUES (1, 0, ?) ON CONFLICT (one) DO UPDATE SET seen_at = excluded.seen_at`
	setLag  = `INSERT INTO clock (one, lag) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET lag = excluded.lag`
)

// Lag gives how far the time that decides was behind the time of day when SetLag was called last; 0 if it never was.
func (tx *Tx) Lag() (time.Duration, error) {
	lag, _, err := get(tx, "read the lag of the clock", lagColumn, selectLag)
	return lag, err
}

// StepWall says that the time of day steps with this transaction.
func (tx *Tx) StepWall(step time.Duration) { tx.stepped += step }

// SetLag keeps how far the time that decides is behind the time of day, in whole milliseconds.
func (tx *Tx) SetLag(lag time.Duration) error {
	_, err := tx.exec("set the lag of the clock", setLag, lag.Milliseconds())
	return err
}

// LastWall gives the latest time of day that the rows know of.
func (tx *Tx) LastWall() (time.Time, error) {
	at, _, err := get(tx, "read the last time of day", seenColumn, lastWall)
	return at, err
}

// SeeWall keeps the time of day, in whole milliseconds.
func (tx *Tx) SeeWall(at time.Time) error {
	_, err := tx.exec("keep the time of day", seeWall, at.UnixMilli())
	return err
}
