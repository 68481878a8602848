package loop

// Hint wakes a loop, which may have something to do. It is made before the loop for those who give it and are made before the loop,
// too. A hint that was not heeded yet is not given twice.
type Hint chan struct{}

// NewHint makes one that nobody has given.
func NewHint() Hint { return make(Hint, 1) }

// Give gives the hint. It never waits.
func (h Hint) Give() {
	select {
	case h <- struct{}{}:
	default:
	}
}

// Both gives a function that gives both hints.
func Both(a, b Hint) func() {
	return func() {
		a.Give()
		b.Give()
	}
}
