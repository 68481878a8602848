package limit

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// The bounds of answers in bytes, and the share of one key.
const (
	wholeAnswers, wholeShare  = 32_000_000, 20_000_000
	pieceAnswers, piecesShare = 48_000_000, 32_000_000
)

// Answers bounds the memory that large answers take: while they are made, and until their clients have taken them.
type Answers struct {
	whole  *Memory
	lists  *Memory // of documents, which have some of whole themselves
	pieces *Memory
	wait   time.Duration
}

// NewAnswers has an answer wait for memory for so long at most: as long as one that is not taken has it.
func NewAnswers(wait time.Duration) *Answers {
	return &Answers{
		whole: NewMemory(wholeAnswers, wholeShare), lists: NewMemory(wholeAnswers, wholeShare), pieces: NewMemory(pieceAnswers, piecesShare), wait: wait,
	}
}

const crowded = "too many large answers are under way"

// Crowded is the error of who gets no memory for an answer: Unavailable, with the cause ErrBusy.
func Crowded() error {
	return &compute.Error{Code: compute.Unavailable, Detail: crowded, Cause: ErrBusy}
}

// Try takes memory for an answer, if it is there. leave gives it back, and may be called more than once.
func (a *Answers) Try(key compute.KeyID, bytes int64) (leave func(), ok bool) {
	return a.whole.Try(key, bytes)
}

// List takes memory for the lists that a document reads, as Try does.
func (a *Answers) List(key compute.KeyID, bytes int64) (leave func(), ok bool) {
	return a.lists.Try(key, bytes)
}

// Whole waits for memory for an answer. Unavailable if it does not come; else the error is that of ctx.
func (a *Answers) Whole(ctx context.Context, key compute.KeyID, bytes int64) (leave func(), err error) {
	return a.whole.enterWithin(ctx, a.wait, key, bytes, crowded)
}

// Piece waits for memory for a piece of an answer, as Whole does.
func (a *Answers) Piece(ctx context.Context, key compute.KeyID, bytes int64) (leave func(), err error) {
	return a.pieces.enterWithin(ctx, a.wait, key, bytes, crowded)
}
