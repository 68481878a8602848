// Package sqlite keeps the store in one SQLite file: some connections read, one writes, and concurrent writes share a
// commit. What a Write that returned nil wrote is on disk.
package sqlite
