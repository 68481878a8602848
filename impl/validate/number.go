package validate

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Integer are the checks of an integer. Both bounds are always set; the generator makes exclusive ones inclusive.
type Integer struct {
	Min, Max int64
	Enum     []int64
}

// Number are the checks of a number. Nil bounds are none; Above and Below are the exclusive ones.
type Number struct {
	Min, Max, Above, Below *Decimal
	Enum                   []Decimal
}

// Decimal is a number as it is written, which a float64 may not hold exactly.
type Decimal struct {
	text  string
	float float64
}

// Dec gives the decimal of a text that is a JSON number, for generated code.
func Dec(text string) Decimal {
	f, _ := strconv.ParseFloat(text, 64) // a constant of the document, in range
	return Decimal{text, f}
}

// Bound gives a pointer to a decimal, for generated code.
func Bound(text string) *Decimal {
	d := Dec(text)
	return &d
}

// Int reads an integer and checks it. As JSON Schema 2020-12 has it, a number without a fractional part is an integer however
// it is written: 5.0 and 5e0 are 5.
func (s *Scanner) Int(n *Integer) (value int64, ok bool) {
	raw, plain, ok := s.number("an integer")
	if !ok {
		return 0, false
	}

	text := string(raw)
	if !plain {
		if text, ok = Whole(text); !ok {
			s.violate("must be an integer")
			return 0, false
		}
		s.loose = s.pos
	}

	value, fault := parseInt(text, n)
	s.note(fault)
	return value, fault == ""
}

// longest is how many digits are enough to distinguish every integer of 64 bits from one that is too large.
const longest = 20

// Whole gives the digits of a JSON number, with its sign, however it is written; false if it is no integer. Of one that 64 bits cannot hold it gives one that they cannot hold either, of the same sign.
func Whole(text string) (string, bool) {
	sign, digits, point := Decimal{text: text}.parts()
	switch {
	case sign == 0:
		return "0", true
	case point < len(digits):
		return "", false
	}

	digits += strings.Repeat("0", max(0, min(point, longest)-len(digits)))
	if sign < 0 {
		digits = "-" + digits
	}
	return digits, true
}

// Float reads a number and checks it.
func (s *Scanner) Float(n *Number) (value float64, ok bool) {
	raw, _, ok := s.number("a number")
	if !ok {
		return 0, false
	}
	value, fault := parseFloat(string(raw), n)
	s.note(fault)
	return value, fault == ""
}

// number reads a number; plain reports that it has neither fraction nor exponent.
func (s *Scanner) number(want string) (raw []byte, plain, ok bool) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.wrong(want)
		return nil, false, false
	}
	raw, plain = s.numberToken()
	return raw, plain, s.err == nil
}

// parseInt checks the digits of an integer, of a body or of a parameter, and gives its value or what is wrong.
func parseInt(text string, n *Integer) (value int64, fault string) {
	value, err := strconv.ParseInt(text, 10, 64) // out of range it gives the nearest
	if n != nil {
		switch {
		case value < n.Min:
			return 0, "must be >= " + strconv.FormatInt(n.Min, 10)
		case value > n.Max:
			return 0, "must be <= " + strconv.FormatInt(n.Max, 10)
		}
	}

	if err != nil {
		return 0, "must be an integer of 64 bits"
	}
	if n == nil || n.Enum == nil {
		return value, ""
	}

	if slices.Contains(n.Enum, value) {
		return value, ""
	}
	return 0, oneOf(n.Enum, func(b []byte, value int64) []byte { return strconv.AppendInt(b, value, 10) })
}

// parseFloat checks a number, of a body or of a parameter, and gives its value or what is wrong.
func parseFloat(text string, n *Number) (value float64, fault string) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, "must be a number of 64 bits"
	}
	if n == nil {
		return value, ""
	}

	v := Decimal{text, value}
	switch {
	case n.Min != nil && v.compare(*n.Min) < 0:
		return 0, "must be >= " + n.Min.text
	case n.Max != nil && v.compare(*n.Max) > 0:
		return 0, "must be <= " + n.Max.text
	case n.Above != nil && v.compare(*n.Above) <= 0:
		return 0, "must be > " + n.Above.text
	case n.Below != nil && v.compare(*n.Below) >= 0:
		return 0, "must be < " + n.Below.text
	}

	if n.Enum == nil {
		return value, ""
	}

	if slices.ContainsFunc(n.Enum, func(e Decimal) bool { return v.compare(e) == 0 }) {
		return value, ""
	}
	return 0, oneOf(n.Enum, func(b []byte, d Decimal) []byte { return append(b, d.text...) })
}

// compare is exact: rounding keeps the order of two decimals, so only those that round to the same float64 are compared digit
// by digit.
func (d Decimal) compare(e Decimal) int {
	switch {
	case d.float < e.float:
		return -1
	case d.float > e.float:
		return 1
	case d.text == e.text:
		return 0
	}

	sign, digits, point := d.parts()
	otherSign, otherDigits, otherPoint := e.parts()
	switch {
	case sign != otherSign:
		return sign - otherSign
	case point != otherPoint:
		return sign * (point - otherPoint)
	}

	return sign * strings.Compare(digits, otherDigits)
}

// parts gives the sign, the digits without zeros before or after them, and where the point stands from their begin.
func (d Decimal) parts() (sign int, digits string, point int) {
	text, negative := strings.CutPrefix(d.text, "-")
	mantissa, exponent := text, 0
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa = text[:e]
		var err error
		if exponent, err = strconv.Atoi(text[e+1:]); err != nil { // more digits than an int has
			exponent = math.MaxInt32
			if text[e+1] == '-' {
				exponent = math.MinInt32
			}
		}
	}

	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	point = exponent + len(digits) - len(fraction)
	digits = strings.TrimRight(digits, "0")

	switch {
	case digits == "":
		return 0, "", 0
	case negative:
		return -1, digits, point
	}

	return 1, digits, point
}
