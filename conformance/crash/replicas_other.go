//go:build !unix

package main

import "fmt"

// disturbReplicas needs what this system does not have.
func disturbReplicas(string, several) error {
	fmt.Println("SKIPPED: a PostgreSQL for tests is started on Unix alone")
	return nil
}
