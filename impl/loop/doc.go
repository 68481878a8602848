// Package loop is what happens unasked: pods are started, workers are scaled, and what is due by the clock is done. A loop
// takes hints and ticks; it calls runtimes outside any transaction and records outcomes guarded by id and version.
package loop
