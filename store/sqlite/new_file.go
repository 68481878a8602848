package sqlite

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// Of SQLite's file format, https://www.sqlite.org/fileformat2.html.
const (
	pageSize   = 4096
	headerSize = 100 // of the file, at the begin of its first page
	leafHeader = 8
	mapEntries = pageSize / 5 // pages that one page of the pointer map covers
	walVersion = 2

	// A row that is longer than its page would have to go on in others.
	statementLimit = pageSize - 200

	interior  = 0x05 // kinds of pages: of a table, with pages below it
	leafIndex = 0x0a
	leafTable = 0x0d

	mapRoot = 1 // kinds of entries of the pointer map
	mapPage = 5
)

// schemaObject is a table or an index, as a row of sqlite_schema has it.
type schemaObject struct {
	kind, name, table string
	sql               string // empty: an index that SQLite makes by itself
}

// schemaObjects reads what writeSchema in the tests wrote: a comment, then statements with an empty line after each. An index
// that SQLite makes for a constraint is a comment, "-- name ON table".
func schemaObjects(text string) (all []schemaObject, err error) {
	_, text, _ = strings.Cut(strings.TrimSuffix(text, ";\n"), "\n\n")
	for statement := range strings.SplitSeq(text, ";\n\n") {
		line, _, _ := strings.Cut(statement, "\n")
		words := strings.Fields(line)
		switch {
		case len(words) > 2 && words[0] == "CREATE" && words[1] == "TABLE":
			all = append(all, schemaObject{"table", words[2], words[2], statement})
		case len(words) > 4 && words[0] == "CREATE" && words[1] == "INDEX":
			all = append(all, schemaObject{"index", words[2], words[4], statement})
		case len(words) > 5 && words[0] == "CREATE" && words[1] == "UNIQUE":
			all = append(all, schemaObject{"index", words[3], words[5], statement})
		case len(words) == 4 && words[0] == "--":
			all = append(all, schemaObject{"index", words[1], words[3], ""})
		default:
			return nil, fmt.Errorf("schema.sql: no table and no index: %q", statement)
		}
	}

	return all, nil
}

// writeNewFile writes a database without rows, in WAL mode and able to give back what is deleted. Having SQLite run the statements
// takes as long as half of a start; a file whose tables are all empty is simple enough to be written as it is. First come the
// roots of the tables and indexes, each an empty page, then the pages of sqlite_schema.
func writeNewFile(to io.Writer, objects []schemaObject, version int) error {
	const firstRoot = 3 // after the root of sqlite_schema and the pointer map
	leaves, err := schemaLeaves(objects, firstRoot)
	if err != nil {
		return err
	}

	firstLeaf := firstRoot + len(objects)
	pages := firstLeaf + len(leaves) - 1
	if pages-2 > mapEntries {
		return fmt.Errorf("schema.sql: %d pages are more than one page of the pointer map covers", pages)
	}

	out, page := bufio.NewWriterSize(to, 16*pageSize), make([]byte, pageSize)
	end := func() {
		_, _ = out.Write(page) // Flush has its error
		clear(page)
	}
	putHeader(page, pages, firstLeaf-1, version)
	putSchemaRoot(page, leaves, firstLeaf)
	end()

	for n := firstRoot; n <= pages; n++ {
		entry := page[5*(n-firstRoot):]
		entry[0] = mapRoot
		if n >= firstLeaf {
			entry[0] = mapPage
			binary.BigEndian.PutUint32(entry[1:], 1) // below the first page
		}
	}

	end()
	for _, o := range objects {
		kind := byte(leafTable)
		if o.kind == "index" || strings.HasSuffix(o.sql, "WITHOUT ROWID") {
			kind = leafIndex
		}
		putCells(page, 0, kind, leafHeader, nil)
		end()
	}

	for _, l := range leaves {
		putCells(page, 0, leafTable, leafHeader, l.cells)
		end()
	}
	return out.Flush()
}

// schemaLeaf is what one page has of sqlite_schema.
type schemaLeaf struct {
	cells [][]byte
	last  int // the number of its last row
}

