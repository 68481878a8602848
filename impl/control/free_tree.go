package control

import "cmp"

// The hosts of a group are a treap: a search tree by what is free of them, in which each host has a random priority that is not below
// those under it. So the tree is about as deep as the logarithm of their number, whatever comes and goes. A nil *host is the empty tree,
// and a host stands for the tree that it is the root of.

// branch is what a host has as the root of a tree.
type branch struct {
	left, right *host
	priority    uint64
	least, most amount // bounds of what is free of the hosts of the tree
	all         spare  // of all of them
	earliest    int    // the least number of a host
}

// spare is what policies look at: the GPUs and vCPUs that nobody holds.
type spare struct{ gpus, vcpus int64 }

func (a spare) plus(b spare) spare { return spare{a.gpus + b.gpus, a.vcpus + b.vcpus} }

// compare orders as policies do.
func (a spare) compare(b spare) int {
	return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.vcpus, b.vcpus))
}

func (a amount) spare() spare { return spare{a.gpus, a.vcpus} }

// before reports whether the host comes before another in the tree. Among those that are the same to policies it is by memory and disk:
// so those that have room for something stand together.
func (h *host) before(other *host) bool {
	return cmp.Or(h.free.spare().compare(other.free.spare()), cmp.Compare(h.free.memoryGB, other.free.memoryGB),
		cmp.Compare(h.free.diskGB, other.free.diskGB), cmp.Compare(h.number, other.number)) < 0
}

// priorityOf gives each number of a host another that is as good as random: it is the last step of the generator SplitMix64.
func priorityOf(number int) uint64 {
	x := uint64(number) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// join gives the host as the root over two trees.
func (h *host) join(before, after *host) *host {
	h.left, h.right = before, after
	h.least, h.most, h.earliest = h.free, h.free, h.number
	h.all = spare{max(0, h.free.gpus), max(0, h.free.vcpus)} // of which too much is held has nothing left
	for _, t := range [...]*host{before, after} {
		if t == nil {
			continue
		}
		h.least, h.most, h.all = h.least.lower(t.least), h.most.upper(t.most), h.all.plus(t.all)
		h.earliest = min(h.earliest, t.earliest)
	}
	return h
}

func (a amount) lower(b amount) amount {
	return amount{min(a.gpus, b.gpus), min(a.vcpus, b.vcpus), min(a.memoryGB, b.memoryGB), min(a.diskGB, b.diskGB)}
}

func (a amount) upper(b amount) amount {
	return amount{max(a.gpus, b.gpus), max(a.vcpus, b.vcpus), max(a.memoryGB, b.memoryGB), max(a.diskGB, b.diskGB)}
}

// with gives the tree with a host that is in none.
func (t *host) with(h *host) *host {
	switch {
	case t == nil || h.priority > t.priority:
		return h.join(t.split(h))
	case h.before(t):
		return t.join(t.left.with(h), t.right)
	default:
		return t.join(t.left, t.right.with(h))
	}
}

// split gives the trees of what comes before the host and after it.
func (t *host) split(h *host) (before, after *host) {
	switch {
	case t == nil:
		return nil, nil
	case h.before(t):
		before, after = t.left.split(h)
		return before, t.join(after, t.right)
	default:
		before, after = t.right.split(h)
		return t.join(t.left, before), after
	}
}

// without gives the tree without a host that is in it, where its free amount says.
func (t *host) without(h *host) *host {
	switch {
	case t == h:
		return t.left.merge(t.right)
	case h.before(t):
		return t.join(t.left.without(h), t.right)
	default:
		return t.join(t.left, t.right.without(h))
	}
}

// merge gives the tree of two, of which the other comes after.
func (t *host) merge(other *host) *host {
	switch {
	case t == nil:
		return other
	case other == nil:
		return t
	case t.priority > other.priority:
		return t.join(t.left, t.right.merge(other))
	default:
		return other.join(t.merge(other.left), other.right)
	}
}

// lowest gives the first host of the tree that has so much free; nil if none has.
func (t *host) lowest(need amount) *host {
	if t == nil || !t.most.covers(need) {
		return nil
	}
	if h := t.left.lowest(need); h != nil {
		return h
	}
	if t.free.covers(need) {
		return t
	}
	return t.right.lowest(need)
}

// highest gives the last host of the tree that has so much free; nil if none has.
func (t *host) highest(need amount) *host {
	if t == nil || !t.most.covers(need) {
		return nil
	}
	if h := t.right.highest(need); h != nil {
		return h
	}
	if t.free.covers(need) {
		return t
	}
	return t.left.highest(need)
}

// first gives the least number of a host of the tree that has so much free, and the same to spare; or best, if that is less.
func (t *host) first(need amount, same spare, best int) int {
	for t != nil {
		c := t.free.spare().compare(same)
		if c == 0 {
			break
		}
		if c < 0 {
			t = t.right
		} else {
			t = t.left
		}
	}

	if t == nil || t.earliest >= best || !t.most.covers(need) {
		return best
	}
	if t.least.covers(need) && t.least.spare() == same && t.most.spare() == same {
		return t.earliest
	}
	if t.number < best && t.free.covers(need) {
		best = t.number
	}
	return t.right.first(need, same, t.left.first(need, same, best))
}

// spareOf gives what those hosts of the tree have left that have so much free.
func (t *host) spareOf(need amount) spare {
	if t == nil || !t.most.covers(need) {
		return spare{}
	}
	if t.least.covers(need) {
		return t.all
	}
	sum := t.left.spareOf(need).plus(t.right.spareOf(need))
	if t.free.covers(need) {
		sum = sum.plus(t.free.spare())
	}
	return sum
}
