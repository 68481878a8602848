package sqldb

import "time"

var (
	lagColumn = columns[time.Duration]{span("lag", itself[time.Duration])}
	selectLag = `SELECT ` + lagColumn.list() + ` FROM clock`
)

const setLag = `INSERT INTO clock (one, lag) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET lag = excluded.lag`

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