// schemaLeaves gives the rows of sqlite_schema, which are numbered from 1. The objects have one page each, from root on.
func schemaLeaves(objects []schemaObject, root int) ([]schemaLeaf, error) {
	leaves := make([]schemaLeaf, 1)
	used := leafHeader
	for i, o := range objects {
		if len(o.sql) > statementLimit {
			return nil, fmt.Errorf("schema.sql: the statement of %s has %d bytes, more than a page has room for", o.name, len(o.sql))
		}
		cell := schemaCell(o, i+1, root+i)
		if used+2+len(cell) > pageSize {
			leaves, used = append(leaves, schemaLeaf{}), leafHeader
		}
		l := &leaves[len(leaves)-1]
		l.cells, l.last, used = append(l.cells, cell), i+1, used+2+len(cell)
	}

	return leaves, nil
}

// schemaCell gives a numbered row: type, name, tbl_name, rootpage and sql, after the type of each.
func schemaCell(o schemaObject, number, root int) []byte {
	types := make([]byte, 0, 16)
	size := 2
	for _, text := range []string{o.kind, o.name, o.table} {
		types, size = varint(types, 2*len(text)+13), size+len(text)
	}
	types = append(types, 2) // a number of two bytes

	if o.sql == "" {
		types = append(types, 0) // NULL
	} else {
		types, size = varint(types, 2*len(o.sql)+13), size+len(o.sql)
	}

	cell := make([]byte, 0, size+32)
	cell = varint(cell, 1+len(types)+size)
	cell = varint(cell, number)
	cell = varint(cell, 1+len(types))
	cell = append(cell, types...)
	cell = append(append(append(cell, o.kind...), o.name...), o.table...)
	cell = binary.BigEndian.AppendUint16(cell, uint16(root))

	return append(cell, o.sql...)
}

// putHeader writes the header of the file.
func putHeader(page []byte, pages, lastRoot, version int) {
	copy(page, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(page[16:], pageSize)
	page[18], page[19] = walVersion, walVersion
	page[21], page[22], page[23] = 64, 32, 32 // fixed
	for _, field := range []struct{ at, value int }{
		{24, 1}, {28, pages}, // changes so far; pages
		{40, 1}, {44, 4}, {56, 1}, // changes of the schema; its format; UTF-8
		{52, lastRoot}, {64, 1}, // which say that auto_vacuum is INCREMENTAL
		{60, version}, {92, 1}, {96, lib.SQLITE_VERSION_NUMBER}, // user_version; the pages were counted at the first change
	} {
		binary.BigEndian.PutUint32(page[field.at:], uint32(field.value))
	}
}

// putSchemaRoot writes the root of sqlite_schema after the header: it says which rows are where.
func putSchemaRoot(page []byte, leaves []schemaLeaf, firstLeaf int) {
	last := len(leaves) - 1
	var cells [][]byte
	for i, l := range leaves[:last] {
		cells = append(cells, varint(binary.BigEndian.AppendUint32(nil, uint32(firstLeaf+i)), l.last))
	}
	putCells(page, headerSize, interior, leafHeader+4, cells)
	binary.BigEndian.PutUint32(page[headerSize+leafHeader:], uint32(firstLeaf+last)) // where the rows after the last cell are
}

// putCells writes the header of a page, which begins at an offset, and its cells: their places after the header, themselves from
// the end on.
func putCells(page []byte, at int, kind byte, header int, cells [][]byte) {
	end := len(page)
	for i, cell := range cells {
		end -= len(cell)
		copy(page[end:], cell)
		binary.BigEndian.PutUint16(page[at+header+2*i:], uint16(end))
	}
	page[at] = kind
	binary.BigEndian.PutUint16(page[at+3:], uint16(len(cells)))
	binary.BigEndian.PutUint16(page[at+5:], uint16(end))
}

// varint adds a number below 2^14, seven bits to a byte.
func varint(to []byte, n int) []byte {
	if n < 1<<7 {
		return append(to, byte(n))
	}
	return append(to, byte(n>>7)|0x80, byte(n)&0x7f)
}
