package sqldb

import "time"

const (
	selectLag = `SELECT lag FROM clock`
	setLag    = `INSERT INTO clock (one, lag) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET lag = excluded.lag`
)

// Lag gives how far the time that decides was behind the time of day when SetLag was called last; 0 if it never was.
func (tx *Tx) Lag() (time.Duration, error) {
	var milliseconds int64
	_, err := tx.one("read the lag of the clock", func(row scanner) error { return row.Scan(&milliseconds) }, selectLag)
	return time.Duration(milliseconds) * time.Millisecond, err
}

// SetLag keeps how far the time that decides is behind the time of day, in whole milliseconds.
func (tx *Tx) SetLag(lag time.Duration) error {
	_, err := tx.exec("set the lag of the clock", setLag, lag.Milliseconds())
	return err
}
