import { useState } from 'preact/hooks'
import { open, send, type ControlsTypes } from '../api'
import { useResource } from '../data'
import { pretty, span, stamp } from '../format'
import { ask, search } from '../router'
import { Button, Card, Choice, Dialog, Empty, Facts, Page, say, Shown, sure, Text } from '../ui/bits'
import { operations } from '../ui/form'
import { matches, Search, Table } from '../ui/table'
import { NeedsControls } from './clock'

type Entry = ControlsTypes['schemas']['JournalEntry']
type Result = ControlsTypes['schemas']['VerificationResult']

export function Journal() {
  return <NeedsControls title="Journal"><List /></NeedsControls>
}

export const Code = ({ of }: { of: number }) => <span class={`status ${of === 0 || of >= 500 ? 'bad' : of >= 400 ? 'wait' : 'good'}`}><i aria-hidden="true" />{of || 'none'}</span>

function List() {
  const operation = search.value.get('operation') ?? ''
  const status = search.value.get('status') ?? ''
  const [typed, setTyped] = useState('')
  const [seen, setSeen] = useState<Entry | null>(null)
  const [verifying, setVerifying] = useState(false)
  const journal = useResource(`journal ${operation} ${status}`, () => send('get', '/_berth/journal', { query: { limit: 1000, ...(operation ? { operation } : {}), ...(status ? { status } : {}) } }), ['journal'])
  const clear = async () => {
    if (!(await sure('Forget the requests that came?', 'Their numbers go on from where they are.', 'Forget'))) return
    await send('delete', '/_berth/journal')
    journal.reload()
  }
  const save = async () => {
    const file = await (await open('get', '/_berth/journal.har')).blob()
    const link = document.createElement('a')
    link.href = URL.createObjectURL(file)
    link.download = 'berth.har'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <Page title="Journal" actions={<><Button icon="check" kind="main" onClick={() => setVerifying(true)}>Verify</Button><Button onClick={save}>Export HAR</Button><Button kind="danger" onClick={clear}>Clear</Button></>}>
      <div class="bar">
        <Search value={typed} onInput={setTyped} label="Search requests" />
        <Choice label="Operation" at={operation} onPick={v => ask({ operation: v })} of={[['', 'All'], ['graphql', 'graphql'], ['unknown', 'unknown'], ...operations.map(o => [o, o] as [string, string])]} />
        <Choice label="Status" at={status} onPick={v => ask({ status: v })} of={[['', 'All'], ['2xx', '2xx'], ['4xx', '4xx'], ['5xx', '5xx'], ['0', 'no answer']]} />
        {journal.data && <span class="faint num end">{journal.data.entries.length} requests{journal.data.dropped ? `, ${journal.data.dropped} forgotten` : ''}</span>}
      </div>
      <Card flush>
        <Shown of={journal}>
          {j => {
            const rows = [...j.entries].reverse().filter(e => matches(typed, e.path, e.operation, e.keyId, e.user, String(e.status), e.fault?.id, e.request.body.text))
            if (!j.entries.length) return <Empty icon="journal" title="No request came yet" line={`curl -s ${location.origin}/v2/pods -H "Authorization: Bearer $BERTH_KEY"`}><p>Requests to the published interfaces stand here, with their answers; secrets are masked.</p></Empty>
            if (!rows.length) return <Empty title="No request is like that" />
            return <Table label="Requests" rows={rows} id={e => String(e.number)} onOpen={setSeen} columns={[
              { name: 'Number', width: '64px', cell: e => e.number }, { name: 'Answer', width: '74px', cell: e => <Code of={e.status} /> }, { name: 'Operation', width: 'minmax(90px, 1fr)', cell: e => <span class="strong">{e.operation}</span> },
              { name: 'Request', width: 'minmax(120px, 2fr)', less: true, cell: e => <code>{e.method} {e.path}{e.query && `?${e.query}`}</code> }, { name: 'Fault', width: '90px', less: true, cell: e => e.fault && <span class="tag bad">{e.fault.id}</span> },
              { name: 'Took', width: '70px', right: true, less: true, cell: e => span(e.duration) }, { name: 'Key', width: '120px', less: true, cell: e => <code class="id">{e.keyId || '–'}</code> }, { name: 'Time', width: '154px', right: true, less: true, cell: e => stamp(e.time) },
            ]} />
          }}
        </Shown>
      </Card>
      {seen && <EntryDialog entry={seen} onClose={() => setSeen(null)} />}
      {verifying && <Verify onClose={() => setVerifying(false)} />}
    </Page>
  )
}

