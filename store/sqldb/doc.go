// Package sqldb holds the queries of a store in SQL, one file for each resource, and turns rows into the types of package
// compute. The packages of the databases open connections, begin and commit.
package sqldb
