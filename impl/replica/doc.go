// Package replica is what several servers have in common that share one store: which of them owns it, and how requests reach that one.
//
// One replica owns the store at a time, by a lease. It has the memory of what waits and runs, and it alone writes. Any replica takes
// requests: one that does not own the store sends them on to the one that does, streamed both ways and in one hop, and shows by the secret
// key that all share that it is a replica. When the owner is gone another one takes its place, with memory made anew of the rows, as after
// a restart; requests that come meanwhile wait for it.
//
// Safety is not in the lease: what a former owner writes is refused by the store (store.Owners).
package replica
