import { useState } from 'preact/hooks'
import { send, type RestTypes } from '../api'
import { useResource } from '../data'
import { short } from '../format'
import { go, href } from '../router'
import { Card, Command, Empty, ID, LinkButton, Page, say, Shown, Time } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'
import { matches, Search, Table } from '../ui/table'
import { cpuChoices, curl, dataCenterChoices, powers, registryChoices, useCpus, useDataCenters, useEndpoints, useGlobalVolumes, useGpus, useHealths, useRegistries, useTemplates, useVolumes, volumeChoices, type Endpoint } from './shared'

type Body = RestTypes['schemas']['CreateEndpointRequest']

const example = { name: 'first', type: 'QUEUE', image: 'my/handler:1', cpu: [{ id: 'cpu3g', vcpuCount: 2 }], scaling: { type: 'QUEUE_DELAY', queueDelay: 4 } }

export const scaling = (e: Endpoint): string => (e.scaling.type === 'QUEUE_DELAY' ? `a wait of ${e.scaling.queueDelay} s` : `${e.scaling.requestCount} jobs a worker`)

export function Endpoints() {
  const endpoints = useEndpoints()
  const healths = useHealths(endpoints.data?.map(e => e.id))
  const [typed, setTyped] = useState('')
  const of = (e: Endpoint) => healths.data?.get(e.id)
  const jobsOf = (e: Endpoint, name: 'inQueue' | 'inProgress' | 'failed') => { const h = of(e); return h ? short(h.jobs[name]) : '–' }
  return (
    <Page title="Endpoints" actions={<LinkButton to={href('endpoints', 'new')} icon="plus" kind="main">Create an endpoint</LinkButton>}>
      <div class="bar"><Search value={typed} onInput={setTyped} label="Search endpoints" />{endpoints.data && <span class="faint num end">{endpoints.data.length} endpoints</span>}</div>
      <Card flush>
        <Shown of={endpoints}>
          {all => {
            const rows = all.filter(e => matches(typed, e.name, e.id, e.image))
            if (!all.length) return <Empty icon="endpoints" title="There is no endpoint yet" line={curl('POST', '/v2/serverless', example)}><p>An endpoint has a queue of jobs, and workers that are started when jobs wait.</p></Empty>
            if (!rows.length) return <Empty title="No endpoint is like that" />
            return (
              <Table label="Endpoints" rows={rows} id={e => e.id} to={e => href('endpoints', e.id)} columns={[
                { name: 'Name', width: 'minmax(120px, 1.5fr)', cell: e => e.name, by: e => e.name },
                { name: 'Waiting', width: '76px', right: true, cell: e => jobsOf(e, 'inQueue'), by: e => of(e)?.jobs.inQueue ?? 0 },
                { name: 'In progress', width: '84px', right: true, less: true, cell: e => jobsOf(e, 'inProgress'), by: e => of(e)?.jobs.inProgress ?? 0 },
                { name: 'Failed', width: '64px', right: true, less: true, cell: e => jobsOf(e, 'failed'), by: e => of(e)?.jobs.failed ?? 0 },
                { name: 'Workers', width: '84px', right: true, cell: e => { const w = of(e)?.workers; return w ? `${w.idle + w.running} of ${e.workers.max}` : `– of ${e.workers.max}` } },
                { name: 'Scales by', width: 'minmax(110px, 1fr)', less: true, cell: e => <span class="muted">{scaling(e)}</span> },
                { name: 'Image', width: 'minmax(100px, 1.2fr)', less: true, cell: e => <span class="muted">{e.image ?? 'of the settings'}</span> },
                { name: 'Created', width: '112px', right: true, less: true, cell: e => <Time at={e.createdAt} />, by: e => e.createdAt },
                { name: 'ID', width: '126px', less: true, cell: e => <ID of={e.id} /> },
              ]} />
            )
          }}
        </Shown>
      </Card>
    </Page>
  )
}

// useEndpointChoices gives what the forms of an endpoint offer.
export function useEndpointChoices() {
  const [cpus, gpus, centers, registries, volumes, globals, templates] = [useCpus(), useGpus(), useDataCenters(), useRegistries(), useVolumes(), useGlobalVolumes(), useTemplates()]
  const pools = [...new Set(gpus.data?.map(g => g.pool).filter(p => p !== null))]
  return {
    '/cpu/*/id': cpuChoices(cpus.data), '/cpu/*/vcpuCount': powers(undefined), '/gpu/pools': pools.length ? pools.map(p => ({ value: p, text: p })) : undefined, '/gpu/excludedTypes': gpus.data?.filter(g => g.pool).map(g => ({ value: g.id, text: g.name })),
    '/dataCenterIds': dataCenterChoices(centers.data), '/registry': registryChoices(registries.data), '/networkVolumes': volumes.data?.length ? volumeChoices(volumes.data) : undefined, '/mounts/network/*/volumeId': volumeChoices(volumes.data),
    '/mounts/global/*/volumeId': volumeChoices(globals.data), '/templateId': templates.data?.filter(t => t.serverless).map(t => ({ value: t.id, text: `${t.name}: ${t.image}` })),
  }
}

export const endpointLabels = { '/gpu': 'GPUs of a worker', '/cpu': 'vCPUs of a worker', '/disk': 'Disk (GB)', '/env': 'Environment', '/templateId': 'Template', '/workers': 'Number of workers', '/timeout': 'Timeout of a job (ms)', '/workers/idleTimeout': 'Idle timeout (s)', '/scaling/queueDelay': 'Queue delay (s)' }

export function NewEndpoint() {
  const [value, setValue] = useState<Record<string, unknown>>({ type: 'QUEUE', cpu: [{ id: 'cpu3g', vcpuCount: 2 }], workers: { min: 0, max: 3 }, scaling: { type: 'QUEUE_DELAY', queueDelay: 4 } })
  const choices = useEndpointChoices()
  const runtime = useResource('catalog of gpus', async () => (await send('get', '/v2/catalog/gpus')).gpus)
  const submit = async (sent: Record<string, unknown>) => {
    const made = await send('post', '/v2/serverless', { body: sent as unknown as Body })
    say(`The endpoint ${made.name} is created`)
    go(href('endpoints', made.id))
  }
  return (
    <Page title="Create an endpoint" from={{ to: href('endpoints'), title: 'Endpoints' }}>
      <div class="two">
        <Card>
          <Form schema={schemaOf('CreateEndpointRequest')} value={value} onChange={setValue} onSubmit={submit} onCancel={() => go(href('endpoints'))} submit="Create the endpoint" first={['name', 'type', 'image', 'cpu', 'gpu', 'workers', 'scaling', 'env']} choices={choices} labels={endpointLabels} />
        </Card>
        <div class="price">
          <Card title="How it works">
            <p class="muted">Jobs wait in the queue of the endpoint. When they wait too long, or when there are too many of them for each worker, one more worker is started, up to the most that you allow; a worker that has nothing to do ends after the idle timeout.</p>
            <p class="muted">{runtime.data ? 'A worker runs the image, which has to ask for jobs: any image built on the public worker SDK does.' : ''}</p>
          </Card>
          <Card title="The same from a shell"><Command line={curl('POST', '/v2/serverless', JSON.parse(JSON.stringify(value)))} /></Card>
        </div>
      </div>
    </Page>
  )
}
