package control_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/control"
)

// A catalog with one of each, which all have the same id, and a value in each member that is checked.
const (
	aCenter      = `{"id":"x","name":"center","region":"EUROPE","country":"RO","networkVolumeTypes":["STANDARD"],"compliance":["GDPR"]}`
	wholeCatalog = `{"gpus":[{"id":"x","name":"type","manufacturer":"NVIDIA","memoryGb":1,"secure":{"price":2,"spotPrice":1,"maxCount":1},
		"community":{"price":3,"spotPrice":3,"maxCount":2},"serverlessPrice":0.5,"vcpuPerGpu":1,"memoryGbPerGpu":1}],
	"cpus":[{"id":"x","name":"flavor","memoryPerVcpuGb":1,"minVcpu":4,"maxVcpu":256,"diskGbPerVcpu":7,"pricePerVcpu":0.6,"serverlessPricePerVcpu":0.8}],
	"volumes":{"standard":0.1,"highPerformance":0.2},"dataCenters":[` + aCenter + `],
	"templates":[{"id":"x","name":"template","image":"i","source":"verified","category":"CPU","diskGb":1,"persistent":{"sizeGb":10,"path":"/p"},"allowedCudaVersions":["12.8"]}]}`
)

func TestCatalog_NamesEachMemberThatMakesNoSense(t *testing.T) {
	t.Parallel()
	_, err := control.LoadCatalog(write(t, wholeCatalog))
	require.NoError(t, err, "a GPU type and a template may have the same id")
	for change, want := range map[[2]string]string{
		{`"serverlessPrice":0.5`, `"serverlessPrice":-0.5`}:               `gpus[0].serverlessPrice must not be negative`,
		{`"spotPrice":3`, `"spotPrice":3.5`}:                              `gpus[0].community.spotPrice must be at most the price, and not negative`,
		{`"maxCount":2`, `"maxCount":0`}:                                  `gpus[0].community.maxCount must be at least 1`,
		{`"id":"x","name":"flavor"`, `"id":"","name":"flavor"`}:           `cpus[0].id is missing`,
		{`"name":"flavor"`, `"name":""`}:                                  `cpus[0].name is missing`,
		{`"minVcpu":4`, `"minVcpu":0`}:                                    `cpus[0].minVcpu must be a power of two, at least 2`,
		{`"maxVcpu":256`, `"maxVcpu":2`}:                                  `cpus[0].maxVcpu must be a power of two from minVcpu to 256`,
		{`"maxVcpu":256`, `"maxVcpu":6`}:                                  `cpus[0].maxVcpu must be a power of two from minVcpu to 256`,
		{`"diskGbPerVcpu":7`, `"diskGbPerVcpu":-7`}:                       `cpus[0].diskGbPerVcpu must not be negative`,
		{`"pricePerVcpu":0.6`, `"pricePerVcpu":-0.6`}:                     `cpus[0].pricePerVcpu must not be negative`,
		{`"serverlessPricePerVcpu":0.8`, `"serverlessPricePerVcpu":-0.8`}: `cpus[0].serverlessPricePerVcpu must not be negative`,
		{`"standard":0.1`, `"standard":-0.1`}:                             `volumes.standard must not be negative`,
		{`"highPerformance":0.2`, `"highPerformance":-0.2`}:               `volumes.highPerformance must not be negative`,
		{aCenter, ``}:                      `dataCenters must have one at least`,
		{aCenter, aCenter + "," + aCenter}: `dataCenters[1].id "x" stands twice`,
		{`"id":"x","name":"center"`, `"id":"","name":"center"`}:     `dataCenters[0].id is missing`,
		{`"name":"center"`, `"name":""`}:                            `dataCenters[0].name is missing`,
		{`"STANDARD"`, `"FAST"`}:                                    `dataCenters[0].networkVolumeTypes[0] is "FAST"; it must be one of [STANDARD HIGH_PERFORMANCE]`,
		{`"GDPR"`, `"ISO"`}:                                         `dataCenters[0].compliance[0] is "ISO"; it must be one of [GDPR ISO_IEC_27001 ISO_14001 PCI_DSS HITRUST SOC_1_TYPE_2 SOC_2_TYPE_2 SOC_3_TYPE_2 ITAR FISMA_HIGH HIPAA RENEWABLE]`,
		{`"id":"x","name":"template"`, `"id":"","name":"template"`}: `templates[0].id is missing`,
		{`"name":"template"`, `"name":""`}:                          `templates[0].name is missing`,
		{`"image":"i"`, `"image":""`}:                               `templates[0].image is missing`,
		{`"category":"CPU"`, `"category":"GPU"`}:                    `templates[0].category is "GPU"; it must be one of [CPU NVIDIA AMD]`,
		{`"path":"/p"`, `"path":""`}:                                `templates[0].persistent needs a sizeGb of at least 10 and a path`,
		{`["12.8"]`, `["12.8",""]`}:                                 `templates[0].allowedCudaVersions[1] is ""; it must be like 12.8`,
	} {
		require.Contains(t, wholeCatalog, change[0])
		path := write(t, strings.Replace(wholeCatalog, change[0], change[1], 1))
		_, err := control.LoadCatalog(path)
		require.EqualError(t, err, path+": "+want)
	}
}

func TestCatalog_NamesEverythingThatMakesNoSense(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"name":"type"`, `"name":""`, `"name":"flavor"`, `"name":""`, `"name":"center"`, `"name":""`, `"name":"template"`, `"name":""`).Replace(wholeCatalog)
	path := write(t, text)
	_, err := control.LoadCatalog(path)
	require.EqualError(t, err, path+": gpus[0].name is missing\ncpus[0].name is missing\ndataCenters[0].name is missing\ntemplates[0].name is missing")
}
