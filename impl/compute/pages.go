package compute

// Page asks for a part of a list, of which the order never changes: what is inserted or deleted meanwhile moves nothing from one
// part to another.
type Page struct {
	After Position // where the part before ended; zero: it begins with the list
	Limit int      // how many it has at most, 1 or more
	Room  Room     // for what it has in bytes; it ends before a row for which there is none, but never before the first. Nil: for all
}

// Room reports whether a list may have so many bytes in all. It is asked while the rows are read, and must not wait.
type Room func(bytes int) bool

// Position is a place in a list, which stays when what was there is deleted. The zero Position is no place.
type Position struct {
	At  int64 // when it was made, in milliseconds; 0 where Seq orders alone
	Seq int64 // orders what was made at the same time
}
