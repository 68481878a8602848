// Package ship keeps a copy of a SQLite store elsewhere, in a folder or in a bucket of S3, which lags behind by a second or so, and restores it.
//
// # What is there
//
// A server begins a generation when it starts, which nobody else adds to: its name has when that was, and something random. In it are
//
//   - segments of the database's log, numbered from 1 without a gap: all that was committed, in order, since the generation began;
//   - bases, each of which is a copy of the database's file in parts. It is copied while the server goes on, so its pages are of different
//     moments: with the segments from its first one to the one that makes it whole, it has one moment.
//
// Each object has a checksum of its own and says what it is; each segment has the checksum of the one before. Objects are whole or not there.
//
// # What may be lost
//
// No write waits for the target. What was acknowledged before the moment of the last segment that is there, is there; what came
// after is not. A server that ends in an orderly way ships the rest first. While a generation has no base yet, the one before it is
// what there is.
//
// What the target does not take is held in memory up to a bound. Beyond it the generation ends with what it has, and another begins
// once the target takes what was held: the log of the database is never kept from beginning anew.
package ship
