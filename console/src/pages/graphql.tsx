// A page to write documents of GraphQL on, with the schema beside it.
import { useRef, useState } from 'preact/hooks'
import { open, Problem } from '../api'
import { useResource } from '../data'
import { Button, Card, Empty, Failure, Page, Shown, Text } from '../ui/bits'
import { matches, Search } from '../ui/table'

interface TypeRef { kind: string; name: string | null; ofType: TypeRef | null }
interface Input { name: string; description: string | null; type: TypeRef }
interface Field { name: string; description: string | null; args: Input[]; type: TypeRef }
interface Type { kind: string; name: string; description: string | null; fields: Field[] | null; inputFields: Input[] | null; enumValues: { name: string }[] | null }
interface SchemaOf { queryType: { name: string }; mutationType: { name: string } | null; types: Type[] }

const reference = 'kind name ofType { kind name ofType { kind name ofType { kind name } } }'
const introspection = `{ __schema { queryType { name } mutationType { name } types { kind name description fields { name description args { name description type { ${reference} } } type { ${reference} } } inputFields { name description type { ${reference} } } enumValues { name } } } }`
const stored = 'berth-graphql'
const start = '{\n  myself {\n    id\n    pods {\n      id\n      name\n      desiredStatus\n    }\n  }\n}\n'

async function ask(query: string, variables: unknown): Promise<{ data?: unknown; errors?: { message: string }[] }> {
  return (await open('post', '/graphql', { body: { query, variables } })).json() as Promise<{ data?: unknown; errors?: { message: string }[] }>
}

const written = (t: TypeRef): string => (t.kind === 'NON_NULL' ? `${written(t.ofType!)}!` : t.kind === 'LIST' ? `[${written(t.ofType!)}]` : (t.name ?? ''))
const inner = (t: TypeRef): string => (t.ofType ? inner(t.ofType) : (t.name ?? ''))

export function GraphQL() {
  const [query, setQuery] = useState(() => sessionStorage.getItem(stored) ?? start)
  const [variables, setVariables] = useState('{}')
  const [answer, setAnswer] = useState('')
  const [error, setError] = useState<unknown>(null)
  const editor = useRef<HTMLTextAreaElement>(null)
  const schema = useResource('graphql schema', async () => {
    const said = await ask(introspection, {})
    if (!said.data) throw new Problem(400, 'The schema is not shown', said.errors?.[0]?.message ?? '')
    return (said.data as { __schema: SchemaOf }).__schema
  })
  const run = async () => {
    setError(null)
    sessionStorage.setItem(stored, query)
    try {
      setAnswer(JSON.stringify(await ask(query, JSON.parse(variables || '{}')), null, 2))
    } catch (e) {
      setError(e instanceof SyntaxError ? new Problem(0, 'The variables are no JSON', e.message) : e)
    }
  }
  const keys = (e: KeyboardEvent) => {
    if ((e.ctrlKey || e.metaKey) && e.key === 'Enter') {
      e.preventDefault()
      void run()
    }
  }
  const insert = (f: Field) => {
    const args = f.args.length ? `(${f.args.map(a => `${a.name}: `).join(', ')})` : ''
    const text = `${f.name}${args}`
    const box = editor.current!
    box.setRangeText(text, box.selectionStart, box.selectionEnd, 'end')
    setQuery(box.value)
    box.focus()
  }
  return (
    <Page title="GraphQL" actions={<Button kind="main" icon="play" title="Ctrl Enter" onClick={run}>Run</Button>}>
      <div class="split">
        <div class="stack">
          <div class="field"><label for="query">Document</label><textarea id="query" ref={editor} class="code" rows={18} spellcheck={false} value={query} onInput={e => setQuery(e.currentTarget.value)} onKeyDown={keys} /></div>
          <div class="field"><label for="variables">Variables</label><textarea id="variables" class="code" rows={4} spellcheck={false} value={variables} onInput={e => setVariables(e.currentTarget.value)} onKeyDown={keys} /></div>
        </div>
        <div class="stack">
          {error ? <Failure of={error} /> : null}
          {answer ? <Card title="Answer"><Text label="Answer" lines={60}>{answer}</Text></Card> : !error && <Card title="Answer"><Empty title="Run the document with Ctrl Enter" /></Card>}
          <Card title="Schema"><Shown of={schema}>{s => <Browser schema={s} onPick={insert} />}</Shown></Card>
        </div>
      </div>
    </Page>
  )
}

function Browser({ schema, onPick }: { schema: SchemaOf; onPick: (f: Field) => void }) {
  const [at, setAt] = useState<string[]>([])
  const [typed, setTyped] = useState('')
  const name = at[at.length - 1]
  const type = schema.types.find(t => t.name === name)
  const roots = [schema.queryType.name, schema.mutationType?.name].filter(n => n !== undefined)
  const link = (t: TypeRef) => schema.types.some(one => one.name === inner(t) && one.kind !== 'SCALAR') ? <button type="button" class="link" onClick={() => setAt([...at, inner(t)])}><code>{written(t)}</code></button> : <code>{written(t)}</code>
  const row = (f: Field) => <tr key={f.name}><th scope="row"><button type="button" class="link" onClick={() => onPick(f)} title="Write it into the document"><code>{f.name}</code></button></th><td>{link(f.type)}{f.args.length > 0 && <div class="faint">{f.args.map(a => <span key={a.name}>{a.name}: {link(a.type)} </span>)}</div>}{f.description && <div class="muted">{f.description}</div>}</td></tr>
  return (
    <div class="stack">
      <div class="bar">{at.length > 0 && <Button small onClick={() => setAt(at.slice(0, -1))}>Back</Button>}<span class="strong">{name ?? 'Query and Mutation'}</span><Search value={typed} onInput={setTyped} label="Search fields" /></div>
      {type ? (
        <>
          {type.description && <p class="muted">{type.description}</p>}
          <table class="plain"><tbody>{type.fields?.filter(f => matches(typed, f.name)).map(row)}{type.inputFields?.filter(f => matches(typed, f.name)).map(f => <tr key={f.name}><th scope="row"><code>{f.name}</code></th><td>{link(f.type)}{f.description && <div class="muted">{f.description}</div>}</td></tr>)}{type.enumValues?.map(v => <tr key={v.name}><td><code>{v.name}</code></td></tr>)}</tbody></table>
        </>
      ) : roots.map(r => <details key={r} open><summary>{r}</summary><table class="plain"><tbody>{schema.types.find(t => t.name === r)?.fields?.filter(f => matches(typed, f.name)).map(row)}</tbody></table></details>)}
    </div>
  )
}
