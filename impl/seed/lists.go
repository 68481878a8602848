package seed

import (
	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/validate"
)

// list is a member of a seed.
type list struct {
	name    string
	body    validate.Op // the operation whose body an item is
	members []string    // what an item may say besides
	key     bool        // the id is that of a key
	single  bool        // it is no list
}

// The members of items that no body has.
const (
	memberID       = "id"
	memberUser     = "user"
	memberKey      = "key"
	memberState    = "state"
	memberDisabled = "disabled"
)

// The lists, as an Item names them.
const (
	Users          = "users"
	Keys           = "keys"
	SSHKeys        = "sshKeys"
	Registries     = "registries"
	Delegations    = "delegations"
	Secrets        = "secrets"
	NetworkVolumes = "networkVolumes"
	GlobalVolumes  = "globalVolumes"
	Templates      = "templates"
	Endpoints      = "endpoints"
	Clusters       = "clusters"
	Pods           = "pods"
	Quotas         = "quotas"
	Faults         = "faults"
)

var owned = []string{memberID, memberUser}

// lists are all, each after those whose items its own may name.
var lists = []list{
	{name: Users, body: controls.Ops["createUser"], members: []string{memberDisabled}},
	{name: Keys, body: controls.Ops["createKey"], members: []string{memberID, memberKey}, key: true},
	{name: SSHKeys, body: rest.Ops["updateSshKeys"], members: []string{memberUser}},
	{name: Registries, body: rest.Ops["createRegistry"], members: owned},
	{name: Delegations, body: rest.Ops["createDelegation"], members: owned},
	{name: Secrets, body: rest.Ops["createSecret"], members: owned},
	{name: NetworkVolumes, body: rest.Ops["createNetworkVolume"], members: owned},
	{name: GlobalVolumes, body: rest.Ops["createGlobalVolume"], members: owned},
	{name: Templates, body: rest.Ops["createTemplate"], members: owned},
	{name: Endpoints, body: rest.Ops["createEndpoint"], members: owned},
	{name: Clusters, body: rest.Ops["createCluster"], members: owned},
	{name: Pods, body: rest.Ops["createPod"], members: append([]string{memberState}, owned...)},
	{name: Quotas, body: controls.Ops["setQuotas"], single: true},
	{name: Faults, body: controls.Ops["addFault"]},
}

// NeedsControls reports whether there is such a list only where there are test controls.
func NeedsControls(list string) bool { return list == Quotas || list == Faults }
