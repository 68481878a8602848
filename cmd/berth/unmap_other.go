//go:build !linux

package main

// unmapProgram does nothing: only Linux says which pages of the program's file can be given back.
func unmapProgram() {}
