import { useState } from 'preact/hooks'
import { fill, open, send, type ControlsTypes } from '../api'
import { now, useResource, useSamples } from '../data'
import { count, span } from '../format'
import { ask, go, href, search } from '../router'
import { hasControls, session } from '../session'
import { Button, Card, Command, Copy, Empty, Facts, ID, LinkButton, Page, say, Shown, Status, sure, Tabs, Time } from '../ui/bits'
import { Lines } from '../ui/chart'
import { emptied, Form, schemaOf } from '../ui/form'
import { JobTable } from './jobs'
import { endpointLabels, scaling, useEndpointChoices } from './endpoints'
import { curl, quoted, useHealth, type Endpoint } from './shared'
import { Why } from './why'
import { WorkerTable } from './workers'

export function EndpointPage({ id }: { id: string }) {
  const endpoint = useResource(`endpoint ${id}`, () => send('get', '/v2/serverless/{id}', { path: { id } }), ['endpoint'], c => c.id === id)
  const tab = search.value.get('tab') ?? 'overview'
  const e = endpoint.data
  const remove = async () => {
    if (!(await sure(`Delete ${e!.name}?`, 'Its jobs and their results are gone, and its workers end.', 'Delete'))) return
    await send('delete', '/v2/serverless/{id}', { path: { id } })
    say('Deleted')
    go(href('endpoints'))
  }
  const purge = async () => {
    if (!(await sure('Purge the queue?', 'Every job that waits is removed. Those in progress go on.', 'Purge'))) return
    const { removed } = (await send('post', '/v2/{endpointId}/purge-queue', { path: { endpointId: id } })) as { removed: number }
    say(`${count(removed)} jobs were removed`)
  }
  return (
    <Page title={e?.name ?? id} from={{ to: href('endpoints'), title: 'Endpoints' }} actions={e && <>
      <LinkButton to={`${href('jobs', 'new')}?endpoint=${id}`} icon="play" kind="main">Run a job</LinkButton>
      <Button onClick={purge}>Purge the queue</Button>
      <Button icon="trash" kind="danger" onClick={remove}>Delete</Button>
    </>}>
      <Shown of={endpoint}>
        {e => <>
          <Tabs label="About the endpoint" at={tab} onPick={t => ask({ tab: t })} of={[['overview', 'Overview'], ['jobs', 'Jobs'], ['workers', 'Workers'], ['releases', 'Releases'], ['settings', 'Settings'], ...(hasControls.value ? [['script', 'Script'] as [string, string]] : [])]} />
          <div role="tabpanel" aria-label={tab} class="stack">
            {tab === 'overview' && <About endpoint={e} />}
            {tab === 'jobs' && <Card flush><JobTable endpointId={id} /></Card>}
            {tab === 'workers' && <WorkerTable endpoint={e} />}
            {tab === 'releases' && <Releases id={id} />}
            {tab === 'settings' && <Settings endpoint={e} onSaved={endpoint.reload} />}
            {tab === 'script' && <Script id={id} />}
          </div>
        </>}
      </Shown>
    </Page>
  )
}

