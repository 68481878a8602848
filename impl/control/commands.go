package control

import (
	"slices"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
)

// Command is what a request says of a container's command: args, or the same as lists. Nil is absent.
type Command struct {
	Args       *string
	Cmd        *[]string // empty: the image's own
	Entrypoint *[]string // empty: the image's own
}

// on gives args as they are stored, where stored is what was there before (rules pods.patch.command.*, templates.command, serverless.command). What the lists say takes the place
// of its part of it. Rejected for args that cannot be read, and for lists beside them that say otherwise.
func (c Command) on(stored string) (string, error) {
	if c.Args != nil {
		stored = *c.Args
	}
	if c.Cmd == nil && c.Entrypoint == nil {
		return stored, nil
	}
	command, err := args.Parse(stored)
	if err != nil {
		return "", rejected(err)
	}
	for _, part := range []struct {
		name  string
		asked *[]string
		has   []string
	}{{"cmd", c.Cmd, command.Words}, {"entrypoint", c.Entrypoint, command.Entrypoint}} {
		if c.Args != nil && part.asked != nil && !slices.Equal(*part.asked, part.has) {
			return "", compute.Errorf(compute.Rejected, "%s: args says something else; give one of them, or the same in both", part.name)
		}
	}
	if c.Args != nil {
		return stored, nil
	}

	if c.Cmd != nil {
		command.Words = *c.Cmd
	}
	if c.Entrypoint != nil {
		command.Entrypoint = *c.Entrypoint
		if len(*c.Entrypoint) == 0 {
			command.Entrypoint = nil
		}
	}
	return args.Format(command), nil
}

// change gives args as a change of stored ones has them; nil: it leaves them as they are. Errors as for on.
func (c Command) change(stored string) (*string, error) {
	if c == (Command{}) {
		return nil, nil //nolint:nilnil // unchanged
	}
	changed, err := c.on(stored)
	return &changed, err
}

// Lists gives what args say as lists, neither of which is nil. Those that cannot be read, of before they were checked, say nothing.
func Lists(arguments string) (cmd, entrypoint []string) {
	cmd, entrypoint = []string{}, []string{}
	if arguments == "" {
		return cmd, entrypoint
	}
	command, _ := args.Parse(arguments)
	return append(cmd, command.Words...), append(entrypoint, command.Entrypoint...)
}
