// Package postgres is the store in a PostgreSQL database, which several replicas of berth may share. The statements are those of package
// sqldb; this package has the connections, the schema, what PostgreSQL says otherwise than SQLite, and what its errors mean.
//
// One connection writes, in groups (package groupcommit); a few others read. A connection that is lost is opened again by the next who
// needs it. What PostgreSQL acknowledged it has flushed, by its setting synchronous_commit, which is set for each connection.
package postgres
