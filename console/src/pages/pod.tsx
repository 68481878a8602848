import { useState } from 'preact/hooks'
import { send } from '../api'
import { now, useResource, useSamples } from '../data'
import { span, usd } from '../format'
import { ask, go, href, search } from '../router'
import { session } from '../session'
import { Button, Card, Copy, Dialog, Empty, Facts, ID, Page, say, Shown, Status, sure, Tabs, Time } from '../ui/bits'
import { Lines } from '../ui/chart'
import { emptied, Form, schemaOf } from '../ui/form'
import { Logs } from '../ui/logs'
import { Shell } from '../ui/shell'
import { machine } from './pods'
import { registryChoices, useRegistries, useVolumes, volumeChoices, type Pod } from './shared'
import { Why } from './why'

type Action = Pod['actions'][number]
const icons: Record<Action, string> = { start: 'play', stop: 'stop', restart: 'restart', terminate: 'trash' }
const titles: Record<Action, string> = { start: 'Start', stop: 'Stop', restart: 'Restart', terminate: 'Terminate' }

export function PodPage({ id }: { id: string }) {
  const pod = useResource(`pod ${id}`, () => send('get', '/v2/pods/{id}', { path: { id } }), ['pod'], c => c.id === id)
  const [editing, setEditing] = useState(false)
  const tab = search.value.get('tab') ?? 'logs'
  const p = pod.data
  const act = async (action: Action) => {
    if (action === 'terminate' && !(await sure(`Terminate ${p!.name}?`, 'Its container and its disk are gone for good. Network volumes stay.', 'Terminate'))) return
    await send('post', '/v2/pods/{id}/action', { path: { id }, body: { action } })
    say(`${titles[action]}: done`)
    if (action === 'terminate') go(href('pods'))
    else pod.reload()
  }
  return (
    <Page title={p?.name ?? id} from={{ to: href('pods'), title: 'Pods' }} status={p && <Status of={p.status} />} actions={p && <>
      {p.actions.filter(a => a !== 'terminate').map(a => <Button key={a} icon={icons[a]} onClick={() => act(a)}>{titles[a]}</Button>)}
      <Button icon="edit" onClick={() => setEditing(true)}>Edit</Button>
      {p.actions.includes('terminate') && <Button icon="trash" kind="danger" onClick={() => act('terminate')}>Terminate</Button>}
    </>}>
      <Shown of={pod}>
        {p => <>
          {p.status !== 'RUNNING' && <Why address={`/_berth/pods/${id}/why`} name={`pod ${id}`} kinds={['pod']} />}
          <div class="grid side">
            <Card title="Pod"><Facts of={[
              ['ID', <><ID of={p.id} /> <Copy text={p.id} /></>], ['Machine', machine(p)], ['Image', <code>{p.image}</code>], ['Arguments', p.args && <code>{p.args}</code>], ['Data center', p.dataCenterId], ['Cloud', p.cloud],
              ['Cost an hour', usd(p.cost)], ['Disk', `${p.disk} GB`], ['Created', <Time at={p.createdAt} />], ['Started', p.startedAt && <Time at={p.startedAt} />], ['Up for', p.runtime?.uptime !== undefined && span(p.runtime.uptime * 1000)],
              ['Template', p.template && <ID of={p.template} />], ['Locked', p.locked ? 'Yes' : ''], ['Global address', p.globalNetworking.ip],
              ['Mounts', [p.mounts.persistent && `${p.mounts.persistent.size} GB at ${p.mounts.persistent.path}`, ...(p.mounts.network ?? []).map(m => `${m.volumeId} at ${m.path}`)].filter(Boolean).join(', ')],
              ['Environment', Object.keys(p.env).length > 0 && <span class="tags">{Object.keys(p.env).map(n => <span class="tag" key={n}>{n}</span>)}</span>],
            ]} /></Card>
            <Card title="Ports"><Ports pod={p} /></Card>
          </div>
          <Metrics pod={p} />
          <div class="stack">
            <Tabs label="About the pod" at={tab} onPick={t => ask({ tab: t })} of={[['logs', 'Logs'], ['shell', 'Shell'], ['why', 'Why'], ['env', 'Environment']]} />
            <div role="tabpanel" aria-label={tab}>
              {tab === 'logs' && <Logs address={`/v2/pods/${id}/logs?tail=1000`} label={`Log of ${p.name}`} />}
              {tab === 'shell' && (p.status === 'RUNNING' ? <Shell pod={id} /> : <Card><Empty icon="terminal" title="A shell needs a pod that runs" /></Card>)}
              {tab === 'why' && <Why address={`/_berth/pods/${id}/why`} name={`pod ${id}`} kinds={['pod']} />}
              {tab === 'env' && <Card>{Object.keys(p.env).length ? <table class="plain"><thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead><tbody>{Object.entries(p.env).map(([n, v]) => <tr key={n}><td><code>{n}</code></td><td><code>{v}</code></td></tr>)}</tbody></table> : <Empty title="The environment is empty" />}</Card>}
            </div>
          </div>
          {editing && <Edit pod={p} onClose={() => { setEditing(false); pod.reload() }} />}
        </>}
      </Shown>
    </Page>
  )
}

