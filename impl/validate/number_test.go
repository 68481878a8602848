package validate

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecimal_IsComparedExactly(t *testing.T) {
	t.Parallel()
	inOrder := []string{
		"-1e300", "-100.00000000000000000001", "-1e2", "-0.1", "-1e-400", "0", "1e-99999999999999999999", "1e-400", "0.1", "0.10000000000000000001", "1",
		"1.00000000000000000001", "9007199254740993", "9007199254740993.5", "9007199254740994", "1e300",
	}

	for i, left := range inOrder {
		for j, right := range inOrder {
			order := Dec(left).compare(Dec(right))
			require.Equal(t, i < j, order < 0, "%s, %s", left, right)
			require.Equal(t, i > j, order > 0, "%s, %s", left, right)
		}
	}

	for _, same := range [][2]string{{"0", "-0.0e5"}, {"1", "1.000"}, {"100", "1e2"}, {"100", "1E+2"}, {"-0.5", "-5e-1"}, {"0.00012", "1.2e-4"}} {
		require.Zero(t, Dec(same[0]).compare(Dec(same[1])), same)
	}
}

func TestScanner_NumberWithoutAFractionIsAnInteger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"5": 5, "5.0": 5, "5e0": 5, "50e-1": 5, "0.5e1": 5, "-5.00": -5, "-0.0": 0, "0e99999999999999999999": 0, "1.5E+1": 15,
		"9223372036854775807.0": math.MaxInt64, "-9.223372036854775808e18": math.MinInt64, "9007199254740993.0": 9007199254740993,
	} {
		s := Scanner{buf: []byte(text)}
		got, ok := s.Int(nil)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}

	for text, want := range map[string]string{
		"5.5": "must be an integer", "5e-1": "must be an integer", "0.1e-99999999999999999999": "must be an integer",
		"9223372036854775808.0": "must be an integer of 64 bits", "1e99999999999999999999": "must be an integer of 64 bits", "-1e400": "must be an integer of 64 bits",
		"1e19": "must be an integer of 64 bits", "1.8446744073709551621e19": "must be an integer of 64 bits",
	} {
		s := Scanner{buf: []byte(text)}
		_, ok := s.Int(nil)
		require.False(t, ok, text)
		require.Len(t, s.violations, 1, text)
		require.Equal(t, want, s.violations[0].Message, text)
	}

	s := Scanner{buf: []byte("1e99")}
	_, ok := s.Int(&Integer{Min: 1, Max: 8})
	require.False(t, ok)
	require.Equal(t, "must be <= 8", s.violations[0].Message)
}

func FuzzDecimalsAreComparedExactly(f *testing.F) {
	f.Add("0.1", "1e-1")
	f.Add("-9007199254740993", "-9007199254740993.0000000001")
	number := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)
	f.Fuzz(func(t *testing.T, left, right string) {
		for _, text := range []string{left, right} {
			if _, err := strconv.ParseFloat(text, 64); err != nil || !number.MatchString(text) {
				return
			}
		}
		l, _ := new(big.Rat).SetString(left)
		r, _ := new(big.Rat).SetString(right)
		order := Dec(left).compare(Dec(right))
		require.Equal(t, l.Cmp(r), min(1, max(-1, order)), "%s, %s", left, right)
	})
}
