import { useEffect, useRef, useState } from 'preact/hooks'
import { send } from '../api'
import { useResource } from '../data'
import { bytes, pretty, span } from '../format'
import { go, href } from '../router'
import { Button, Card, Copy, Empty, Facts, ID, Page, say, Shown, Status, Text, Time } from '../ui/bits'
import type { ControlsTypes } from '../api'
import { Why } from './why'

type Detail = ControlsTypes['schemas']['JobDetail']
type Chunk = { output: unknown }

export function JobPage({ id }: { id: string }) {
  const job = useResource(`job ${id}`, () => send('get', '/_berth/jobs/{jobId}', { path: { jobId: id } }), ['job'], c => c.id === id)
  const j = job.data
  const waits = j && (j.status === 'IN_QUEUE' || j.status === 'IN_PROGRESS')
  const path = { endpointId: j?.endpointId ?? '', jobId: id }
  const cancel = async () => {
    await send('post', '/v2/{endpointId}/cancel/{jobId}', { path })
    say('Cancelled')
    job.reload()
  }
  const retry = async () => {
    await send('post', '/v2/{endpointId}/retry/{jobId}', { path })
    say('It waits again')
    job.reload()
  }
  return (
    <Page title={<code>{id}</code>} name={`Job ${id}`} from={{ to: href('jobs'), title: 'Jobs' }} status={j && <Status of={j.status} />} actions={j && <>
      {waits && <Button icon="close" onClick={cancel}>Cancel</Button>}
      {(j.status === 'FAILED' || j.status === 'TIMED_OUT') && <Button icon="restart" onClick={retry}>Retry</Button>}
      <Button icon="play" onClick={() => go(`${href('jobs', 'new')}?endpoint=${j.endpointId}&like=${encodeURIComponent(id)}`)}>Run again</Button>
    </>}>
      <Shown of={job}>
        {j => (
          <div class="grid side">
            <div class="stack">
              {waits && <Why address={`/_berth/jobs/${encodeURIComponent(id)}/why`} name={`job ${id}`} kinds={['job', 'worker']} />}
              {j.error && <Card title="Error"><Text label="Error">{traceback(j.error)}</Text></Card>}
              {j.output.length > 0 && <Card title={waits ? 'Progress' : 'Output'} actions={<Size of={j.output} />}><Text label="Output">{pretty(j.output.text)}</Text></Card>}
              <Card title="Input" actions={<Size of={j.input} />}><Text label="Input">{pretty(j.input.text)}</Text></Card>
              <Chunks job={j} />
            </div>
            <div class="stack">
              <Card title="Timeline"><Timeline job={j} /></Card>
              <Card title="Job"><Facts of={[
                ['Endpoint', <a href={href('endpoints', j.endpointId)}>{j.endpointId}</a>], ['Worker', j.workerId && <a href={href('workers', j.endpointId, j.workerId)}><ID of={j.workerId} /></a>], ['Attempts', j.attempts], ['Lost by a worker', j.retries ? `${j.retries} times` : ''],
                ['Waited', j.delayTime !== undefined && span(j.delayTime)], ['Ran', j.executionTime !== undefined && span(j.executionTime)], ['May run', span(j.executionTimeout)], ['Time to live', span(j.ttl)],
                ['Submitted by', j.sync ? 'runsync' : 'run'], ['Priority', j.lowPriority ? 'Low' : ''], ['Webhook', j.webhook && <code>{j.webhook}</code>], ['ID', <Copy text={id} label="Copy" />],
              ]} /></Card>
            </div>
          </div>
        )}
      </Shown>
    </Page>
  )
}

const Size = ({ of }: { of: { length: number; truncated: boolean } }) => <span class="faint">{bytes(of.length)}{of.truncated ? ', the beginning is shown' : ''}</span>

// traceback unwraps the error of a Python handler, which is JSON with its lines in it.
function traceback(error: string): string {
  try {
    const of = JSON.parse(error) as Record<string, unknown>
    const trace = of.error_traceback ?? of.traceback
    if (typeof trace === 'string') return `${typeof of.error_message === 'string' ? `${of.error_message}\n\n` : ''}${trace}`
    return JSON.stringify(of, null, 2)
  } catch {
    return error
  }
}

function Timeline({ job: j }: { job: Detail }) {
  const again = Date.parse(j.queuedAt) - Date.parse(j.submittedAt) > 0
  const end = { COMPLETED: ['good', 'Completed'], FAILED: ['bad', 'Failed'], CANCELLED: ['', 'Cancelled'], TIMED_OUT: ['bad', 'Timed out'] } as Record<string, [string, string]>
  const steps: { tone: string; text: string; at: string | undefined; note?: string }[] = [{ tone: 'good', text: 'Submitted', at: j.submittedAt }]
  if (again) steps.push({ tone: 'wait', text: 'Waited again', at: j.queuedAt, note: j.retries ? `after ${j.retries} workers lost it` : 'it was retried' })
  if (j.startedAt) steps.push({ tone: 'good', text: 'Taken by a worker', at: j.startedAt, note: `${j.delayTime !== undefined ? `after ${span(j.delayTime)}` : ''}${j.attempts > 1 ? `, attempt ${j.attempts}` : ''}` })
  if (j.finishedAt) steps.push({ tone: end[j.status]?.[0] ?? '', text: end[j.status]?.[1] ?? j.status, at: j.finishedAt, ...(j.executionTime === undefined ? {} : { note: `after ${span(j.executionTime)}` }) })
  else steps.push({ tone: j.status === 'IN_PROGRESS' ? 'busy' : 'wait', text: j.status === 'IN_PROGRESS' ? 'Runs' : 'Waits for a worker', at: undefined })
  steps.push({ tone: '', text: j.finishedAt ? 'Is forgotten' : 'Expires', at: j.expiresAt })
  return <ol class="timeline" aria-label="Timeline">{steps.map(s => <li key={s.text} class={s.tone}><span>{s.text}</span>{s.at ? <Time at={s.at} /> : <span />}{s.note && <span class="faint">{s.note}</span>}</li>)}</ol>
}

// Chunks takes what the job streams. Whoever reads a stream takes its chunks away from others: that is asked for by hand.
function Chunks({ job: j }: { job: Detail }) {
  const [chunks, setChunks] = useState<unknown[] | null>(null)
  const left = useRef(false)
  useEffect(() => () => void (left.current = true), [])
  const take = async () => {
    const all = [...(chunks ?? [])]
    for (let round = 0; round < 1000 && !left.current; round++) {
      // Who accepts application/json and nothing else gets a bare list.
      const page = (await send('get', '/v2/{endpointId}/stream/{jobId}', { path: { endpointId: j.endpointId, jobId: j.id }, headers: { Accept: 'application/json, */*' } })) as { status: string; stream: Chunk[] }
      all.push(...page.stream.map(c => c.output))
      setChunks([...all])
      if (page.status !== 'IN_QUEUE' && page.status !== 'IN_PROGRESS' && !page.stream.length) return
    }
  }
  return (
    <Card title="Stream" actions={<Button small icon="play" onClick={take}>Read the stream</Button>}>
      {chunks === null ? <p class="muted">What a handler yields, piece by piece. Reading takes the pieces: another client that reads the stream does not get them.</p> : chunks.length === 0 ? <Empty title="Nothing was streamed" /> : <Text label="Stream">{chunks.map(c => (typeof c === 'string' ? c : JSON.stringify(c))).join('\n')}</Text>}
    </Card>
  )
}
