package groupcommit

import (
	"errors"
	"fmt"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// errUnwound is the error of a function that did not return. Its caller never sees it.
var errUnwound = errors.New("groupcommit: the function did not return")

// run claims a call and runs it as one of the group.
func (g *Group) run(c *call) {
	if !g.claim(c) || !g.start(c) {
		return
	}
	defer g.finish(c) // after a panic or a Goexit, too, which only deferred calls outlive
	g.try(c)
}

// claim makes a call one of the group, unless it was withdrawn.
func (g *Group) claim(c *call) bool {
	if !c.claimed.CompareAndSwap(false, true) {
		return false
	}
	if err := c.ctx.Err(); err != nil {
		c.err = err
		close(c.answered)
		return false
	}

	g.group = append(g.group, c)
	return true
}

// start begins to write, if that was not done, and binds the calls. If it cannot begin everybody has their answer.
func (g *Group) start(calls ...*call) bool {
	if err := g.begin(); err != nil {
		g.refuseAll(fmt.Errorf("begin to write: %w", err))
		return false
	}

	for _, c := range calls {
		if c.Bind != nil {
			c.Bind()
		}
	}
	return true
}

func (g *Group) begin() error {
	if g.begun {
		return nil
	}
	err := g.engine.Begin()
	g.begun = err == nil
	return err
}

// try runs a call in the open transaction and keeps what it did, or notes why not.
func (g *Group) try(c *call) {
	p := g.engine.Part()
	err := errUnwound
	returned := false
	defer func() {
		if !returned {
			c.panicked = recover()
			c.exited = c.panicked == nil
		}
		if failed := p.End(); err == nil {
			err = failed // Run overlooked it
		}
		if c.err = err; err != nil {
			c.spoiled, c.effects = p.Changed(), nil
			return
		}

		g.keep(c, p)
	}()

	err = c.Run(p)
	returned = true
}

// keep takes in what a call did.
func (g *Group) keep(c *call, p Part) {
	g.engine.Keep(p)
	g.kept++
	g.changed = g.changed || p.Changed()
	c.effects = p.Effects()
	patient := false
	if c.Early != nil && !c.early {
		c.early = true
		patient = c.Early()
	}
	g.urgent = g.urgent || !patient
}

// finish undoes a call that failed, and it alone: what it changed goes with the transaction, and the others run again.
func (g *Group) finish(c *call) {
	if c.err != nil {
		g.rerun(c)
	}
}

// rerun undoes a call that failed, and has the others of the group run again, until none of them fails. Without one it undoes all.
func (g *Group) rerun(failed *call) {
	over := false
	defer func() {
		if !over { // a call that ran again ended this goroutine
			g.abort(errUnwound)
		}
	}()

	if failed == nil {
		g.undoAll()
		failed = g.runAgain()
	}
	for failed != nil && g.undo(failed) {
		failed = g.runAgain()
	}
	over = true
}

// undoAll rolls the transaction back.
func (g *Group) undoAll() {
	g.engine.Rollback()
	g.begun, g.kept, g.changed = false, 0, false
	g.full = true // one that fails again and again holds up few others
}

// undo notes why a call failed. If it had changed something, undo rolls the transaction back and gives true: what the others did
// is undone too.
func (g *Group) undo(c *call) bool {
	g.urgent = true
	c.err = g.failed(c.err)
	if !c.spoiled {
		return false
	}
	if store.TroubleOf(c.err) != "" {
		g.abort(fmt.Errorf("write: undone with another that failed: %w", c.err))
		return false
	}

	g.undoAll()
	return true
}

// runAgain runs the calls of the group that have not failed, and gives the first one that fails after it changed something.
func (g *Group) runAgain() *call {
	var kept []*call
	for _, c := range g.group {
		if c.err == nil {
			c.err = errUnwound // until it has run
			kept = append(kept, c)
		}
	}

	if len(kept) == 0 {
		return nil
	}
	if err := g.begin(); err != nil {
		g.abort(fmt.Errorf("begin to write: %w", err))
		return nil
	}

	for i, c := range kept {
		g.try(c)
		switch {
		case c.err == nil:
		case c.spoiled:
			for _, later := range kept[i+1:] {
				later.err = nil // to run in the next turn
			}
			return c
		default:
			c.err = g.failed(c.err)
		}
	}

	return nil
}

// commit puts the group on disk, does what is to be done after that, and answers.
func (g *Group) commit() {
	switch {
	case !g.begun:
	case g.kept == 0:
		g.engine.Rollback()
		g.begun = false
	default:
		if err := g.commitEngine(); err != nil {
			g.abort(fmt.Errorf("commit: %w", err))
			return
		}
		g.begun = false
		if g.changed {
			g.succeeded()
		}

		for _, c := range g.group {
			c.follow()
		}
	}

	g.answer()
}

// follow does what is to be done after the commit. A panic of it reaches its caller alone: the others have their effects and their answers.
func (c *call) follow() {
	defer func() {
		if trouble := recover(); trouble != nil {
			c.panicked = trouble
		}
	}()
	for _, effect := range c.effects {
		effect()
	}
}

// commitEngine commits, and reports who looks how many writes that were and how long it took: by the machine's clock, since no
// file is written on one that a test has set.
func (g *Group) commitEngine() error {
	if g.options.Observe == nil {
		return g.engine.Commit()
	}
	start := compute.SystemClock{}.Now()
	err := g.engine.Commit()
	if err == nil {
		g.options.Observe(g.kept, compute.SystemClock{}.Now().Sub(start))
	}
	return err
}

// abort undoes everything and answers the whole group with err: even a call that failed by itself may have seen what
// another one wrote.
func (g *Group) abort(err error) {
	g.engine.Rollback()
	g.begun = false
	err = g.failed(err)
	for _, c := range g.group {
		c.err = err
	}
	g.answer()
}

// refuseAll gives err to the group and to all who wait: they have waited as long as the engine was locked, and each would wait
// as long again.
func (g *Group) refuseAll(err error) {
	defer func() { g.abort(err) }()
	for waiting := len(g.calls); waiting > 0; waiting-- {
		select {
		case c, ok := <-g.calls:
			if ok && c.claimed.CompareAndSwap(false, true) {
				g.group = append(g.group, c)
			}
		default:
			return
		}
	}
}

func (g *Group) answer() {
	if g.Trouble() != nil {
		g.refused += g.troubled()
	}
	for _, c := range g.group {
		close(c.answered)
	}
	clear(g.group)
	g.group, g.kept, g.urgent, g.full, g.changed = g.group[:0], 0, false, false, false
}
