package sqlite

import "github.com/berthdev/berth/store/sqldb"

const (
	// shrinkStep is how many pages are given back in one commit: it bounds how long a call may be held up, by about 2 ms.
	shrinkStep = "PRAGMA incremental_vacuum(64)"
	// shrinkLeast is how many unused pages are kept in any case, for what is written next.
	shrinkLeast = 256
	// shrinkShare is the part of the file that may be unused: one page of so many.
	shrinkShare = 8
)

// shrink gives some unused pages at the end of the file back, when nobody waits, and reports whether there are more. It is
// looked for only after jobs were deleted. An error ends it until then: the file is as good as before.
func shrink(c *sqldb.Conn) (more bool) {
	free, err := number(c, "PRAGMA freelist_count")
	if err != nil || free <= shrinkLeast {
		return false
	}
	pages, err := number(c, "PRAGMA page_count")
	if err != nil || free*shrinkShare <= pages {
		return false
	}
	_, err = c.Exec(shrinkStep)
	return err == nil
}

func number(c *sqldb.Conn, query string) (n int64, err error) {
	rows, err := c.Query(query)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }() // Err has its error
	for rows.Next() {
		n, _ = rows.Row()[0].(int64)
	}
	return n, rows.Err()
}