// link gives the address at which an http port of the pod is reached, as the server says.
function link(pod: Pod, port: string): string | null {
  const at = session.value?.podAddress
  if (!at || !port.endsWith('/http')) return null
  return new URL(at.replace('{podId}', pod.id).replace('{port}', port.split('/')[0]!)).href
}

function Ports({ pod }: { pod: Pod }) {
  if (!pod.ports.length) return <Empty title="It exposes no port" />
  return (
    <table class="plain"><thead><tr><th scope="col">Port</th><th scope="col">Address</th></tr></thead><tbody>
      {pod.ports.map(port => {
        const url = link(pod, port)
        const mapped = pod.runtime?.ports?.find(r => `${r.private}/${r.type}` === port)
        return <tr key={port}><td><code>{port}</code></td><td>{url ? <a href={url} target="_blank" rel="noreferrer">{new URL(url).host}</a> : mapped?.public ? <><code>{`${mapped.ip ?? location.hostname}:${mapped.public}`}</code> <Copy text={`${mapped.ip ?? location.hostname}:${mapped.public}`} /></> : <span class="faint">once it runs</span>}</td></tr>
      })}
    </tbody></table>
  )
}

function Metrics({ pod }: { pod: Pod }) {
  const history = useResource(session.value?.follows ? `pod history ${pod.id}` : null, async () => (await send('get', '/_berth/pods/{podId}/history', { path: { podId: pod.id } })).samples, ['pod'], c => c.id === pod.id)
  const r = pod.runtime
  const here = useSamples(`pod ${pod.id}`, r ? { cpu: r.cpu?.util ?? 0, memory: r.memory?.util ?? 0, gpu: r.gpus?.[0]?.util ?? 0 } : undefined)
  const past = history.data?.length ? history.data.map(s => ({ at: Date.parse(s.at), cpu: s.cpuPercent ?? 0, memory: s.memoryPercent ?? 0, gpu: s.gpus?.[0]?.percent ?? 0 })) : here
  if (!past.length) return null
  return (
    <Card title="Use">
      <Lines label="Percent" at={past.map(s => s.at)} until={now()} most={100} height={90} write={n => `${Math.round(n)} %`} series={[
        { name: 'CPU', tone: 'busy', values: past.map(s => s.cpu) }, { name: 'Memory', tone: 'accent', values: past.map(s => s.memory) }, ...(pod.gpu ? [{ name: 'GPU', tone: 'good', values: past.map(s => s.gpu) }] : []),
      ]} />
    </Card>
  )
}

function Edit({ pod, onClose }: { pod: Pod; onClose: () => void }) {
  // As the form was opened: what others change meanwhile is not changed back.
  const [before] = useState<Record<string, unknown>>({ name: pod.name, image: pod.image, args: pod.args, disk: pod.disk, ports: pod.ports, env: pod.env, locked: pod.locked, registry: pod.registry ?? undefined })
  const [value, setValue] = useState(before)
  const [registries, volumes] = [useRegistries(), useVolumes()]
  const submit = async (sent: Record<string, unknown>) => {
    const changed = { ...Object.fromEntries(Object.entries(sent).filter(([n, v]) => JSON.stringify(v) !== JSON.stringify(before[n]))), ...emptied(before, sent) }
    if (Object.keys(changed).length) await send('patch', '/v2/pods/{id}', { path: { id: pod.id }, body: changed })
    say('Saved')
    onClose()
  }
  return (
    <Dialog title={`Edit ${pod.name}`} onClose={onClose} wide>
      <p class="note">What changes the container starts it anew, and wipes its disk.</p>
      <Form schema={schemaOf('UpdatePodRequest')} value={value} onChange={setValue} onSubmit={submit} onCancel={onClose} submit="Save" first={['name', 'image', 'args', 'disk', 'ports', 'env', 'locked']}
        choices={{ '/registry': registryChoices(registries.data), '/mounts/network/*/volumeId': volumeChoices(volumes.data) }} labels={{ '/disk': 'Disk (GB)', '/env': 'Environment' }} />
    </Dialog>
  )
}
