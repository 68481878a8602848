// Package compute holds the words and the rules of the service: pods, endpoints, workers, jobs and keys, the tables by
// which their statuses move, and the codes by which a request can fail. It imports nothing but the standard library.
package compute
