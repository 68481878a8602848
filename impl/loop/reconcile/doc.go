// Package reconcile is the one shape of all that is done unasked. A Reconciler knows objects by their keys and brings each to where it
// should be by looking at it: a look reads what should be, compares it with what is, takes a step, and says when to look again.
//
// What makes an object due is a hint (somebody changed something that concerns it), a time (the last look asked for it, or somebody did
// with At), or the list of all objects, which is read at the start and again at every tick, so that a hint that was lost is
// made good. An object is never looked at twice at once; a hint that comes during its look leads to one more look afterwards. No more
// looks than a bound are under way at once. A look that fails is made again after a backoff, which doubles up to a bound, and the reason
// is kept for those who ask why the object is behind.
//
// Everything that a Reconciler knows is memory, and it may be lost at any moment without harm: Drop forgets all of it, and the list
// makes it anew. What one look leaves for the next of the same object, and for readers, is the object's Memory. It is handed from
// look to look, so that the code of a look needs no lock.
//
// What fits how:
//
//   - Objects of which each takes its own time (containers, endpoints, workers) have a key each, see Each.
//   - Objects whose looks are so short that a transaction costs most of them, such as simulated pods, are looked at Together.
//   - A periodic sweep over rows (leases, retention, charges that were seen) is an object with a key, its name, see NewSweeps.
//
// Time is that of the injected clock. A server calls Run; a test that sets the clock calls Step, which does what is due, in
// order, and Next, which reports when something falls due.
package reconcile
