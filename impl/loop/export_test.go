package loop

// SetRoom sets how many bytes of large bodies may be in memory together.
func (l *Webhooks) SetRoom(bytes int) { l.room = bytes }

// Drop forgets all that the loop remembers.
func (l *Pods) Drop() { l.reconciler.Drop() }

// Drop forgets all that the loop remembers.
func (l *Workers) Drop() {
	l.endpoints.Drop()
	l.containers.Drop()
}
