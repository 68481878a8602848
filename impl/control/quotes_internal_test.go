package control

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

var eitherCloud = []compute.Cloud{compute.Secure, compute.Community}

func TestControl_Quote_IsTheCheapestCloudWithRoom(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{rtx("EU-RO-1", compute.Secure, 2, "12.8"), rtx("US-KS-2", compute.Community, 1, "12.4")})
	quote := func(count int64, clouds ...compute.Cloud) Quote {
		return c.Quote(Wanted{GPU: compute.GPU{ID: rtx4090, Count: count}, Clouds: clouds, DiskGB: 20})
	}
	both := []CUDAStock{{"12.8", true}, {"12.4", true}}
	cheap := Quote{Cloud: compute.Community, Price: 0.34, Stock: StockLow, LeastBid: 0.2, Counts: []int64{1, 2}, CUDA: both}
	require.Equal(t, cheap, quote(1, eitherCloud...))
	require.Equal(t, cheap, quote(1, compute.Community, compute.Secure), "in whatever order they are asked for")
	require.Equal(t, Quote{Cloud: compute.Secure, Price: 0.69, Stock: StockLow, LeastBid: 0.35, Counts: []int64{1, 2}, CUDA: both[:1]}, quote(1, compute.Secure))
	require.Equal(t, Quote{
		Cloud: compute.Secure, Price: 1.38, Stock: StockLow, LeastBid: 0.7, Counts: []int64{1, 2}, CUDA: []CUDAStock{{"12.8", true}, {"12.4", false}},
	}, quote(2, eitherCloud...))
	require.Equal(t, Quote{Stock: StockNone, Counts: []int64{1, 2}, CUDA: []CUDAStock{{"12.8", false}, {"12.4", false}}}, quote(3, eitherCloud...))

	nothing := Quote{Stock: StockNone, Counts: []int64{}, CUDA: []CUDAStock{}}
	for _, id := range []string{"NVIDIA L40", "none"} {
		require.Equal(t, nothing, c.Quote(Wanted{GPU: compute.GPU{ID: id, Count: 1}, Clouds: eitherCloud}), id)
	}
	require.Equal(t, nothing, c.Quote(Wanted{GPU: compute.GPU{ID: "NVIDIA L4", Count: 1}, Clouds: []compute.Cloud{compute.Community}}), "it is not sold there")

	c.catalog.GPUs = slices.Clone(c.catalog.GPUs) // the first is the type
	c.catalog.GPUs[0].Community = c.catalog.GPUs[0].Secure
	require.Equal(t, compute.Secure, quote(1, eitherCloud...).Cloud, "of two that cost the same the first")
	require.Equal(t, compute.Community, quote(1, compute.Community, compute.Secure).Cloud)
}

func TestControl_Quote_CountsUpToWhatAPodCanHave(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{rtx("EU-RO-1", compute.Secure, 20, "12.8")})
	q := c.Quote(Wanted{GPU: compute.GPU{ID: rtx4090, Count: 1}, Clouds: eitherCloud, DiskGB: 20})
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}, q.Counts)
	require.Equal(t, StockHigh, q.Stock)
}

func TestControl_Choose_TakesTheFirstTypeThatTheBidReaches(t *testing.T) {
	t.Parallel()
	l4 := l4s("l4", 1)
	c := openControl(t, openStore(t), []Host{rtx("EU-RO-1", compute.Secure, 1, "12.8"), rtx("US-KS-2", compute.Community, 1, "12.8"), l4})
	for _, one := range []struct {
		bid   float64
		types []string
		gpu   string
		cloud compute.Cloud
	}{
		{0, []string{rtx4090}, rtx4090, compute.Community},
		{0.35, []string{rtx4090}, rtx4090, compute.Community}, // of the minimum bid prices, 0.35 and 0.2, it reaches both
		{0.2, []string{rtx4090}, rtx4090, compute.Community},
		{0.19, []string{rtx4090}, rtx4090, compute.Secure}, // neither: the first of each
		{0, []string{"NVIDIA A40", "NVIDIA L4", rtx4090}, "NVIDIA L4", compute.Secure},
		{0.22, []string{"NVIDIA L4", rtx4090}, "NVIDIA L4", compute.Secure},
		{0.21, []string{"NVIDIA L4", rtx4090}, rtx4090, compute.Community},
		{0.1, []string{"NVIDIA L4", rtx4090}, "NVIDIA L4", compute.Secure},
		{0, []string{"NVIDIA A40", "NVIDIA L40"}, "NVIDIA A40", compute.Secure},
	} {
		n, err := c.Choose(t.Context(), "u", NewPod{GPU: &compute.GPU{Count: 1}, BidPerGPU: one.bid}, one.types, eitherCloud)
		require.NoError(t, err)
		require.Equal(t, compute.GPU{ID: one.gpu, Count: 1}, *n.GPU, "%+v", one)
		require.Equal(t, one.cloud, n.Cloud, "%+v", one)
	}

	n, err := c.Choose(t.Context(), "u", NewPod{GPU: &compute.GPU{Count: 2}}, []string{rtx4090, "NVIDIA L4"}, eitherCloud)
	require.NoError(t, err)
	require.Equal(t, compute.GPU{ID: rtx4090, Count: 2}, *n.GPU, "none has two")
	n, err = c.Choose(t.Context(), "u", NewPod{GPU: &compute.GPU{Count: 1}, DataCenterIDs: []string{"EU-RO-1"}}, []string{rtx4090}, eitherCloud)
	require.NoError(t, err)
	require.Equal(t, compute.Secure, n.Cloud)
	n, err = c.Choose(t.Context(), "u", NewPod{GPU: &compute.GPU{Count: 1}, Needs: Needs{Countries: []string{"RO"}}}, []string{rtx4090}, eitherCloud)
	require.NoError(t, err)
	require.Equal(t, compute.Secure, n.Cloud)
}