export function EntryDialog({ entry: e, onClose }: { entry: Entry; onClose: () => void }) {
  const body = (of: Entry['request'], label: string) => (
    <Card title={label}>
      <div class="stack">
        <details><summary>{of.headers.length} headers</summary><table class="plain"><tbody>{of.headers.map((h, i) => <tr key={i}><th scope="row">{h.name}</th><td><code>{h.value}</code></td></tr>)}</tbody></table></details>
        {of.body.length > 0 ? <Text label={`Body of the ${label.toLowerCase()}`}>{of.body.base64 ? of.body.text : pretty(of.body.text)}</Text> : <p class="faint">It has no body.</p>}
        {of.body.truncated && <p class="faint">The beginning of {of.body.length} bytes.</p>}
      </div>
    </Card>
  )
  return (
    <Dialog title={`Request ${e.number}`} onClose={onClose} wide>
      <Facts of={[['Operation', e.operation], ['Request', <code>{e.method} {e.path}{e.query && `?${e.query}`}</code>], ['Answer', <Code of={e.status} />], ['Took', span(e.duration)], ['Came', stamp(e.time)], ['Key', e.keyId], ['User', e.user], ['GraphQL', e.graphql?.fields.join(', ')]]} />
      {e.fault && <p class="note bad">It met the fault <strong>{e.fault.id}</strong>, {e.fault.when} the operation{e.fault.status ? `: ${e.fault.status}` : ''}{e.fault.drop ? ': the connection was cut' : ''}{e.fault.latency ? `, after ${span(e.fault.latency)}` : ''}.</p>}
      {body(e.request, 'Request')}
      {body(e.response, 'Answer')}
    </Dialog>
  )
}

const example = { expectations: [{ operation: 'createPod', status: '201', times: { atLeast: 1 } }], inOrder: false }

function Verify({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState(JSON.stringify(example, null, 2))
  const [result, setResult] = useState<Result | null>(null)
  const [wrong, setWrong] = useState('')
  const run = async () => {
    setWrong('')
    setResult(null)
    try {
      setResult(await send('post', '/_berth/journal/verify', { body: JSON.parse(text) as typeof example as never }))
      say('Verified')
    } catch (e) {
      setWrong(e instanceof SyntaxError ? 'This is no JSON' : ((e as { errors?: string[] }).errors?.[0] ?? (e as Error).message))
    }
  }
  return (
    <Dialog title="Verify what came" onClose={onClose} wide>
      <div class="field"><label for="expectations">Expectations</label><textarea id="expectations" class="code" rows={12} spellcheck={false} value={text} aria-invalid={wrong ? 'true' : undefined} onInput={e => setText(e.currentTarget.value)} /><p class="says">{wrong ? <strong>{wrong}</strong> : 'Each counts the requests that match all of its members.'}</p></div>
      {result && (result.ok ? <p class="note good">All expectations hold.</p> : <div class="note bad"><ul>{result.failures.map((f, i) => <li key={i}>{f.says}{f.nearest && <> The nearest is request {f.nearest.number}: {f.nearest.differences.map(d => `${d.member} is ${d.found}, not ${d.expected}`).join('; ')}.</>}</li>)}</ul></div>)}
      <footer class="actions"><Button onClick={onClose}>Close</Button><Button kind="main" icon="check" onClick={run}>Verify</Button></footer>
    </Dialog>
  )
}