function About({ endpoint: e }: { endpoint: Endpoint }) {
  const health = useHealth(e.id)
  const h = health.data
  const history = useResource(session.value?.follows ? `endpoint history ${e.id}` : null, async () => (await send('get', '/_berth/endpoints/{endpointId}/history', { path: { endpointId: e.id } })).samples, ['job', 'worker'], c => c.endpointId === e.id)
  const here = useSamples(`endpoint ${e.id}`, h && { waiting: h.jobs.inQueue, inProgress: h.jobs.inProgress, idle: h.workers.idle, running: h.workers.running, initializing: h.workers.initializing, failed: h.jobs.failed, completed: h.jobs.completed })
  const past = history.data?.length ? history.data.map(s => ({ ...s, at: Date.parse(s.at) })) : here
  const at = past.map(s => s.at)
  return (
    <>
      <Shown of={health} rows={2}>
        {h => (
          <div class="figures">
            <div><span class="name">Waiting</span><div class="value num">{count(h.jobs.inQueue)}</div></div>
            <div><span class="name">In progress</span><div class="value num">{count(h.jobs.inProgress)}</div></div>
            <div><span class="name">Completed</span><div class="value num">{count(h.jobs.completed)}</div><span class="below">{count(h.jobs.retried)} retried</span></div>
            <div><span class="name">Failed</span><div class="value num">{count(h.jobs.failed)}</div></div>
            <div><span class="name">Workers up</span><div class="value num">{h.workers.idle + h.workers.running}</div><span class="below">{e.workers.min} to {e.workers.max}{h.workers.initializing ? `, ${h.workers.initializing} starting` : ''}</span></div>
          </div>
        )}
      </Shown>
      <div class="grid">
        <Card><Lines label="Queue" steps at={at} until={now()} series={[{ name: 'Waiting', tone: 'wait', values: past.map(s => s.waiting) }, { name: 'In progress', tone: 'busy', values: past.map(s => s.inProgress) }]} /></Card>
        <Card><Lines label="Workers" steps at={at} until={now()} series={[{ name: 'Running', tone: 'good', values: past.map(s => s.running) }, { name: 'Idle', tone: 'quiet', values: past.map(s => s.idle) }, { name: 'Starting', tone: 'busy', values: past.map(s => s.initializing) }]} /></Card>
      </div>
      <Why address={`/_berth/endpoints/${e.id}/why`} name={`endpoint ${e.id}`} kinds={['job', 'worker', 'endpoint']} />
      <div class="grid">
        <Card title="Endpoint"><Facts of={[
          ['ID', <><ID of={e.id} /> <Copy text={e.id} /></>], ['Image', e.image ? <code>{e.image}</code> : 'a command of the server’s settings'], ['Workers', `${e.workers.min} to ${e.workers.max}`], ['Scales by', scaling(e)],
          ['Idle timeout', e.workers.idleTimeout && `${e.workers.idleTimeout} s`], ['Timeout of a job', e.timeout ? span(e.timeout) : 'none'], ['GPUs', e.gpu && `${e.gpu.count} of ${e.gpu.pools.join(', ')}`], ['vCPUs', e.cpu?.map(c => `${c.vcpuCount} ${c.id}`).join(' or ')],
          ['Data centers', e.dataCenterIds.join(', ') || 'any'], ['Type', e.type], ['Created', <Time at={e.createdAt} />],
        ]} /></Card>
        <Card title="Addresses"><div class="stack"><Command line={curl('POST', `/v2/${e.id}/runsync`, { input: { hello: e.name } })} /><Command line={`berth jobs run ${quoted(e.name)} --input ${quoted(JSON.stringify({ hello: e.name }))} --wait`} /></div></Card>
      </div>
    </>
  )
}

function Releases({ id }: { id: string }) {
  const releases = useResource(`releases ${id}`, () => send('get', '/v2/serverless/{id}/releases', { path: { id } }), ['endpoint', 'worker'])
  return (
    <Card title="Releases">
      <Shown of={releases}>
        {r => (
          <div class="stack">
            <p>{r.rollout.inProgress ? <Status of="IN_PROGRESS">{r.rollout.workersOnLatest} of {r.rollout.workersTotal} workers are made of release {r.endpointVersion}, {r.rollout.percentOnLatest} %</Status> : <Status of="COMPLETED">Every worker is made of release {r.endpointVersion ?? '–'}</Status>}</p>
            {r.releases.length === 0 ? <Empty title="There is no release yet" /> : (
              <ol class="timeline" aria-label="Releases">
                {r.releases.map((one, i) => (
                  <li key={one.id} class={i === 0 ? 'good' : ''}>
                    <span><span class="strong">Release {one.version ?? '–'}</span>, {one.workerCount} workers{one.source === 'GIT_BUILD' ? ', of a build' : ''}</span><Time at={one.createdAt} />
                    <div class="faint diff">{one.diff.length === 0 ? 'As it was created' : one.diff.map(d => <div key={d.field}><code>{d.field}</code>: <del>{JSON.stringify(d.old)}</del> → <ins>{JSON.stringify(d.new)}</ins></div>)}</div>
                  </li>
                ))}
              </ol>
            )}
          </div>
        )}
      </Shown>
    </Card>
  )
}

