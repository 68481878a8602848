import { useState } from 'preact/hooks'
import { send } from '../api'
import { useResource } from '../data'
import { span } from '../format'
import { href } from '../router'
import { Card, Choice, Empty, Facts, ID, Page, Shown, Status, Text, Time } from '../ui/bits'
import { Logs } from '../ui/logs'
import { matches, Search, Table } from '../ui/table'
import { readAtOnce, useEndpoints, type Endpoint, type Worker } from './shared'

const readWorkers = (id: string) => send('get', '/v2/serverless/{id}/workers', { path: { id } })
export const useWorkers = (id: string) => useResource(`workers ${id}`, () => readWorkers(id), ['worker', 'job', 'endpoint'], c => c.endpointId === id || c.id === id)

export function WorkerTable({ endpoint: e }: { endpoint: Endpoint }) {
  const workers = useWorkers(e.id)
  return (
    <>
      <Card title="Workers" flush>
        <Shown of={workers}>
          {w => w.workers.length === 0 ? <Empty icon="workers" title="No worker is up"><p>One is started when jobs wait{e.workers.min ? '' : '; the least number of workers is 0'}.</p></Empty> : <Rows rows={w.workers.map(one => ({ ...one, endpoint: e }))} />}
        </Shown>
      </Card>
      {(workers.data?.ended?.length ?? 0) > 0 && (
        <Card title="Ended" flush>
          <Table label="Ended workers" rows={workers.data!.ended!} id={w => w.id} to={w => href('workers', e.id, w.id)} columns={[
            { name: 'Worker', width: 'minmax(110px, 1fr)', cell: w => <ID of={w.id} /> }, { name: 'Ended', width: '116px', right: true, cell: w => <Time at={w.endedAt} /> }, { name: 'Exit code', width: '70px', right: true, less: true, cell: w => w.exitCode ?? '–' },
            { name: 'Reason', width: '2.5fr', less: true, cell: w => w.reason.split('\n')[0] },
          ]} />
        </Card>
      )}
    </>
  )
}

function Rows({ rows, named }: { rows: (Worker & { endpoint: Endpoint })[]; named?: boolean }) {
  return (
    <Table label="Workers" rows={rows} id={w => w.id} to={w => href('workers', w.endpoint.id, w.id)} columns={[
      { name: 'Worker', width: 'minmax(110px, 1fr)', cell: w => <ID of={w.id} /> },
      { name: 'Status', width: '120px', cell: w => <Status of={w.status} />, by: w => w.status },
      ...(named ? [{ name: 'Endpoint', width: 'minmax(80px, 1fr)', less: true, cell: (w: Worker & { endpoint: Endpoint }) => w.endpoint.name }] : []),
      { name: 'Release', width: '72px', right: true, less: true, cell: w => (w.version === null || w.version === undefined ? '–' : `${w.version}${w.isStale ? ' (old)' : ''}`) },
      { name: 'Up for', width: '90px', right: true, cell: w => (w.uptimeSeconds === null || w.uptimeSeconds === undefined ? '–' : span(w.uptimeSeconds * 1000)), by: w => w.uptimeSeconds ?? 0 },
      { name: 'Where', width: '96px', less: true, cell: w => w.dataCenterId ?? '–' },
      { name: 'Reason', width: 'minmax(120px, 2fr)', less: true, cell: w => <span class="muted">{w.reason ?? ''}</span> },
    ]} />
  )
}

export function Workers() {
  const endpoints = useEndpoints()
  const [typed, setTyped] = useState('')
  const [status, setStatus] = useState('')
  const ids = endpoints.data?.map(e => e.id)
  const workers = useResource(ids ? `all workers ${ids.join()}` : null, async () => {
    const lists = await Promise.all(endpoints.data!.slice(0, readAtOnce).map(async e => (await readWorkers(e.id)).workers.map(w => ({ ...w, endpoint: e }))))
    return lists.flat()
  }, ['worker', 'endpoint'])
  return (
    <Page title="Workers">
      <div class="bar"><Search value={typed} onInput={setTyped} label="Search workers" /><Choice label="Status" at={status} onPick={setStatus} of={[['', 'All'], ['RUNNING', 'Running'], ['IDLE', 'Idle'], ['INITIALIZING', 'Initializing'], ['THROTTLED', 'Throttled'], ['UNHEALTHY', 'Unhealthy']]} /></div>
      {(ids?.length ?? 0) > readAtOnce && <p class="note">These are the workers of the {readAtOnce} endpoints that were created last, of {ids!.length}. Those of another one are on its page.</p>}
      <Card flush>
        <Shown of={endpoints.error ? endpoints as never : workers}>
          {(all: (Worker & { endpoint: Endpoint })[]) => {
            const rows = all.filter(w => (!status || w.status === status) && matches(typed, w.id, w.endpoint.name, w.reason))
            return all.length === 0 ? <Empty icon="workers" title="No worker is up" line={"berth jobs run ENDPOINT --input '{\"hello\":\"world\"}'"}><p>Workers are started when jobs wait, and end when they have nothing to do.</p></Empty> : rows.length === 0 ? <Empty title="No worker is like that" /> : <Rows rows={rows} named />
          }}
        </Shown>
      </Card>
    </Page>
  )
}

export function WorkerPage({ endpoint, id }: { endpoint: string; id: string }) {
  const workers = useWorkers(endpoint)
  const w = workers.data?.workers.find(one => one.id === id)
  const ended = workers.data?.ended?.find(one => one.id === id)
  return (
    <Page title={<code>{id}</code>} name={`Worker ${id}`} from={{ to: `${href('endpoints', endpoint)}?tab=workers`, title: 'Workers' }} status={w ? <Status of={w.status} /> : ended ? <Status of="ended">Ended</Status> : null}>
      <Shown of={workers}>
        {() => <>
          <Card title="Worker">
            <Facts of={w ? [['Endpoint', <a href={href('endpoints', endpoint)}>{endpoint}</a>], ['Image', w.image && <code>{w.image}</code>], ['Release', w.version], ['Up for', typeof w.uptimeSeconds === 'number' && span(w.uptimeSeconds * 1000)], ['GPUs', w.gpuCount ? `${w.gpuCount} ${w.gpuTypeId ?? ''}` : ''], ['Data center', w.dataCenterId], ['Reason', w.reason]]
              : ended ? [['Endpoint', <a href={href('endpoints', endpoint)}>{endpoint}</a>], ['Release', ended.version], ['Started', ended.startedAt && <Time at={ended.startedAt} />], ['Ended', <Time at={ended.endedAt} />], ['Exit code', ended.exitCode]]
              : [['Endpoint', <a href={href('endpoints', endpoint)}>{endpoint}</a>], ['Known', 'No longer']]} />
            {ended && <Text label="Reason">{ended.reason}</Text>}
          </Card>
          <Logs address={`/v2/serverless/${encodeURIComponent(endpoint)}/workers/${encodeURIComponent(id)}/logs?tail=1000`} label={`Log of ${id}`} ended={!!ended} />
        </>}
      </Shown>
    </Page>
  )
}
