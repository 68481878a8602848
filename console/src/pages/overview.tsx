import type { ComponentChildren } from 'preact'
import { send } from '../api'
import { useResource, useSamples } from '../data'
import { count, firstLine, short, usd } from '../format'
import { href } from '../router'
import { session } from '../session'
import { Card, Empty, ID, LinkButton, Page, Shown, Status, Time } from '../ui/bits'
import { Lines, Meter, Spark } from '../ui/chart'
import { Table } from '../ui/table'
import { curl, useEndpoints, useHealths, useHosts, usePods, type Host } from './shared'

export function Overview() {
  const pods = usePods()
  const endpoints = useEndpoints()
  const healths = useHealths(endpoints.data?.map(e => e.id))
  const failures = useResource('recent failures', () => send('get', '/_berth/jobs', { query: { status: 'FAILED', limit: 8 } }), ['job'])
  const history = useResource(session.value?.follows && session.value.may.hosts ? 'history' : null, async () => (await send('get', '/_berth/history')).samples, ['job', 'worker', 'pod'])

  const running = pods.data?.filter(p => p.status === 'RUNNING') ?? []
  const all = [...(healths.data?.values() ?? [])]
  const sum = (of: (h: (typeof all)[number]) => number) => all.reduce((a, h) => a + of(h), 0)
  const whole = endpoints.data?.length === all.length // else there are queues that could not be read
  const figures = pods.data && (healths.data || endpoints.data?.length === 0) && {
    pods: running.length, waiting: sum(h => h.jobs.inQueue), inProgress: sum(h => h.jobs.inProgress), workers: sum(h => h.workers.idle + h.workers.running), failed: sum(h => h.jobs.failed),
    cost: running.reduce((a, p) => a + p.cost, 0),
  }
  const samples = useSamples('overview', figures || undefined)
  const series = (name: 'pods' | 'waiting' | 'inProgress' | 'workers' | 'failed' | 'cost') => samples.map(s => s[name])
  const broken = pods.data?.filter(p => p.status === 'ERROR').length ?? 0
  const past = history.data?.length ? history.data.map(s => ({ ...s, at: Date.parse(s.at) })) : samples
  const nothing = pods.data?.length === 0 && endpoints.data?.length === 0

  return (
    <Page title="Overview" actions={<><LinkButton to={href('jobs', 'new')} icon="play">Run a job</LinkButton><LinkButton to={href('pods', 'new')} icon="plus" kind="main">Create a pod</LinkButton></>}>
      <div class="figures">
        <Figure to={href('pods')} name="Pods running" value={figures ? count(figures.pods) : '–'} note={pods.data ? `of ${count(pods.data.length)}${broken ? `, ${broken} with an error` : ''}` : ''}><Spark values={series('pods')} tone="good" /></Figure>
        <Figure to={`${href('jobs')}?status=IN_QUEUE`} name="Jobs waiting" value={figures && whole ? short(figures.waiting) : '–'} note={figures && whole ? `${short(figures.inProgress)} in progress` : ''}><Spark values={series('waiting')} tone="wait" /></Figure>
        <Figure to={href('workers')} name="Workers up" value={figures && whole ? count(figures.workers) : '–'} note={figures && whole ? `${sum(h => h.workers.initializing)} starting, ${sum(h => h.workers.unhealthy + h.workers.throttled)} held back` : ''}><Spark values={series('workers')} tone="busy" /></Figure>
        <Figure to={`${href('jobs')}?status=FAILED`} name="Jobs failed" value={figures && whole ? short(figures.failed) : '–'} note="since they are counted"><Spark values={series('failed')} tone="bad" /></Figure>
        <Figure to={href('billing')} name="Pods cost an hour" value={figures ? usd(figures.cost) : '–'} note="at the prices of the catalog"><Spark values={series('cost')} tone="accent" /></Figure>
      </div>
      {nothing && (
        <Card><Empty icon="pods" title="Nothing runs here yet" line={curl('POST', '/v2/pods', { name: 'first', image: 'ubuntu:24.04', cpu: { id: 'cpu3g', vcpuCount: 2 } })}>
          <p>A pod is a container that you keep; an endpoint runs jobs on workers that come and go.</p>
          <div class="actions"><LinkButton to={href('pods', 'new')} kind="main" icon="plus">Create a pod</LinkButton><LinkButton to={href('endpoints', 'new')} icon="plus">Create an endpoint</LinkButton></div>
        </Empty></Card>
      )}
      <div class="grid side">
        <div class="stack">
          <Card title="Over time">
            <div class="stack">
              <Lines label="Jobs" at={past.map(s => s.at)} steps series={[{ name: 'Waiting', tone: 'wait', values: past.map(s => s.waiting) }, { name: 'In progress', tone: 'busy', values: past.map(s => s.inProgress) }]} />
              <Lines label="Pods and workers" at={past.map(s => s.at)} steps height={90} series={[{ name: 'Pods', tone: 'good', values: past.map(s => s.pods) }, { name: 'Workers', tone: 'accent', values: past.map(s => s.workers) }]} />
            </div>
          </Card>
          <Card title="Failed jobs" flush actions={<a href={`${href('jobs')}?status=FAILED`}>All</a>}>
            <Shown of={failures} rows={3}>
              {page => page.jobs.length === 0 ? <Empty title="No job has failed" /> : <Table label="Failed jobs" rows={page.jobs} id={j => j.id} to={j => href('jobs', j.id)} columns={[
                { name: 'Job', width: 'minmax(110px, 1fr)', cell: j => <ID of={j.id} /> }, { name: 'Error', width: '2fr', cell: j => firstLine(j.error) }, { name: 'Ended', width: '110px', less: true, cell: j => <Time at={j.finishedAt ?? j.submittedAt} /> },
              ]} />}
            </Shown>
          </Card>
        </div>
        <div class="stack">
          <Card title="Endpoints" flush actions={<a href={href('endpoints')}>All</a>}>
            <Shown of={endpoints} rows={3}>
              {list => list.length === 0 ? <Empty title="There is no endpoint" /> : <Table label="Endpoints" rows={list.slice(0, 8)} id={e => e.id} to={e => href('endpoints', e.id)} columns={[
                { name: 'Name', width: 'minmax(90px, 1fr)', cell: e => e.name }, { name: 'Waiting', width: '60px', right: true, cell: e => { const h = healths.data?.get(e.id); return h ? short(h.jobs.inQueue) : '–' } },
                { name: 'Workers', width: '60px', right: true, cell: e => { const w = healths.data?.get(e.id)?.workers; return w ? `${w.idle + w.running}/${e.workers.max}` : '–' } },
              ]} />}
            </Shown>
          </Card>
          <Fleet />
        </div>
      </div>
    </Page>
  )
}

