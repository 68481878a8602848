package control

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestPowerOfTwo(t *testing.T) {
	t.Parallel()
	for n, is := range map[int64]bool{math.MinInt64: false, -8: false, -1: false, 0: false, 1: true, 2: true, 3: false, 6: false, 256: true, 257: false, 1 << 62: true, math.MaxInt64: false} {
		require.Equal(t, is, powerOfTwo(n), "%d", n)
	}
}

func TestCPUFlavor_OffersItsSizes(t *testing.T) {
	t.Parallel()
	f := CPUFlavor{MinVCPU: 4, MaxVCPU: 16}
	for vcpus, offered := range map[int64]bool{-4: false, 0: false, 1: true, 2: false, 3: false, 4: true, 6: false, 8: true, 16: true, 17: false, 32: false} {
		require.Equal(t, offered, f.offers(vcpus), "%d", vcpus)
	}
	require.False(t, f.Serverless())
	require.True(t, CPUFlavor{ServerlessPricePerVCPU: 0.001}.Serverless())
}

func TestGPUType_OffersByCloud(t *testing.T) {
	t.Parallel()
	secure, community := &GPUOffer{Price: 2}, &GPUOffer{Price: 1}
	both := GPUType{Secure: secure, Community: community}
	require.Same(t, secure, both.Offer(compute.Secure))
	require.Same(t, community, both.Offer(compute.Community))
	require.Nil(t, GPUType{Secure: secure}.Offer(compute.Community))
	require.Nil(t, GPUType{Community: community}.Offer(compute.Secure))
}

func TestGPUOffer_LeastBidIsHalfThePriceUnlessItSaysOtherwise(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 0.215, GPUOffer{Price: 0.43}.LeastBid(), 1e-12)
	require.InDelta(t, 0.2, GPUOffer{Price: 0.43, SpotPrice: 0.2}.LeastBid(), 1e-12)
	require.Zero(t, GPUOffer{}.LeastBid())
}

func TestCatalog_PricesABid(t *testing.T) {
	t.Parallel()
	c, err := builtIn()
	require.NoError(t, err)
	l4, _ := c.GPU("NVIDIA L4")
	least := l4.Secure.LeastBid()
	for bid, says := range map[float64]string{
		least: "", math.Nextafter(least, 0): "is below the minimum bid price of 0.22", 0: "is below the minimum bid price", 1_000_000: "", 1_000_000.5: "is over 1000000",
	} {
		price, err := c.priceBid(compute.GPU{ID: "NVIDIA L4", Count: 2}, compute.Secure, bid)
		if says == "" {
			require.NoError(t, err)
			require.InDelta(t, 2*bid, price, 1e-6)
			continue
		}
		require.Equal(t, compute.Rejected, compute.CodeOf(err), "%g", bid)
		require.ErrorContains(t, err, says)
	}
	for says, gpu := range map[string]compute.GPU{`there is no GPU type "none"`: {ID: "none", Count: 1}, "a pod can have 10": {ID: "NVIDIA L4", Count: 11}} {
		_, err := c.priceBid(gpu, compute.Secure, 1)
		require.ErrorContains(t, err, says)
	}
	_, err = c.priceBid(compute.GPU{ID: "NVIDIA L4", Count: 1}, compute.Community, 1)
	require.ErrorContains(t, err, `"NVIDIA L4" is not offered in cloud COMMUNITY`)
}

func TestCatalog_PricesGPUsAndCPUs(t *testing.T) {
	t.Parallel()
	c, err := builtIn()
	require.NoError(t, err)
	price, err := c.priceGPU(compute.GPU{ID: "NVIDIA L4", Count: 10}, compute.Secure)
	require.NoError(t, err)
	require.InDelta(t, 4.3, price, 1e-9)

	for _, memory := range []int64{0, 32} {
		price, has, err := c.priceCPU(compute.CPU{ID: "cpu3g", VCPUCount: 8, MemoryGB: memory})
		require.NoError(t, err)
		require.EqualValues(t, 32, has)
		require.InDelta(t, 0.32, price, 1e-9)
	}
	for says, cpu := range map[string]compute.CPU{
		`there is no CPU flavor "none"`:                               {ID: "none", VCPUCount: 8},
		`"cpu3g" offers the powers of two from 2 to 32, not 64`:       {ID: "cpu3g", VCPUCount: 64},
		`cpu.memory: flavor "cpu3g" has 32 GB with 8 vCPUs, not 33`:   {ID: "cpu3g", VCPUCount: 8, MemoryGB: 33},
		`cpu.memory: flavor "cpu3g" has 4 GB with 1 vCPUs, not 8`:     {ID: "cpu3g", VCPUCount: 1, MemoryGB: 8},
		`"cpu3g" offers the powers of two from 2 to 32, not -2`:       {ID: "cpu3g", VCPUCount: -2},
		`cpu.vcpuCount: flavor "cpu3g" offers the powers of two from`: {ID: "cpu3g", VCPUCount: 6},
	} {
		_, _, err := c.priceCPU(cpu)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), says)
		require.ErrorContains(t, err, says)
	}
}

