package runtime

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Stream reports where a line was written to.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// LogLimit is how many bytes of a line are kept together: a longer one comes in pieces.
const LogLimit = 64 << 10

// Line is one line of an allocation's log, without its end.
type Line struct {
	At       time.Time
	Position int64 // grows with every line and is that of no other: nanoseconds since 1970, moved on if they are taken
	Stream   Stream
	Text     string
}

// LogQuery says which lines are asked for. The zero value asks for all that there are.
type LogQuery struct {
	Tail   int       // only the last so many of what the other members leave; 0: all
	Since  time.Time // only those written then or later
	After  int64     // only those of a greater position: where a reader left off
	Follow bool      // and those that are written from now on
}

// Number gives a line the first position that is not taken: last is the one of the line before.
func Number(at time.Time, last int64) int64 { return max(at.UnixNano(), last+1) }

// Select gives those of all lines that the query asks for.
func (q LogQuery) Select(lines []Line) []Line {
	var some []Line
	for _, l := range lines {
		if l.Position > q.After && !l.At.Before(q.Since) {
			some = append(some, l)
		}
	}
	if q.Tail > 0 {
		some = some[max(0, len(some)-q.Tail):]
	}
	return some
}

// Splitter puts lines together from what one stream writes in pieces.
type Splitter struct {
	Stream Stream
	Emit   func(Line) error
	at     time.Time // of the first piece
	text   strings.Builder
}

// Write takes what was written at the time: lines, or pieces of one.
func (s *Splitter) Write(at time.Time, text string) error {
	for text != "" {
		if s.text.Len() == 0 {
			s.at = at
		}
		piece, rest, ended := strings.Cut(text, "\n")
		room := LogLimit - s.text.Len()
		long := len(piece) > room
		if long {
			piece, rest = text[:room], text[room:]
		}
		s.text.WriteString(piece)
		text = rest

		var err error
		switch {
		case long:
			err = s.emitPiece()
		case ended:
			err = s.emit()
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// Flush passes on a line that has no end.
func (s *Splitter) Flush() error {
	if s.text.Len() == 0 {
		return nil
	}
	return s.emit()
}

func (s *Splitter) emit() error {
	text := strings.TrimSuffix(s.text.String(), "\r")
	s.text.Reset()
	return s.Emit(Line{At: s.at, Stream: s.Stream, Text: text})
}

// emitPiece passes on what there is of a line that is too long. A character of which the rest is still to come goes with that.
func (s *Splitter) emitPiece() error {
	text := s.text.String()
	end := wholeRunes(text)
	s.text.Reset()
	s.text.WriteString(text[end:])
	return s.Emit(Line{At: s.at, Stream: s.Stream, Text: text[:end]})
}

// wholeRunes gives how many bytes of a text there are before a character of which it has only the beginning.
func wholeRunes(text string) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if !utf8.RuneStart(text[i]) {
			continue
		}
		if !utf8.FullRuneInString(text[i:]) {
			return i
		}
		break
	}
	return len(text)
}
