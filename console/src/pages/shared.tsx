// What several pages read.
import { pages, send, type ControlsTypes, type QueueTypes, type RestTypes } from '../api'
import { useResource } from '../data'
import { hasControls } from '../session'
import type { Choices } from '../ui/form'
import { usd } from '../format'

export type Pod = RestTypes['schemas']['Pod']
export type Endpoint = RestTypes['schemas']['Endpoint']
export type Worker = RestTypes['schemas']['Worker']
export type Health = QueueTypes['schemas']['Health']
export type Job = ControlsTypes['schemas']['ListedJob']
export type Host = ControlsTypes['schemas']['Host']

export const readPods = () => pages(async cursor => {
  const page = await send('get', '/v2/pods', { query: { ...(cursor ? { cursor } : {}) } })
  return { rows: page.pods, next: page.pagination.nextCursor }
})
export const usePods = () => useResource('pods', readPods, ['pod'])

export const useEndpoints = () => useResource('endpoints', () => pages(async cursor => {
  const page = await send('get', '/v2/serverless', { query: { ...(cursor ? { cursor } : {}) } })
  return { rows: page.endpoints, next: page.pagination.nextCursor }
}), ['endpoint'])

export const useHealth = (id: string) => useResource(`health ${id}`, () => send('get', '/v2/{endpointId}/health', { path: { endpointId: id } }), ['job', 'worker'], c => c.endpointId === id)

// readAtOnce is of how many endpoints a page reads what each one is asked for.
export const readAtOnce = 60

// useHealths reads the queues of endpoints; one that cannot be read is left out.
export const useHealths = (ids: string[] | undefined) => useResource(ids ? `healths ${ids.join()}` : null, async () => {
  const all = await Promise.all((ids ?? []).slice(0, readAtOnce).map(id => send('get', '/v2/{endpointId}/health', { path: { endpointId: id } }).then(h => [id, h] as const).catch(() => null)))
  return new Map(all.filter(one => one !== null))
}, ['job', 'worker', 'endpoint'])

export const useHosts = () => useResource('hosts', async () => (await send('get', '/_berth/hosts')).hosts, ['host', 'pod', 'worker'])
export const useGpus = () => useResource('gpus', async () => (await send('get', '/v2/catalog/gpus', { query: { include: ['AVAILABILITY'], product: ['POD'] } })).gpus, ['pod', 'host'])
export const useCpus = () => useResource('cpus', async () => (await send('get', '/v2/catalog/cpus', { query: { include: ['AVAILABILITY'], product: ['POD'] } })).cpus, ['pod', 'host'])
export const useDataCenters = () => useResource('datacenters', async () => (await send('get', '/v2/catalog/datacenters')).dataCenters)
export const useTemplates = () => useResource('templates', () => pages(async cursor => {
  const page = await send('get', '/v2/templates', { query: { ...(cursor ? { cursor } : {}) } })
  return { rows: page.templates, next: page.pagination.nextCursor }
}), ['template'])
export const useVolumes = () => useResource('volumes', () => pages(async cursor => {
  const page = await send('get', '/v2/network-volumes', { query: { ...(cursor ? { cursor } : {}) } })
  return { rows: page.networkVolumes, next: page.pagination.nextCursor }
}), ['volume'])
export const useGlobalVolumes = () => useResource('global volumes', () => pages(async cursor => {
  const page = await send('get', '/v2/global-volumes', { query: { ...(cursor ? { cursor } : {}) } })
  return { rows: page.globalVolumes, next: page.pagination.nextCursor }
}), ['volume'])
export const useSecrets = () => useResource('secrets', async () => (await send('get', '/v2/account/secrets')).secrets, ['secret'])
export const useRegistries = () => useResource('registries', async () => (await send('get', '/v2/registries')).registries, ['registry'])
export const useFaults = () => useResource(hasControls.value ? 'faults' : null, async () => (await send('get', '/_berth/faults')).faults, ['fault', 'journal'])

// registryChoices and the like are what the fields of a form offer.
export const registryChoices = (all: { id: string; name: string }[] | undefined): Choices | undefined => all?.map(r => ({ value: r.id, text: r.name }))
export const gpuChoices = (all: RestTypes['schemas']['GpuType'][] | undefined, cloud: string): Choices | undefined =>
  all?.filter(g => (cloud === 'COMMUNITY' ? g.community : g.secure)).map(g => ({ value: g.id, text: `${g.name}, ${g.memory} GB, ${usd(cloud === 'COMMUNITY' ? g.price.community : g.price.secure)}/h${g.availability === 'NONE' ? ', none free' : ''}` }))
export const cpuChoices = (all: RestTypes['schemas']['CpuType'][] | undefined): Choices | undefined => all?.map(c => ({ value: c.id, text: `${c.name} (${c.id}), ${c.ramGbPerVcpu} GB and ${usd(c.price.securePerVcpu)}/h a vCPU` }))
export const powers = (c: RestTypes['schemas']['CpuType'] | undefined): Choices => {
  const all: Choices = []
  for (let n = c?.vcpu.min ?? 2; n <= (c?.vcpu.max ?? 32); n *= 2) all.push({ value: n, text: `${n}${c ? `, ${n * c.ramGbPerVcpu} GB` : ''}` })
  return all
}
export const dataCenterChoices = (all: { id: string; name: string }[] | undefined): Choices | undefined => all?.map(d => ({ value: d.id, text: `${d.name} (${d.id})` }))
export const volumeChoices = (all: { id: string; name: string; dataCenter?: string; size?: number }[] | undefined): Choices | undefined => all?.map(v => ({ value: v.id, text: v.dataCenter ? `${v.name}, ${v.size} GB in ${v.dataCenter}` : v.name }))

export const server = () => location.origin

// quoted writes a text as one word of a shell: what somebody else wrote must not run where a line is pasted.
export const quoted = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`

// The curl line that does the same as a form: what a page shows that is empty.
export const curl = (method: string, path: string, body?: unknown): string =>
  `curl -s ${method === 'GET' ? '' : `-X ${method} `}${server()}${path} -H "Authorization: Bearer $BERTH_KEY"${body ? ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}` : ''}`
