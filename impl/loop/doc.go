// Package loop is what happens unasked: pods are started, workers are scaled, and what is due by the clock is done. All of it
// has one shape, that of package reconcile:
//
//	pods, network volumes  an object each; simulated pods are looked at together
//	timers of pods         an object each: they are stopped and terminated at times that were asked for
//	endpoints              an object each, one after the other: they decide which workers there are
//	workers                an object each: what was decided is carried out
//	receivers, deliveries  an object each: a receiver decides which deliveries of webhooks are made, a delivery makes a try
//	leases, retention,     sweeps: each has a name, a tick and a reason
//	charges, keys
//	an earlier runtime     an object
//
// A look calls runtimes and receivers outside any transaction and records the outcome guarded by id and version. What is
// remembered can be lost at any time: it is made anew of the rows and of what runs.
package loop
