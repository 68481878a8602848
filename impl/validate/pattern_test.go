package validate

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var patterns = []string{
	`^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])/(http|tcp|udp)$`,
	`^https?://`, `^[0-9a-f]{4}$`, `a.c`, `(?i)^straße$`, `^$`, `$^`, `(^a|b$)`, `^a*$|x`, `[^a-z]`, `\bok\b`, `(?m)^a$`, `^(a|ab)(c|bcd)$`, `^[^/]+/[^/]+$`, `\x00`, `.`,
}

func TestPattern_CommonOnesHaveATable(t *testing.T) {
	t.Parallel()
	for _, pattern := range patterns[:4] {
		require.NotNil(t, MustPattern(pattern).table(), pattern)
	}
	for _, pattern := range []string{`\bok\b`, `(?m)^a$`, `^x{200}$`, ``} {
		require.Nil(t, MustPattern(pattern).table(), pattern)
	}
}

func TestPattern_MatchesAsPackageRegexpDoes(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "a", "b", "ab", "abc", "abcd", "ac", "aXc", "a\nc", "a\n", "\n", "ok", "look", "an ok one", "http://", "https://x", "httpx://", "xhttp://",
		"0/tcp", "1/tcp", "9999/udp", "59999/http", "65535/tcp", "65536/tcp", "99999/tcp", "1/tcp ", "12a4", "beef", "STRASSE", "Straße", "é", "aéc", "x/é", "\x00",
	}
	for _, pattern := range patterns {
		for _, text := range texts {
			require.Equal(t, regexp.MustCompile(pattern).MatchString(text), MustPattern(pattern).Match(text), "%s on %q", pattern, text)
		}
	}
}

func FuzzPatternsMatchWhatPackageRegexpMatches(f *testing.F) {
	for _, pattern := range patterns {
		f.Add(pattern, "abc/é")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		re, err := regexp.Compile(pattern)
		if err != nil || len(pattern) > 200 {
			return
		}
		require.Equal(t, re.MatchString(text), MustPattern(pattern).Match(text))
	})
}
