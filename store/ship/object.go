package ship

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

// An object is: magic, the length of its header, the header as JSON, the content compressed by gzip, and the SHA-256 of all that.
const magic = "berthlog1\n"

// Kinds of objects.
const (
	kindSegment = "segment"
	kindPart    = "part"
	kindBase    = "base"
	kindKey     = "key"
)

// header says what an object is.
type header struct {
	Kind       string    `json:"kind"`
	Generation string    `json:"generation"`
	Number     int       `json:"number"`          // of the segment; of the part of its base
	Bytes      int64     `json:"bytes"`           // of the content
	At         time.Time `json:"at"`              // all that was acknowledged before is there with it and those before it
	Latest     time.Time `json:"latest,omitzero"` // nothing in a segment was committed after that; zero: nobody noted it
	Log        string    `json:"log,omitempty"`
	Offset     int64     `json:"offset,omitempty"`
	Previous   string    `json:"previous,omitempty"` // checksum of the segment before, in hexadecimal
	Base       *base     `json:"base,omitempty"`
}

// base says what a copy of the file consists of.
type base struct {
	Number int       `json:"number"` // of the base in its generation
	Parts  int       `json:"parts"`
	Bytes  int64     `json:"bytes"`
	First  int       `json:"first"` // segment from which it needs them
	Whole  int       `json:"whole"` // segment with which it has one moment
	At     time.Time `json:"at"`    // of that
}

// errDamaged is wrapped by the error of an object that is not as it was written.
var errDamaged = errors.New("it is damaged")

// seal makes an object, and gives its checksum.
func seal(h header, content []byte) (object []byte, sum string, err error) {
	h.Bytes = int64(len(content))
	text, err := json.Marshal(h)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	b.WriteString(magic)
	_ = binary.Write(&b, binary.BigEndian, uint32(len(text))) // to memory
	b.Write(text)
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, "", err
	}
	_, err = z.Write(content)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, "", err
	}

	of := sha256.Sum256(b.Bytes())
	b.Write(of[:])
	return b.Bytes(), hex.EncodeToString(of[:]), nil
}

// unseal gives what an object is, its content and its checksum.
func unseal(object []byte) (h header, content []byte, sum string, err error) {
	end := len(object) - sha256.Size
	if end < len(magic)+4 || string(object[:len(magic)]) != magic {
		return h, nil, "", fmt.Errorf("%w, or none of ours", errDamaged)
	}
	of := sha256.Sum256(object[:end])
	if !bytes.Equal(of[:], object[end:]) {
		return h, nil, "", errDamaged
	}

	rest := object[len(magic)+4 : end]
	size := binary.BigEndian.Uint32(object[len(magic):])
	if int64(size) > int64(len(rest)) {
		return h, nil, "", errDamaged
	}
	if err := json.Unmarshal(rest[:size], &h); err != nil {
		return h, nil, "", fmt.Errorf("%w: %w", errDamaged, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(rest[size:]))
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(z, mostBytes))
	}
	if err != nil || int64(len(content)) != h.Bytes {
		return h, nil, "", errors.Join(errDamaged, err)
	}
	return h, content, hex.EncodeToString(of[:]), nil
}

// generationTime is how the name of a generation has its moment.
const generationTime = "20060102T150405.000Z"

// nameGeneration gives the name of a generation that begins then.
func nameGeneration(began time.Time, random string) string {
	return began.UTC().Format(generationTime) + "-" + random
}

// beginOf gives when a generation began, by its name.
func beginOf(generation string) (time.Time, error) {
	text, _, _ := strings.Cut(generation, "-")
	return time.Parse(generationTime, text)
}

// nameSegment has the moment in the name, so that a list tells it. It is rounded down: what is said to be there is.
func nameSegment(generation string, number int, at time.Time) string {
	return fmt.Sprintf("%s/log/%010d-%013d", generation, number, at.UnixMilli())
}

func nameBase(generation string, number int) string {
	return fmt.Sprintf("%s/base/%06d", generation, number)
}

func namePart(generation string, number, part int) string {
	return fmt.Sprintf("%s/part/%06d-%06d", generation, number, part)
}

func nameKey(generation string) string { return generation + "/key" }

// segment is one as a list tells it.
type segment struct {
	Object
	number int
	at     time.Time
}

// readSegment reads the name of a segment.
func readSegment(o Object) (s segment, ok bool) {
	number, milliseconds, _ := strings.Cut(path.Base(o.Name), "-")
	n, err := strconv.Atoi(number)
	if err != nil {
		return s, false
	}
	ms, err := strconv.ParseInt(milliseconds, 10, 64)
	return segment{o, n, time.UnixMilli(ms).UTC()}, err == nil
}
