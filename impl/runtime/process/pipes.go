package process

import (
	"os"

	"github.com/berthdev/berth/impl/runtime"
)

// pipe carries one stream of a process.
type pipe struct {
	stream  runtime.Stream
	out, in *os.File
}

type pipes [2]pipe

func newPipes() (p pipes, err error) {
	for i, stream := range []runtime.Stream{runtime.Stdout, runtime.Stderr} {
		p[i].stream = stream
		if p[i].out, p[i].in, err = os.Pipe(); err != nil {
			p.closeIn()
			p.closeOut()
			return p, err
		}
	}
	return p, nil
}

func (p pipes) closeIn() {
	for _, one := range p {
		_ = one.in.Close() // fails if it was never opened: good
	}
}

func (p pipes) closeOut() {
	for _, one := range p {
		_ = one.out.Close()
	}
}