function Settings({ endpoint: e, onSaved }: { endpoint: Endpoint; onSaved: () => void }) {
  const [before, setBefore] = useState<Record<string, unknown>>({ // as the form was opened: what others change meanwhile is not changed back
    name: e.name, image: e.image, env: e.env, disk: e.disk, args: e.args, ports: e.ports?.length ? e.ports : undefined, workers: e.workers, scaling: e.scaling, timeout: e.timeout, flashboot: e.flashboot, dataCenterIds: e.dataCenterIds.length ? e.dataCenterIds : undefined,
    cpu: e.cpu?.map(c => ({ id: c.id, vcpuCount: c.vcpuCount })), registry: e.registry ?? undefined,
  })
  const [value, setValue] = useState(before)
  const choices = useEndpointChoices()
  const submit = async (sent: Record<string, unknown>) => {
    const changed = { ...Object.fromEntries(Object.entries(sent).filter(([n, v]) => JSON.stringify(v) !== JSON.stringify(before[n]))), ...emptied(before, sent) }
    if (!Object.keys(changed).length) return say('Nothing was changed')
    await send('patch', '/v2/serverless/{id}', { path: { id: e.id }, body: changed })
    setBefore(value)
    say('Saved: a new release where workers have to change')
    onSaved()
  }
  return <Card><Form schema={schemaOf('UpdateEndpointRequest')} value={value} onChange={setValue} onSubmit={submit} submit="Save" first={['name', 'workers', 'scaling', 'image', 'env', 'timeout']} choices={choices} labels={endpointLabels} hidden={['/templateId']} /></Card>
}

const sample = { answers: [{ match: [{ pointer: '/prompt', equals: 'bad' }], error: 'no picture of {{/prompt}}' }, { delay: { fixed: 500 }, output: { text: '{{/prompt}}', worker: '{{worker.id}}' } }] }

function Script({ id }: { id: string }) {
  const script = useResource(`script ${id}`, () => send('get', '/_berth/endpoints/{endpointId}/script', { path: { endpointId: id } }).catch(error => { if ((error as { status?: number }).status === 404) return null; throw error }), ['job'])
  const [text, setText] = useState<string | null>(null)
  const save = async () => {
    await open('put', fill('/_berth/endpoints/{endpointId}/script', { endpointId: id }), { body: JSON.parse(text!) as ControlsTypes['schemas']['Script'] })
    say('The workers go by the script')
    setText(null)
    script.reload()
  }
  const remove = async () => {
    await send('delete', '/_berth/endpoints/{endpointId}/script', { path: { endpointId: id } })
    setText(null)
    script.reload()
  }
  return (
    <Card title="What its workers do that have no handler" actions={script.data && <span class="faint">{count(script.data.jobs)} jobs by it, answers used {script.data.used.join(', ')} times</span>}>
      <Shown of={script} rows={3}>
        {s => (
          <div class="stack">
            <div class="field"><label for="script">Script</label><textarea id="script" class="code" rows={18} spellcheck={false} value={text ?? JSON.stringify(s?.script ?? sample, null, 2)} onInput={e => setText(e.currentTarget.value)} /><p class="says">{s ? 'Of its answers the first one is played that a job matches.' : 'There is none: this is an example. Its answers are tried from the top.'}</p></div>
            <div class="actions"><Button kind="main" onClick={() => { if (text === null) setText(JSON.stringify(s?.script ?? sample, null, 2)); return text === null ? open('put', fill('/_berth/endpoints/{endpointId}/script', { endpointId: id }), { body: s?.script ?? sample }).then(() => { say('The workers go by the script'); setText(null); script.reload() }) : save() }}>Set the script</Button>{s && <Button kind="danger" onClick={remove}>Take it back</Button>}</div>
          </div>
        )}
      </Shown>
    </Card>
  )
}
