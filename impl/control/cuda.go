package control

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// cudaVersion is a version of CUDA, such as 12.8. The zero one is none.
type cudaVersion struct{ major, minor uint64 }

// parseCUDA reads a version; without a point the minor number is 0.
func parseCUDA(text string) (v cudaVersion, ok bool) {
	major, minor, pointed := strings.Cut(text, ".")
	if !pointed {
		minor = "0"
	}
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if !digits(major) || !digits(minor) {
		return v, false
	}
	v.major, _ = strconv.ParseUint(major, 10, 64) // out of range: the largest number, which no host has
	v.minor, _ = strconv.ParseUint(minor, 10, 64)
	return v, true
}

// compare compares number by number: 12.11 is later than 12.2 (rule catalog.availability.cuda.numbers).
func (v cudaVersion) compare(w cudaVersion) int {
	return cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor))
}

func (v cudaVersion) String() string {
	return strconv.FormatUint(v.major, 10) + "." + strconv.FormatUint(v.minor, 10)
}

// allowed reports whether a machine with the version may be taken: one of the listed versions if there are any, and no
// earlier than least.
func (v cudaVersion) allowed(versions []string, least string) bool {
	is := func(text string) bool {
		w, _ := parseCUDA(text)
		return v == w
	}
	if len(versions) > 0 && !slices.ContainsFunc(versions, is) {
		return false
	}
	w, _ := parseCUDA(least)
	return least == "" || v.compare(w) >= 0
}

// hasCUDA reports whether the host has a version that is allowed. One without CUDA suits only where nothing is asked for.
func (h *host) hasCUDA(versions []string, least string) bool {
	if len(versions) == 0 && least == "" {
		return true
	}
	return slices.ContainsFunc(h.cuda, func(v cudaVersion) bool { return v.allowed(versions, least) })
}
