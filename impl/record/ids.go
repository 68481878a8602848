package record

import (
	"slices"
	"strings"
	"sync"
)

// pairs are what is the same thing on two sides under two names: ids, and the tokens of pages. It is safe for concurrent use.
type pairs struct {
	mu   sync.Mutex
	to   map[string]string
	from map[string]string
}

func newPairs() *pairs { return &pairs{to: map[string]string{}, from: map[string]string{}} }

// mostPairs bounds the names that are remembered.
const mostPairs = 200_000

// learn notes that a is called b on the other side, unless either is known under another name.
func (p *pairs) learn(a, b string) (same bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.to[a]
	if _, taken := p.from[b]; !ok && !taken && len(p.to) < mostPairs {
		p.to[a], p.from[b] = b, a
		return true
	}
	return ok && known == b
}

// known gives what is called a, on the other side.
func (p *pairs) known(a string) (b string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, ok = p.to[a]
	return b, ok
}

// translate gives a text with the names of the other side, wherever one stands in it by itself: as a segment of a path, in a sentence, or as a part
// of a name such as a host's.
func (p *pairs) translate(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.to) == 0 {
		return text
	}
	if b, ok := p.to[text]; ok {
		return b
	}

	var out strings.Builder
	for rest := text; rest != ""; {
		word := strings.IndexFunc(rest, isWord)
		if word < 0 {
			word = len(rest)
		}
		out.WriteString(rest[:word])
		rest = rest[word:]
		end := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) })
		if end < 0 {
			end = len(rest)
		}
		out.WriteString(p.word(rest[:end]))
		rest = rest[end:]
	}
	return out.String()
}

// same reports whether a text is the other one with the names of the other side. Of addresses the host is another one.
func (p *pairs) same(a, b string) bool {
	return p.translate(a) == b || isAddress(a) && isAddress(b) && p.translate(withoutHost(a)) == withoutHost(b)
}

func isAddress(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// withoutHost gives what comes after the host of a URL: a service is at another one.
func withoutHost(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	_, path, _ := strings.Cut(rest, "/")
	return path
}

func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}

// mostParts bounds the parts of a word that are looked for.
const mostParts = 12

// word translates a word, or else the longest run of its parts that is known, and what is beside it.
func (p *pairs) word(w string) string {
	if b, ok := p.to[w]; ok {
		return b
	}
	cuts := []int{}
	for i := range len(w) {
		if (w[i] == '-' || w[i] == '_') && len(cuts) < mostParts {
			cuts = append(cuts, i)
		}
	}
	if len(cuts) == 0 {
		return w
	}

	cuts = append(cuts, len(w))
	for size := len(cuts) - 1; size > 0; size-- {
		for first := 0; first+size <= len(cuts); first++ {
			from, end := 0, cuts[first+size-1]
			if first > 0 {
				from = cuts[first-1] + 1
			}
			if b, ok := p.to[w[from:end]]; ok && from <= end {
				return p.word(w[:from]) + b + p.word(w[end:])
			}
		}
	}
	return w
}

// tokens are the members that hold what leads to the next page.
var tokens = []string{"cursor", "nextCursor"}

// isReference reports whether the member of that name holds a name that the service chose: by its place, and since it looks like one. What
// people choose, such as the name of a GPU type, has capitals or spaces, or is short.
func isReference(name, value string) bool {
	if slices.Contains(tokens, name) {
		return value != ""
	}
	if name != "id" && !strings.HasSuffix(name, "Id") && !strings.HasSuffix(name, "Ids") && !strings.HasSuffix(name, "ID") {
		return false
	}
	return looksChosen(value)
}

// The length of an id, in bytes.
const (
	shortestID = 8
	longestID  = 128
)

func looksChosen(value string) bool {
	return len(value) >= shortestID && len(value) <= longestID && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
