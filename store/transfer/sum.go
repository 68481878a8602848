package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"iter"
	"math"
	"math/bits"
)

// sum is the number of rows, and the sum of their SHA-256 modulo 2^256: it does not depend on their order, which engines have each
// their own of.
type sum struct {
	rows  int64
	total [4]uint64 // the lowest first
}

// over adds the rows as they pass.
func (s *sum) over(t Table, rows iter.Seq2[[]any, error], progress Progress) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		h := sha256.New()
		var digest []byte
		for row, err := range rows {
			if err == nil {
				h.Reset()
				if err = addRow(h, t, row); err == nil {
					digest = h.Sum(digest[:0])
					s.add(digest)
				}
			}
			if progress != nil && s.rows%step == 0 {
				progress(t.Name, s.rows)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// add adds a row by its digest.
func (s *sum) add(digest []byte) {
	s.rows++
	var carry uint64
	for i := range s.total {
		term := binary.LittleEndian.Uint64(digest[8*i:])
		s.total[i], carry = bits.Add64(s.total[i], term, carry)
	}
}

// text gives the sum as it is shown.
func (s *sum) text() string {
	var b []byte
	for _, part := range s.total {
		b = binary.LittleEndian.AppendUint64(b, part)
	}
	return hex.EncodeToString(b)
}

// addRow hashes a row: each value with its kind and its length, so that no two rows look the same. A value of another kind than its
// column is an error.
func addRow(h hash.Hash, t Table, row []any) error {
	if len(row) != len(t.Columns) {
		return fmt.Errorf("a row has %d values, not %d", len(row), len(t.Columns))
	}

	var head [9]byte
	for i, value := range row {
		var kind Kind
		var number uint64
		var text string
		var body []byte
		switch v := value.(type) {
		case nil:
		case int64:
			kind, number = Integer, uint64(v) // its bits
		case float64:
			kind, number = Real, math.Float64bits(v+0) // SQLite has no negative zero
		case string:
			kind, number, text = Text, uint64(len(v)), v
		case []byte:
			kind, number, body = Bytes, uint64(len(v)), v
		default:
			return fmt.Errorf("column %s: it is a %T", t.Columns[i].Name, v)
		}

		if kind != "" && kind != t.Columns[i].Kind {
			return fmt.Errorf("column %s: it is %s, not %s", t.Columns[i].Name, kind, t.Columns[i].Kind)
		}
		head[0] = 0
		if kind != "" {
			head[0] = kind[0]
		}
		binary.LittleEndian.PutUint64(head[1:], number)
		_, _ = h.Write(head[:]) // a hash never fails
		_, _ = io.WriteString(h, text)
		_, _ = h.Write(body)
	}

	return nil
}
