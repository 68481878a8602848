// Package sqldb holds the queries of a store in SQL, one file for each resource, and turns rows into the types of package
// compute. The packages of the engines open connections, begin and commit.
//
// # Columns
//
// Each table has one list of its columns, with the field that each is read into and written from. The lists of names and of places in
// statements come from it, and so do the arguments and what takes the values of a row: a column is named once. A table whose rows change
// has its list in parts, by the statements that write them. A field that is in no list, or in no part that it should be in, is named by
// the suite in storetest; a column of the schema that no list has by a test of this package.
//
// # Types
//
// A column is a 64-bit integer, a 64-bit floating-point number, text, or bytes. Times are integers, milliseconds since 1970, durations
// are milliseconds, and booleans are 1 or 0. Lists and maps of strings are JSON as text; JSON that is given back byte for byte is bytes.
// kinds.go alone knows this.
//
// # What an engine supplies
//
//   - A connection of database/sql whose driver has prepared statements with contexts (driver.StmtExecContext and StmtQueryContext),
//     gives int64, float64, string, []byte or nil for what is above, and gives bytes that it does not use again.
//   - A Dialect, which gives each statement in the engine's own words: here an argument is ? or, where it is named twice, ?1, ?2 and
//     so on; the columns that a statement lists are in double quotes, and nothing else is. The statements know functions of SQLite at a
//     few places (json_each, max of two, INDEXED BY), which another engine replaces. It recognises an error that says that a unique
//     value is taken by its code.
//   - A schema with these tables and columns, and with the unique indexes that the guards rest on.
//   - An error of a unique value undoes its statement alone; the transaction goes on (SAVEPOINT, where an engine ends it).
//   - store/groupcommit runs the calls of many callers in one transaction and commits it; the engine is its groupcommit.Engine, which makes
//     a Tx for each call with NewTx.
//   - It passes the suite in storetest.
package sqldb
