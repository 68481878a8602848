package sqldb

import (
	"hash/fnv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// seqOf gives the number of a job's row: the time and the counter that its id begins with, 60 bits of a version 7 UUID. So the
// rows stand in the order of the ids, and a job is found by its id without an index of the ids, which was one of five trees
// that each new job went into. The id is compared all the same: the rest of it cannot be guessed. An id of another form gets
// a number above all those; two of the same number cannot be there at once.
func seqOf(id compute.JobID) int64 {
	const digits = "xxxxxxxx-xxxx-7xxx-"
	text := strings.TrimPrefix(string(id), "sync-")
	if len(text) != 36 {
		return otherSeq(id)
	}

	var seq int64
	for i := range len(digits) {
		var digit byte
		switch c := text[i]; {
		case digits[i] != 'x':
			if c != digits[i] {
				return otherSeq(id)
			}
			continue
		case c >= '0' && c <= '9':
			digit = c - '0'
		case c >= 'a' && c <= 'f':
			digit = c - 'a' + 10
		default:
			return otherSeq(id)
		}

		seq = seq<<4 | int64(digit)
	}

	return seq
}

func otherSeq(id compute.JobID) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return int64(h.Sum64()>>2) | 1<<62
}
