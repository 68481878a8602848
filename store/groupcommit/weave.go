package groupcommit

import "errors"

// runWith runs a call, and side by side with it those that come next, as long as they may.
func (g *Group) runWith(c *call) {
	var together []*call
	for c != nil && c.Guarded && g.weaver != nil {
		if g.claim(c) {
			together = append(together, c)
		}
		if c = nil; len(g.group) < g.options.Most {
			c = g.waiting()
		}
	}

	g.weave(together)
	if c != nil {
		g.run(c)
	}
}

// runOne runs a call of whoever has the turn, and no other.
func (g *Group) runOne(c *call) {
	if !c.Guarded || g.weaver == nil {
		g.run(c)
	} else if g.claim(c) {
		g.weave([]*call{c})
	}
}

// weave runs calls of the group side by side. If one of them fails after it changed something, all of the group runs again, one after
// the other: that shows which one it was, and what it panics with.
func (g *Group) weave(calls []*call) {
	if len(calls) == 0 || !g.startWoven(calls) {
		return
	}

	over := false
	defer func() {
		if !over { // a call ended this goroutine
			g.abort(errUnwound)
		}
	}()
	parts, again := g.runWoven(calls)
	over = true
	if again {
		for _, c := range calls {
			c.err = nil
		}
		g.rerun(nil)
		return
	}

	for i, c := range calls {
		if c.err == nil {
			g.keep(c, parts[i])
		} else {
			c.err, g.urgent = g.failed(c.err), true
		}
	}
}

// startWoven is start for calls that run side by side. The transaction of one that is alone and is bound begins at once: a worker that is on its
// way back comes meanwhile, and the job need not be taken by a write of its own.
func (g *Group) startWoven(calls []*call) bool {
	if alone := len(calls) == 1 && calls[0].Bind != nil; !g.begun && !alone {
		g.begun = g.weaver.BeginLate()
	}
	return g.start(calls...)
}

// runWoven runs the calls side by side, and reports whether they must run again.
func (g *Group) runWoven(calls []*call) (parts []Part, again bool) {
	runs := make([]func(), len(calls))
	parts = make([]Part, len(calls))
	for i, c := range calls {
		parts[i] = g.engine.Part()
		c.err = errUnwound
		runs[i] = func() {
			defer func() { _ = recover() }() // it panics again when it runs by itself
			c.err = c.Run(parts[i])
		}
	}

	again = g.weaver.Weave(runs) != nil
	for i, c := range calls {
		if failed := parts[i].End(); c.err == nil {
			c.err = failed
		}
		again = again || c.err != nil && (parts[i].Changed() || errors.Is(c.err, errUnwound))
	}
	return parts, again
}
