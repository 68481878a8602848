import { useState } from 'preact/hooks'
import { Problem, send } from '../api'
import { useResource } from '../data'
import { bytes, stamp } from '../format'
import { tell } from '../live'
import { Button, Card, Command, Empty, Page, say, Shown, sure } from '../ui/bits'
import { Table } from '../ui/table'
import { NeedsControls } from './clock'

export function States() {
  return <NeedsControls title="States"><List /></NeedsControls>
}

function List() {
  const states = useResource('states', async () => (await send('get', '/_berth/states')).states)
  const [name, setName] = useState('')
  const [wrong, setWrong] = useState('')
  const save = async (e: Event) => {
    e.preventDefault()
    setWrong('')
    try {
      await send('put', '/_berth/states/{name}', { path: { name } })
      say(`Saved as ${name}`)
      setName('')
      states.reload()
    } catch (error) {
      setWrong(error instanceof Problem ? (error.errors[0] ?? error.detail) : String(error))
    }
  }
  const load = async (of: string) => {
    if (!(await sure(`Load ${of}?`, 'What the server has now is replaced by what was saved.', 'Load'))) return
    await send('post', '/_berth/states/{name}/load', { path: { name: of } })
    say(`The server is as it was saved as ${of}`)
    tell([{ kind: 'reset', id: '', change: 'changed' }])
  }
  const remove = async (of: string) => {
    if (!(await sure(`Delete ${of}?`, 'What the server has stays as it is.', 'Delete'))) return
    await send('delete', '/_berth/states/{name}', { path: { name: of } })
    states.reload()
  }
  return (
    <Page title="States">
      <form class="bar" onSubmit={e => void save(e)}>
        <label class="choice"><span>Save everything as</span><input type="text" value={name} placeholder="before-upgrade" aria-invalid={wrong ? 'true' : undefined} onInput={e => setName(e.currentTarget.value)} /></label>
        <Button type="submit" kind="main" disabled={!name}>Save</Button>
        {wrong && <span class="says" role="alert"><strong>{wrong}</strong></span>}
      </form>
      <Card flush>
        <Shown of={states}>
          {all => all.length === 0 ? <Empty icon="states" title="Nothing is saved yet" line="berth states save before-upgrade"><p>A state is everything that the server has at one time: load it to begin there again.</p></Empty> : (
            <Table label="States" rows={all} id={s => s.name} columns={[
              { name: 'Name', width: '2fr', cell: s => <span class="strong">{s.name}</span>, by: s => s.name }, { name: 'Saved', width: '160px', less: true, cell: s => stamp(s.savedAt), by: s => s.savedAt }, { name: 'Size', width: '80px', right: true, cell: s => bytes(s.bytes), by: s => s.bytes },
              { name: 'Actions', width: '136px', right: true, cell: s => <span class="nowrap"><Button small kind="bare" onClick={() => load(s.name)} label={`Load ${s.name}`}>Load</Button> <Button small kind="bare" onClick={() => remove(s.name)} label={`Delete ${s.name}`}>Delete</Button></span> },
            ]} />
          )}
        </Shown>
      </Card>
      <Card title="Seeds"><div class="stack"><p class="muted">What a server has from its start, and again after a reset, stands in files. The reset is on the page of the clock.</p><Command line="berth serve --ephemeral --test-controls --seed seed.yaml" /><Command line="berth seed check seed.yaml" /></div></Card>
    </Page>
  )
}