function Figure({ to, name, value, note, children }: { to: string; name: string; value: string; note: string; children: ComponentChildren }) {
  return <a href={to}><span class="name">{name}</span><div class="value num">{value}</div><span class="below">{note}</span>{children}</a>
}

// Fleet shows how much of the hosts is held: a square for each host, fuller the more of it is.
function Fleet() {
  const hosts = useHosts()
  return (
    <Card title="Fleet" actions={<a href={href('hosts')}>Hosts</a>}>
      <Shown of={hosts} rows={3}>
        {all => {
          const total = (of: (h: Host) => number) => all.reduce((a, h) => a + Math.max(0, of(h)), 0)
          const used = (c: string) => all.some(h => h.dataCenterId === c && held(h) > 0)
          const centers = [...new Set(all.map(h => h.dataCenterId))].sort((a, b) => Number(used(b)) - Number(used(a)) || (a < b ? -1 : 1))
          return all.length === 0 ? <Empty title="There is no host" line={`echo '{"id":"box-7","dataCenterId":"EU-RO-1","cpus":["cpu3g"],"vcpus":16,"memoryGb":64,"diskGb":500}' | berth hosts add --file -`} /> : (
            <div class="stack">
              <div>
                <Meter label="GPUs held" used={total(h => h.gpuCount - h.free.gpus)} of={total(h => h.gpuCount)} />
                <Meter label="vCPUs held" used={total(h => h.vcpus - h.free.vcpus)} of={total(h => h.vcpus)} />
              </div>
              <div class="fleet" role="img" aria-label={`${all.length} hosts in ${centers.length} data centers`}>
                {centers.slice(0, 12).map(c => {
                  const of = all.filter(h => h.dataCenterId === c)
                  return <div key={c}><h3>{c}</h3><div class="cells">{of.slice(0, 60).map(h => <i key={h.id} class={h.away ? 'away' : ''} style={{ '--share': String(held(h)) }} title={`${h.id}: ${held(h)} % held`} />)}</div></div>
                })}
              </div>
              {centers.length > 12 && <p class="faint">and {centers.length - 12} more data centers</p>}
              {all.some(h => h.away) && <Status of="ERROR">{all.filter(h => h.away).length} hosts are away</Status>}
            </div>
          )
        }}
      </Shown>
    </Card>
  )
}

// held gives how many percent of the scarcest thing of a host is held; what is held at all shows.
function held(h: Host): number {
  const share = Math.max(h.gpuCount ? (h.gpuCount - h.free.gpus) / h.gpuCount : 0, h.vcpus ? (h.vcpus - h.free.vcpus) / h.vcpus : 0)
  return share > 0 ? Math.max(12, Math.round(share * 100)) : 0
}
