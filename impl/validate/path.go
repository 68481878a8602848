package validate

import (
	"strconv"
	"unicode/utf8"
)

// maxPointer bounds the text of a JSON Pointer, in bytes: a hundred violations must not repeat a long name a hundred times.
const maxPointer = 1 << 10

// path is where the scan is. The first steps have room in it, so that common documents need no memory for it.
type path struct {
	steps int
	near  [8]step
	far   []step
}

// step is one step of a JSON Pointer: a member's name, or an index if name is nil.
type step struct {
	name  []byte
	index int
}

func (p *path) push(s step) {
	if p.steps < len(p.near) {
		p.near[p.steps] = s
	} else {
		p.far = append(p.far, s)
	}
	p.steps++
}

func (p *path) pop() {
	p.steps--
	if p.steps >= len(p.near) {
		p.far = p.far[:p.steps-len(p.near)]
	}
}

// at gives step i.
func (p *path) at(i int) *step {
	if i < len(p.near) {
		return &p.near[i]
	}
	return &p.far[i-len(p.near)]
}

func (p *path) top() *step { return p.at(p.steps - 1) }

// pointer gives the path as a JSON Pointer, cut with … where it is over maxPointer.
func (p *path) pointer() string {
	var room [64]byte
	b := room[:0]
	for i := range p.steps {
		b = append(b, '/')
		s := p.at(i)
		if s.name == nil {
			b = strconv.AppendInt(b, int64(s.index), 10)
		}

		for _, c := range s.name {
			switch c {
			case '~':
				b = append(b, "~0"...)
			case '/':
				b = append(b, "~1"...)
			default:
				b = append(b, c)
			}

			if len(b) > maxPointer {
				break
			}
		}

		if len(b) > maxPointer {
			b = b[:maxPointer]
			for !utf8.Valid(b) {
				b = b[:len(b)-1]
			}
			return string(b) + "…"
		}
	}

	return string(b)
}
