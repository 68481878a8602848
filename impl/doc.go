// Package impl is the map of what the program does; each room is a package below it.
//
//	compute   words and rules: pods, endpoints, jobs, keys, status tables, error codes, ids, the clock
//	args      what the arguments of a container mean
//	control   what an operator asks for, and where pods are placed
//	queue     a job's life
//	loop      what happens unasked; reconcile, below it, is the one shape of that
//	audit     who changed what, noted in the transaction of the change
//	why       why a job, a worker or a pod does not go on
//	runtime   what pods and workers run on: each kind is a package below it, and registers itself
//	runtimes  the list of those kinds
//	setting   what a setting is; the table of them is in app
//	atomicfile files of which a crash leaves all or nothing
//	problem   error code to HTTP status
//	fault     what operations do wrong because a test asked for it
//	seed      what a server has from the start, read from files
//	script    what the workers of an endpoint do that has no handler
//	spelling  the name that may have been meant
//	journal   the requests that came, as a test reads them; bodies, below it, says what is secret in them
//	record    recordings of exchanges with a service: made by a proxy, played back, and compared with what others answer
//	validate  what the generated validators call
//	encode    what the generated encoders call
//	limit     what bounds what clients can make the server hold
//	nullable  members of JSON that may be absent or null
//	httpapi   the HTTP edge of REST, the queue and workers
//	graphql   (beside this folder) the GraphQL edge
//	reference pages that show the documents
//	webhook   the edge to the receivers of webhooks
//	observe   what an operator sees: metrics and traces
//	worker    a worker in Go, which knows the server by its URLs alone
//	app       wiring; embedders import it by way of package berth, at the root of the tree
//
// The way of a request: httpapi authenticates, the generated validator checks, a handler of ten lines binds, calls one use
// case in control or queue, and views what it gave. The use case is one transaction of the store. After the commit a hint
// wakes a loop, which calls runtimes outside any transaction.
//
// CONTRIBUTING.md leads an operation through every room. docs/architecture.md draws them.
package impl
