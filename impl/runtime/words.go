package runtime

import (
	"fmt"

	"github.com/kballard/go-shellquote" // the quoting rules of the shell, and nothing else of it
)

// Words splits arguments as a POSIX shell splits a command line: at white space, except inside single or double quotes or
// after a backslash. Nothing is expanded: no shell sees them. It fails if a quote is not closed.
func Words(args string) ([]string, error) {
	words, err := shellquote.Split(args)
	if err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	return words, nil
}
