// Package control holds what an operator asks for: pods, endpoints, keys and the catalog, and on which host a pod is placed.
// A public method is one use case and one transaction; what it changes is on disk when it returns.
package control
