package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// troubles are the codes of PostgreSQL, or the classes that these begin with, of what is no fault of a statement.
var troubles = map[string]store.Trouble{
	"53100": store.Full,
	"53":    store.Away,    // too many connections, no memory
	"08":    store.Away,    // the connection
	"57":    store.Away,    // it is shut down, or has not come up; a statement took too long
	"25006": store.Away,    // it is a standby, which takes no writes
	"58":    store.Failing, // its disk
	"XX":    store.Failing, // its files
	"40":    store.Locked,  // another transaction was in the way
	"55P03": store.Locked,
}

func troubleOf(err error) store.Trouble {
	if err == nil {
		return ""
	}
	if code := codeOf(err); code != "" {
		if t := cmp.Or(troubles[code], troubles[code[:2]]); t != "" {
			return t
		}
	}

	if errors.Is(err, errMoved) {
		return store.Moved
	}
	_, lost := errors.AsType[*awayError](err)
	if lost || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return store.Away
	}
	return ""
}

// reported gives err as callers get it: what the database failed says so.
func reported(err error) error {
	if _, own := errors.AsType[*compute.Error](err); own || errors.Is(err, context.Canceled) {
		return err
	}
	if t := troubleOf(err); t != "" {
		return store.Troubled(t, err)
	}
	return err
}
