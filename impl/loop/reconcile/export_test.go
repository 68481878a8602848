package reconcile

// Planned gives how many times are kept.
func (r *Reconciler[K, M]) Planned() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.timed)
}