func TestControl_StockIn_IsOfOneDataCenterAndAllOfTheClouds(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{rtx("EU-RO-1", compute.Secure, 4, "12.8"), rtx("EU-RO-1", compute.Community, 4, "12.8"), rtx("US-KS-2", compute.Community, 20, "12.8")})
	stock := func(center string, count int64, clouds ...compute.Cloud) Stock {
		list := c.StockIn(center, Wanted{GPU: compute.GPU{Count: count}, Clouds: clouds, DiskGB: 20})
		require.Len(t, list, len(c.catalog.GPUs))
		i := slices.IndexFunc(list, func(r ResourceStock) bool { return r.ID == rtx4090 })
		require.Equal(t, "RTX 4090", list[i].Name)
		return list[i].Stock
	}
	require.Equal(t, StockMedium, stock("EU-RO-1", 1, eitherCloud...))
	require.Equal(t, StockLow, stock("EU-RO-1", 1, compute.Secure))
	require.Equal(t, StockLow, stock("EU-RO-1", 2, eitherCloud...))
	require.Equal(t, StockHigh, stock("US-KS-2", 1, eitherCloud...))
	require.Equal(t, StockNone, stock("EU-CZ-1", 1, eitherCloud...))
}

func TestControl_CPUOffer_IsForPodsAndForWorkers(t *testing.T) {
	t.Parallel()
	host := Host{ID: "a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3c", "cpu3g"}, VCPUs: 16, MemoryGB: 64, DiskGB: 1000}
	other := host
	other.ID, other.Cloud = "b", compute.Community
	c := openControl(t, openStore(t), []Host{host, other})
	asked := compute.CPU{ID: "cpu3g", VCPUCount: 4}
	for _, worker := range []bool{false, true} {
		offer, err := c.CPUOffer(asked, nil, worker)
		require.NoError(t, err)
		require.Equal(t, CPUOffer{Stock: StockLow, Price: 0.16, ServerlessPrice: 0.2}, offer)
	}
	offer, err := c.CPUOffer(compute.CPU{ID: "cpu3c", VCPUCount: 2}, []string{"EU-CZ-1", "EU-RO-1"}, false)
	require.NoError(t, err)
	require.Equal(t, StockMedium, offer.Stock, "of the cloud SECURE alone")
	offer, err = c.CPUOffer(asked, []string{"EU-CZ-1"}, false)
	require.NoError(t, err)
	require.Equal(t, StockNone, offer.Stock)
	_, err = c.CPUOffer(compute.CPU{ID: "cpu3g", VCPUCount: 3}, nil, false)
	require.Equal(t, compute.Rejected, compute.CodeOf(err))

	c.catalog.CPUs = slices.Clone(c.catalog.CPUs)
	c.catalog.CPUs[1].ServerlessPricePerVCPU = 0
	_, err = c.CPUOffer(asked, nil, true)
	require.ErrorContains(t, err, `cpu.id: flavor "cpu3g" is not for workers of endpoints`)
	offer, err = c.CPUOffer(asked, nil, false)
	require.NoError(t, err)
	require.Zero(t, offer.ServerlessPrice)
	require.Equal(t, compute.CPU{ID: "cpu3c", VCPUCount: 2}, c.SmallestCPU())
}
