package compute

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ProcessRules say what of a pod or endpoint that was made over an API reaches a process of this machine. Its image names a command
// of the server's settings. The zero value lets nothing else through: arguments and variables can make nearly every program run
// another one.
type ProcessRules struct {
	Args     bool     // arguments after those of the command
	Commands bool     // further commands beside it, which are programs of whoever has a key
	AnyEnv   bool     // every variable
	Env      []string // the names of the variables that may be set
}

// Check refuses what the rules do not let through: the error names it, and the setting.
func (r ProcessRules) Check(args string, env map[string]string) error {
	if args != "" && !r.Args {
		return errors.New("args: this server runs processes of its own machine, which take none (process-accept: args)")
	}
	if r.AnyEnv {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !slices.Contains(r.Env, name) {
			return fmt.Errorf("env: this server runs processes of its own machine, in which %s cannot be set (process-accept: env:%[1]s)", name)
		}
	}
	return nil
}
