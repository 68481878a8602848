package compute

import (
	"encoding/hex"
	"strings"
)

// JobKey is a job's id in its sixteen bytes. It holds no pointer: a hundred thousand of them are nothing that the garbage
// collector walks through.
type JobKey [16]byte

// syncPrefix begins the id of a job of /runsync.
const syncPrefix = "sync-"

// keySync is set in the byte keyVariant of the key of such a job. Its UUID has the bit clear: there are the two bits of the
// variant, 10 in all of them.
const (
	keyVariant = 8
	keySync    = 0x40
)

// keyDashes is where the text of a UUID has its dashes.
const keyDashes = 1<<8 | 1<<13 | 1<<18 | 1<<23

// ID gives the id that the key is of.
func (k JobKey) ID() JobID {
	sync := k[keyVariant]&keySync != 0
	k[keyVariant] &^= keySync
	var text [len(syncPrefix) + 36]byte
	copy(text[:], syncPrefix)
	t := text[len(syncPrefix):]
	hex.Encode(t[0:8], k[0:4])
	hex.Encode(t[9:13], k[4:6])
	hex.Encode(t[14:18], k[6:8])
	hex.Encode(t[19:23], k[8:10])
	hex.Encode(t[24:36], k[10:16])
	t[8], t[13], t[18], t[23] = '-', '-', '-', '-'
	if sync {
		return JobID(text[:])
	}

	return JobID(t)
}

// Key gives the id's key; not ok for a text that IDs.Job does not make.
func (id JobID) Key() (k JobKey, ok bool) {
	text, sync := strings.CutPrefix(string(id), syncPrefix)
	if len(text) != 36 {
		return JobKey{}, false
	}
	const hexDigits = "0123456789abcdef"

	n, wrong := 0, byte(0)
	for i := range 36 {
		c := text[i]
		if keyDashes>>i&1 == 1 {
			wrong |= c ^ '-'
			continue
		}
		digit := (c&0xf + c>>6*9) & 0xf // no branch: which digit comes is a surprise each time
		wrong |= c ^ hexDigits[digit]
		k[n/2&0xf] = k[n/2&0xf]<<4 | digit
		n++
	}

	if wrong != 0 || k[6]>>4 != 7 || k[keyVariant]>>6 != 2 {
		return JobKey{}, false
	}
	if sync {
		k[keyVariant] |= keySync
	}

	return k, true
}
