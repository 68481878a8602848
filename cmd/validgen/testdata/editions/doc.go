// Package editions is generated from a small document with two overlays, to test what validgen makes of editions.
package editions
