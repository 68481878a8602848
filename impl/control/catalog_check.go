package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

const manufacturerNVIDIA = "NVIDIA"

// The published words of the catalog.
var (
	manufacturers = []string{manufacturerNVIDIA, "AMD", "UNKNOWN"}
	regions       = []string{"NORTH_AMERICA", "SOUTH_AMERICA", "EUROPE", "ASIA", "MIDDLE_EAST", "AFRICA", "OCEANIA", "ANTARCTICA", "UNKNOWN"}
	volumeTypes   = []string{"STANDARD", "HIGH_PERFORMANCE"}
	compliances   = []string{
		"GDPR", "ISO_IEC_27001", "ISO_14001", "PCI_DSS", "HITRUST", "SOC_1_TYPE_2", "SOC_2_TYPE_2", "SOC_3_TYPE_2", "ITAR",
		"FISMA_HIGH", "HIPAA", "RENEWABLE",
	}
	sources        = []string{sourceOfficial, "verified", "community"}
	categories     = []string{"CPU", manufacturerNVIDIA, "AMD"}
	countryPattern = regexp.MustCompile(`^[A-Z]{2}$`)
)

// maxVCPUs is the largest size that createPod knows.
const maxVCPUs = 256

// load reads and parses a file; an error names it.
func load[T any](path string, parse func([]byte) (T, error)) (v T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	if v, err = parse(text); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return v, err
}

// decodeStrictly reads one JSON document without members that nobody knows.
func decodeStrictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the JSON document")
	}
	return nil
}

// faults collects what does not make sense in a file.
type faults struct{ list []error }

// line says all in one line.
func (f *faults) line() string {
	var all []string
	for _, one := range f.list {
		all = append(all, one.Error())
	}
	return strings.Join(all, "; ")
}

// must notes a fault at a place, such as gpus[3].id, unless ok.
func (f *faults) must(ok bool, place, format string, args ...any) {
	if !ok {
		f.list = append(f.list, fmt.Errorf("%s %s", place, fmt.Sprintf(format, args...)))
	}
}

func (f *faults) oneOf(value string, words []string, place string) {
	f.must(slices.Contains(words, value), place, "is %q; it must be one of %v", value, words)
}

// unique notes an id that is missing or stands twice.
func (f *faults) unique(seen map[string]bool, id, place string) {
	f.must(id != "", place, "is missing")
	f.must(id == "" || !seen[id], place, "%q stands twice", id)
	seen[id] = true
}

func (f *faults) offer(o *GPUOffer, place string) {
	if o != nil {
		f.must(o.Price >= 0, place+".price", "must not be negative")
		f.must(o.SpotPrice >= 0 && o.SpotPrice <= max(0, o.Price), place+".spotPrice", "must be at most the price, and not negative")
		f.must(o.MaxCount >= 1, place+".maxCount", "must be at least 1")
	}
}

func (c Catalog) check() error {
	var f faults
	seen := map[string]bool{}
	for i, t := range c.GPUs {
		at := fmt.Sprintf("gpus[%d].", i)
		f.unique(seen, t.ID, at+"id")
		f.must(t.Name != "", at+"name", "is missing")
		f.oneOf(t.Manufacturer, manufacturers, at+"manufacturer")
		f.must(t.MemoryGB >= 1, at+"memoryGb", "must be at least 1")
		f.must(t.Secure != nil || t.Community != nil, at+"secure", "or community must be there")
		f.offer(t.Secure, at+"secure")
		f.offer(t.Community, at+"community")
		f.must(t.ServerlessPrice >= 0, at+"serverlessPrice", "must not be negative")
		f.must(t.VCPUPerGPU >= 1, at+"vcpuPerGpu", "must be at least 1")
		f.must(t.MemoryGBPerGPU >= 1, at+"memoryGbPerGpu", "must be at least 1")
	}

	seen = map[string]bool{}
	for i, t := range c.CPUs {
		at := fmt.Sprintf("cpus[%d].", i)
		f.unique(seen, t.ID, at+"id")
		f.must(t.Name != "", at+"name", "is missing")
		f.must(t.MemoryPerVCPU >= 1, at+"memoryPerVcpuGb", "must be at least 1")
		f.must(t.MinVCPU >= 2 && powerOfTwo(t.MinVCPU), at+"minVcpu", "must be a power of two, at least 2")
		f.must(t.MaxVCPU >= t.MinVCPU && t.MaxVCPU <= maxVCPUs && powerOfTwo(t.MaxVCPU), at+"maxVcpu", "must be a power of two from minVcpu to %d", maxVCPUs)
		f.must(t.DiskPerVCPU >= 0, at+"diskGbPerVcpu", "must not be negative")
		f.must(t.PricePerVCPU >= 0, at+"pricePerVcpu", "must not be negative")
		f.must(t.ServerlessPricePerVCPU >= 0, at+"serverlessPricePerVcpu", "must not be negative")
	}

	f.must(c.Volumes.Standard >= 0, "volumes.standard", "must not be negative")
	f.must(c.Volumes.HighPerformance >= 0, "volumes.highPerformance", "must not be negative")
	c.checkDataCenters(&f)
	c.checkTemplates(&f)
	return errors.Join(f.list...)
}

func (c Catalog) checkDataCenters(f *faults) {
	seen := map[string]bool{}
	f.must(len(c.DataCenters) > 0, "dataCenters", "must have one at least")
	for i, d := range c.DataCenters {
		at := fmt.Sprintf("dataCenters[%d].", i)
		f.unique(seen, d.ID, at+"id")
		f.must(d.Name != "", at+"name", "is missing")
		f.oneOf(d.Region, regions, at+"region")
		f.must(countryPattern.MatchString(d.Country), at+"country", "is %q; it must be two capital letters", d.Country)
		for j, v := range d.VolumeTypes {
			f.oneOf(v, volumeTypes, fmt.Sprintf("%snetworkVolumeTypes[%d]", at, j))
		}
		for j, v := range d.Compliance {
			f.oneOf(v, compliances, fmt.Sprintf("%scompliance[%d]", at, j))
		}
	}
}

func (c Catalog) checkTemplates(f *faults) {
	seen := map[string]bool{}
	for i, t := range c.Templates {
		at := fmt.Sprintf("templates[%d].", i)
		f.unique(seen, t.ID, at+"id")
		f.must(t.Name != "", at+"name", "is missing")
		f.must(t.Image != "", at+"image", "is missing")
		f.oneOf(t.Source, sources, at+"source")
		f.oneOf(t.Category, categories, at+"category")
		f.must(t.DiskGB >= 1, at+"diskGb", "must be at least 1")
		if t.Persistent != nil {
			f.must(t.Persistent.SizeGB >= 10 && t.Persistent.Path != "", at+"persistent", "needs a sizeGb of at least 10 and a path")
		}
		for j, v := range t.CUDAVersions {
			_, ok := parseCUDA(v)
			f.must(ok, fmt.Sprintf("%sallowedCudaVersions[%d]", at, j), "is %q; it must be like 12.8", v)
		}
	}
}

func powerOfTwo(n int64) bool { return n > 0 && n&(n-1) == 0 }
