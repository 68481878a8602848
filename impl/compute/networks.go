package compute

import (
	"encoding/binary"
	"net/netip"
)

// InternalDomain ends the names of globally networked pods.
const InternalDomain = "pod.berth.internal"

// The addresses of all global networks: blocks of one size, of which an account has one. Private ones (RFC 1918) that
// neither container engines nor the large clouds use unless asked to.
var globalAddresses = netip.MustParsePrefix("10.64.0.0/10")

// A block is a subnet of 4096 addresses. The first is that of the network, the second of its gateway, the last is for all.
const (
	blockBits     = 12
	BlockSize     = 1 << blockBits
	FirstInBlock  = 2
	LastInBlock   = BlockSize - 2
	NetworkBlocks = 1 << (32 - 10 - blockBits) // how many accounts can have a global network at a time
)

// NetworkAddress is an address in a global network: the number of its block times BlockSize, and its place in that. 0: none.
type NetworkAddress int64

// Block is the number of the block.
func (a NetworkAddress) Block() int64 { return int64(a) / BlockSize }

// IP is the address. There are 2^22.
func (a NetworkAddress) IP() netip.Addr {
	base := globalAddresses.Addr().As4()
	var ip [4]byte
	binary.BigEndian.PutUint32(ip[:], binary.BigEndian.Uint32(base[:])+uint32(a))
	return netip.AddrFrom4(ip)
}

// Subnet is that of the address's block.
func (a NetworkAddress) Subnet() netip.Prefix {
	return netip.PrefixFrom(a.IP(), 32-blockBits).Masked()
}

// InternalDNS is the name under which the pods of its account reach a globally networked pod.
func (id PodID) InternalDNS() string { return string(id) + "." + InternalDomain }