func TestCatalog_ChecksThePlace(t *testing.T) {
	t.Parallel()
	c, err := builtIn()
	require.NoError(t, err)
	nvidia, amd := &compute.GPU{ID: "NVIDIA L4", Count: 1}, &compute.GPU{ID: "AMD Instinct MI300X OAM", Count: 1}
	for name, one := range map[string]struct {
		gpu     *compute.GPU
		centers []string
		global  bool
		says    string // empty: it is taken
	}{
		"anywhere":                   {nil, nil, false, ""},
		"somewhere":                  {nil, []string{"AP-JP-1", "EU-RO-1"}, false, ""},
		"nowhere":                    {nil, []string{"EU-RO-1", "XX-YY-1"}, false, `there is no data center "XX-YY-1"`},
		"networked anywhere":         {nvidia, nil, true, ""},
		"networked, if it is there":  {nvidia, []string{"AP-JP-1", "EU-RO-1"}, true, ""},
		"networked, and not there":   {nvidia, []string{"EU-RO-1", "AP-JP-1"}, true, ""},
		"networked where none is":    {nvidia, []string{"AP-JP-1", "CA-MTL-1"}, true, "none of the data centers asked for has it"},
		"networked on CPUs":          {nil, nil, true, "needs an NVIDIA GPU"},
		"networked on another make":  {amd, nil, true, "needs an NVIDIA GPU"},
		"networked on an unknown":    {&compute.GPU{ID: "none"}, nil, true, "needs an NVIDIA GPU"},
		"not networked, none has it": {nvidia, []string{"AP-JP-1"}, false, ""},
	} {
		err := c.checkPlace(one.gpu, one.centers, one.global)
		if one.says == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, one.says, name)
		}
	}
}

func TestCatalog_OneDataCenterMeetsAllStandards(t *testing.T) {
	t.Parallel()
	c := Catalog{DataCenters: []DataCenter{{ID: "a", Compliance: []string{"GDPR"}}, {ID: "b", Compliance: []string{"GDPR", "HIPAA"}}, {ID: "c", Compliance: []string{"ITAR"}}}}
	for _, one := range []struct {
		centers, standards []string
		met                bool
	}{
		{nil, nil, true},
		{nil, []string{"HIPAA", "GDPR"}, true},
		{nil, []string{"HIPAA", "ITAR"}, false},
		{nil, []string{"none"}, false},
		{[]string{"a"}, []string{"GDPR"}, true},
		{[]string{"a", "c"}, []string{"HIPAA"}, false},
		{[]string{"a", "b"}, []string{"HIPAA"}, true},
		{[]string{"none"}, nil, false},
	} {
		require.Equal(t, one.met, c.compliant(one.centers, one.standards), "%v", one)
	}
}

func TestPublicTemplate_IsATemplateOfNobody(t *testing.T) {
	t.Parallel()
	public := PublicTemplate{
		ID: "t", Source: "official", Name: "n", Category: "AMD", Image: "i", Args: "-x", DiskGB: 5, Persistent: &PublicTemplateStorage{SizeGB: 10, Path: "/p"},
		Ports: []string{"80/http"}, Env: map[string]string{"A": "1"}, Serverless: true, StartSSH: true, StartJupyter: true, CUDAVersions: []string{"12.8"},
	}
	made := public.Template()
	require.Equal(t, compute.Template{
		ID: "t", Name: "n", Category: compute.ForAMD, Image: "i", Args: "-x", DiskGB: 5, Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/p"}, Public: true,
		Ports: []string{"80/http"}, PortNames: map[string]string{}, Env: map[string]string{"A": "1"}, Serverless: true, StartSSH: true, StartJupyter: true,
		CUDAVersions: []string{"12.8"},
	}, made)
	made.Env["A"], made.Ports[0], made.CUDAVersions[0] = "2", "90/http", "11.8"
	require.Equal(t, []any{"1", "80/http", "12.8"}, []any{public.Env["A"], public.Ports[0], public.CUDAVersions[0]}, "the catalog stays as it is")
	require.Equal(t, compute.Template{
		Public: true, Ports: []string{}, PortNames: map[string]string{}, Env: map[string]string{}, CUDAVersions: []string{},
	}, PublicTemplate{}.Template())

	require.True(t, public.Official())
	for _, source := range []string{"verified", "community", ""} {
		require.False(t, PublicTemplate{Source: source}.Official(), source)
	}
}
