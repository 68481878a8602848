import { useEffect, useState } from 'preact/hooks'
import { send, type QueueTypes } from '../api'
import { go, href, search } from '../router'
import { exact } from '../format'
import { Card, Command, Empty, failed, LinkButton, Page, say, Shown, Text } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'
import { curl, quoted, useEndpoints } from './shared'

type Body = QueueTypes['schemas']['Submission']

export function NewJob() {
  const endpoints = useEndpoints()
  const asked = search.value.get('endpoint') ?? ''
  const like = search.value.get('like')
  const [picked, setPicked] = useState(asked)
  const [waits, setWaits] = useState(false)
  const [answer, setAnswer] = useState<string | null>(null)
  const [value, setValue] = useState<Record<string, unknown>>({ input: { prompt: 'hello' } })
  const [round, setRound] = useState(0)
  const endpoint = picked || endpoints.data?.[0]?.id || ''

  useEffect(() => {
    if (!like) return
    void send('get', '/_berth/jobs/{jobId}', { path: { jobId: like } }).then(j => {
      if (j.input.truncated) return say('The input is too long to be shown here', 'bad')
      setValue({
        input: exact(j.input.text), policy: { executionTimeout: j.executionTimeout, ttl: j.ttl, lowPriority: j.lowPriority }, ...(j.webhook ? { webhook: j.webhook } : {}),
      })
      setRound(r => r + 1)
    }).catch(failed)
  }, [like])

  const submit = async (sent: Record<string, unknown>) => {
    setAnswer(null)
    const body = sent as unknown as Body
    if (waits) {
      const done = await send('post', '/v2/{endpointId}/runsync', { path: { endpointId: endpoint }, body })
      setAnswer(JSON.stringify(done, null, 2))
      return
    }
    const job = (await send('post', '/v2/{endpointId}/run', { path: { endpointId: endpoint }, body })) as { id: string }
    say('The job is submitted')
    go(href('jobs', job.id))
  }
  return (
    <Page title="Run a job" from={{ to: href('jobs'), title: 'Jobs' }}>
      <Shown of={endpoints} rows={4}>
        {all => all.length === 0 ? <Card><Empty icon="endpoints" title="A job needs an endpoint" line="berth serve --endpoint 'echo=berth worker --handler echo'"><LinkButton to={href('endpoints', 'new')} icon="plus" kind="main">Create an endpoint</LinkButton></Empty></Card> : (
          <div class="two">
            <Card>
              <Form key={round} schema={schemaOf('Submission')} value={value} onChange={setValue} onSubmit={submit} submit={waits ? 'Run and wait' : 'Run'} first={['input', 'webhook', 'policy']} hidden={['/s3Config']}
                labels={{ '/policy/executionTimeout': 'Execution timeout (ms)', '/policy/ttl': 'Time to live (ms)', '/input': 'Input' }}
                before={<>
                  <div class="field"><label for="endpoint">Endpoint</label><select id="endpoint" value={endpoint} onChange={e => setPicked(e.currentTarget.value)}>{all.map(e => <option key={e.id} value={e.id}>{e.name} ({e.id})</option>)}</select></div>
                  <div class="field inline"><label for="waits">Wait here for its end</label><input id="waits" type="checkbox" checked={waits} onChange={e => setWaits(e.currentTarget.checked)} /></div>
                </>} />
            </Card>
            <div class="price">
              {answer && <Card title="Answer"><Text label="Answer">{answer}</Text></Card>}
              <Card title="The same from a shell"><div class="stack"><Command line={curl('POST', `/v2/${endpoint}/${waits ? 'runsync' : 'run'}`, value)} /><Command line={`berth jobs run ${quoted(all.find(e => e.id === endpoint)?.name ?? endpoint)} --input ${quoted(JSON.stringify(value.input ?? {}))}${waits ? ' --wait' : ''}`} /></div></Card>
            </div>
          </div>
        )}
      </Shown>
    </Page>
  )
}
