package limit

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// FreeText is how many bytes the text of an answer has that counts for nothing.
const FreeText = 64 << 10

// The bounds of texts in bytes, and the share of one key.
const textBodies, textShare = 32_000_000, 20_000_000

// Text is the text of an answer on its way to a client, in memory or in a file. It is to be closed.
type Text struct {
	memory []byte // nil: it is in the file
	file   *os.File
	size   int64
	leave  func()
}

// Text takes over the text of an answer, of which the caller is to keep nothing. What clients hold of memory does not hang on how fast they read:
// a text for which there is no room comes into a file (rule bounds.texts). Unavailable if there is no room for that, either, or none can be written.
func (b *Bodies) Text(key compute.KeyID, text []byte) (*Text, error) {
	t := &Text{memory: text, size: int64(len(text)), leave: func() {}}
	if len(text) <= FreeText {
		return t, nil
	}
	leave, ok := b.texts.Try(key, int64(cap(text)))
	if ok {
		t.leave = leave
		return t, nil
	}

	if leave, ok = b.files.Try(key, max(t.size, leastFile)); !ok {
		return nil, Crowded()
	}
	f, err := b.create()
	if err != nil {
		leave()
		return nil, noText(err)
	}
	t.memory, t.file = nil, f
	t.leave = sync.OnceFunc(func() {
		_, _ = f.Close(), os.Remove(f.Name()) // removed already, where a file that is open can be
		leave()
	})
	if _, err := f.Write(text); err != nil {
		t.Close()
		return nil, noText(err)
	}

	return t, nil
}

// Size is how many bytes the text has.
func (t *Text) Size() int { return int(t.size) }

// InMemory reports whether the text is in memory.
func (t *Text) InMemory() bool { return t.file == nil }

// Write writes the text to the client. The error is that of the client, or of the file: then it gets less than there is, and must see that.
func (t *Text) Write(w io.Writer) error {
	if t.InMemory() {
		_, err := w.Write(t.memory)
		return err
	}

	from := io.NewSectionReader(t.file, 0, t.size)
	buffer := make([]byte, 16<<10) // small, since a client that stalls holds it
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client has a part of it
		}
	}
}

// Close gives back what the text holds.
func (t *Text) Close() {
	t.memory = nil
	t.leave()
}

func noText(err error) error {
	return &compute.Error{Code: compute.Unavailable, Detail: "the answer cannot be kept while it is sent", Cause: err}
}
