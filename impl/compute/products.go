package compute

import "strings"

// SameGPU reports whether two names are of one GPU type, as the catalog, the vendor's tools and the labels of machines write it: capitals,
// spaces and the vendor's name make no difference, nor does it that the GPU is shared in time.
func SameGPU(a, b string) bool {
	return gpuName(a) == gpuName(b) && gpuName(a) != ""
}

// gpuName is what is left of a name without what makes no difference.
func gpuName(name string) string {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(name, "-shared")
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, name)
	for _, vendor := range []string{"nvidia", "amd", "tesla"} {
		name = strings.TrimPrefix(name, vendor)
	}
	return name
}
