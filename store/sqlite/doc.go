// Package sqlite keeps the store in one SQLite file: some connections read, one writes, and concurrent writes share a
// commit. What a Write that returned nil wrote is on disk.
//
// # What is on disk when
//
// With synchronous=FULL in WAL mode SQLite syncs, in this order:
//
//   - The header of the log, when a new log begins, and with the first sync of the log the directory, which brings the names of the
//     file and of the log to disk. SQLite passes over an error of the directory's sync; a server has it synced by package
//     atomicfile, which does not, before it is ready.
//   - The log, at every commit, after the last frame of the commit and before COMMIT returns. The writer answers after that.
//   - The log and then the file, at a checkpoint; the log begins anew only after that, with another salt.
//
// Traced on a server, each of 1,440 answers to /run, takes and reports left after an fsync of the log had returned that began
// after the last byte of what was answered was written. Package faulttest holds the store to it: with everything lost that was not
// synced at the moment of an answer, what was answered is there.
//
// What a sync failed for the system takes for written, so that no later sync brings it to disk. SQLite undoes such a commit, and
// the next one writes the same places of the log anew: nothing that is answered rests on such bytes. If the process ends before
// the next commit, the undone one may be there at the next start: its outcome was never answered.
//
// The ioctl with which ext4 can be shut down (FS_IOC_SHUTDOWN) is no loss of power: it aborts the journal under a running system, where an
// fsync whose transaction was aborted meanwhile may still return 0, since the transaction is neither running nor being committed
// any more. A program that only writes and calls fdatasync loses 37 of 22,700 acknowledged writes in 600 rounds of it, all of them
// acknowledged after the ioctl was called, and none before. The store does the same, and no worse: a test of package faulttest
// counts both.
//
// # What fails
//
// The storage's own failures are distinguished from others by SQLite's result codes (trouble.go), and damage of the log, which SQLite takes
// for its end, is looked for at the start (damage.go).
package sqlite
