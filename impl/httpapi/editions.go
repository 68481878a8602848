package httpapi

import (
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

// contractHeader names the edition of the contract that a request is of, and that an answer was given in.
const contractHeader = "Berth-Contract"

// strict is the place, in rest.Editions, of the edition that the documents themselves are.
const strict = 0

// contractHeaders are the values of the header of answers, made once.
var contractHeaders = func() (values [][]string) {
	for _, e := range rest.Editions {
		values = append(values, []string{e.Name})
	}
	return values
}()

// Contracts gives the names of the editions, and their other names, that of the documents themselves first.
func Contracts() []string {
	names := Editions()
	for _, e := range rest.Editions {
		if e.Alias != "" {
			names = append(names, e.Alias)
		}
	}
	return names
}

// Editions gives the names of the editions, that of the documents themselves first.
func Editions() (names []string) {
	for _, e := range rest.Editions {
		names = append(names, e.Name)
	}
	return names
}

// Contract gives the name of the edition that has that name, be it its other one. Rejected, with those that there are, for any other.
func Contract(name string) (string, error) {
	edition, ok := editionNamed(name)
	if !ok {
		return "", noEdition(name)
	}
	return rest.Editions[edition].Name, nil
}

func noEdition(name string) error {
	return compute.Errorf(compute.Rejected, "there is no edition %q of the contract; there are %s", name, strings.Join(Contracts(), ", "))
}

// editionNamed gives the place of an edition.
func editionNamed(name string) (edition int, ok bool) {
	edition = slices.IndexFunc(rest.Editions, func(e validate.Edition) bool { return e.Name == name || e.Alias != "" && e.Alias == name })
	return max(edition, strict), edition >= 0
}

// answerIn has the request answered in an edition.
func (r *request) answerIn(edition int) {
	r.edition = edition
	r.Response().Header()[contractHeader] = contractHeaders[edition]
}

// asked notes the edition that the request names; without one it is that of the server, unless that of the key is another, see agreed. Two headers
// are as good as one with both names, which is no edition.
func (s *Services) asked(r *request) {
	r.contract = strings.Join(r.Request().Header[contractHeader], ", ")
	edition, ok := editionNamed(r.contract)
	if !ok {
		edition = s.edition
	}
	r.answerIn(edition)
}

// agreed gives the error of an edition that there is not (rule editions.unknown), or takes that of the key where the request names none.
func (r *request) agreed() error {
	if r.contract != "" {
		if _, ok := editionNamed(r.contract); !ok {
			return noEdition(r.contract)
		}
		return nil
	}
	if edition, ok := editionNamed(r.caller.Contract); ok && r.caller.Contract != "" {
		r.answerIn(edition)
	}
	return nil
}

// interfaces are the operations of each interface in all editions.
var interfaces = [][]validate.Edition{rest.Editions, queue.Editions, inAll(worker.Ops), inAll(controls.Ops)}

// inAll gives the operations of an interface that is the same in all editions.
func inAll(ops map[string]validate.Op) (editions []validate.Edition) {
	for _, e := range rest.Editions {
		editions = append(editions, validate.Edition{Name: e.Name, Ops: ops})
	}
	return editions
}

// ofAny gives the operations that any edition has.
func ofAny(editions []validate.Edition) map[string]validate.Op {
	all := make(map[string]validate.Op, len(editions[len(editions)-1].Ops))
	for _, e := range slices.Backward(editions) {
		for id, op := range e.Ops {
			all[id] = op
		}
	}
	return all
}

// in gives the operation as the edition of the request has it. An edition without it answers as for a path that there is not, and names
// those that have it.
func (f *front) in(r *request) (*validate.Op, error) {
	if op := f.ops[r.edition]; op != nil {
		return op, nil
	}
	var others []string
	for i, op := range f.ops {
		if op != nil {
			others = append(others, rest.Editions[i].Name)
		}
	}
	return nil, compute.Errorf(compute.NotFound, "%s %s is not in %s", f.op.Method, f.op.Path, validate.OtherEditions(rest.Editions[r.edition].Name, others))
}

// editionOf gives the edition that is answered in. What echo calls by itself, such as the serializer, has its context and not ours: the
// header of the answer names it.
func editionOf(c echo.Context) int {
	values := c.Response().Header()[contractHeader]
	if len(values) == 0 || values[0] == rest.Editions[strict].Name {
		return strict
	}
	edition, _ := editionNamed(values[0])
	return edition
}
