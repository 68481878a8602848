// Pages of what is named once and used by pods and endpoints: a table, a form to create, one to change, and a way to delete.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { open, send, type Path } from '../api'
import { useResource, type Resource } from '../data'
import { href } from '../router'
import { Button, Card, Dialog, Empty, ID, Page, say, Shown, Status, sure, Time } from '../ui/bits'
import { emptied, Form, schemaOf, type Choices } from '../ui/form'
import { matches, Search, Table, type Column } from '../ui/table'
import { curl, dataCenterChoices, registryChoices, useDataCenters, useGlobalVolumes, useRegistries, useSecrets, useTemplates, useVolumes } from './shared'

type SchemaName = Parameters<typeof schemaOf>[0]

interface CollectionProps<T extends { id: string; name?: string | null }> {
  one: string // what one of them is called
  icon: string
  says: string
  path: Path
  of: Resource<T[]>
  columns: Column<T>[]
  create: SchemaName
  update?: SchemaName
  initial: Record<string, unknown>
  example: unknown
  before?: (row: T) => Record<string, unknown> // the form of a row that is changed
  choices?: Record<string, Choices | undefined>
  first?: string[]
  labels?: Record<string, string>
  long?: string[]
  gone: string // what is lost when one is deleted
  fixed?: (row: T) => boolean
}

const article = (one: string) => (/^[aeiou]/.test(one) ? 'an' : 'a')

export function Collection<T extends { id: string; name?: string | null }>(p: CollectionProps<T>) {
  const [typed, setTyped] = useState('')
  const [creating, setCreating] = useState(false)
  const [editing, setEditing] = useState<T | null>(null)
  const remove = async (row: T) => {
    if (!(await sure(`Delete ${row.name ?? row.id}?`, p.gone, 'Delete'))) return
    await open('delete', `${p.path}/${row.id.split('/').map(encodeURIComponent).join('/')}`)
    say('Deleted')
    p.of.reload()
  }
  return (
    <>
      <div class="bar"><Search value={typed} onInput={setTyped} label={`Search ${p.one}s`} /><span class="end"><button type="button" class="button main" data-new onClick={() => setCreating(true)}>Create {article(p.one)} {p.one}</button></span></div>
      <Card flush>
        <Shown of={p.of}>
          {all => {
            const rows = all.filter(r => matches(typed, r.name, r.id, JSON.stringify(r)))
            if (!all.length) return <Empty icon={p.icon} title={`There is no ${p.one} yet`} line={curl('POST', p.path as string, p.example)}><p>{p.says}</p></Empty>
            if (!rows.length) return <Empty title={`No ${p.one} is like that`} />
            return <Table label={`${p.one}s`} rows={rows} id={r => r.id} {...(p.update ? { onOpen: setEditing } : {})} columns={[...p.columns, { name: 'ID', width: 'minmax(90px, 150px)', less: true, cell: r => <ID of={r.id} /> }, {
              name: 'Actions', width: p.update ? '132px' : '74px', right: true, cell: r => p.fixed?.(r) ? null : <span class="nowrap">{p.update && <Button small kind="bare" onClick={() => setEditing(r)}>Edit</Button>} <Button small kind="bare" onClick={() => remove(r)} label={`Delete ${r.name ?? r.id}`}>Delete</Button></span>,
            }]} />
          }}
        </Shown>
      </Card>
      {creating && <Edit {...p} row={null} onClose={() => { setCreating(false); p.of.reload() }} />}
      {editing && p.update && <Edit {...p} row={editing} onClose={() => { setEditing(null); p.of.reload() }} />}
    </>
  )
}

function Edit<T extends { id: string; name?: string | null }>(p: CollectionProps<T> & { row: T | null; onClose: () => void }) {
  const before = p.row ? (p.before?.(p.row) ?? { name: p.row.name }) : p.initial
  const [value, setValue] = useState<Record<string, unknown>>(before)
  const submit = async (sent: Record<string, unknown>) => {
    const body = p.row ? { ...Object.fromEntries(Object.entries(sent).filter(([n, v]) => JSON.stringify(v) !== JSON.stringify(before[n]))), ...emptied(before, sent) } : sent
    if (!p.row || Object.keys(body).length) await open(p.row ? 'patch' : 'post', p.row ? `${p.path}/${encodeURIComponent(p.row.id)}` : (p.path as string), { body })
    say(p.row ? 'Saved' : `The ${p.one} is created`)
    p.onClose()
  }
  return (
    <Dialog title={p.row ? `Edit ${p.row.name ?? p.row.id}` : `Create ${article(p.one)} ${p.one}`} onClose={p.onClose}>
      <Form schema={schemaOf(p.row ? p.update! : p.create)} value={value} onChange={setValue} onSubmit={submit} onCancel={p.onClose} submit={p.row ? 'Save' : 'Create'} {...(p.choices ? { choices: p.choices } : {})} {...(p.first ? { first: p.first } : {})} {...(p.labels ? { labels: p.labels } : {})} {...(p.long ? { long: p.long } : {})} />
    </Dialog>
  )
}

const muted = (c: ComponentChildren) => <span class="muted">{c}</span>

export function Templates() {
  const registries = useRegistries()
  return (
    <Page title="Templates">
      <Collection one="template" icon="templates" says="A template has the settings of a container, to begin pods and endpoints with." path="/v2/templates" of={useTemplates()} create="CreateTemplateRequest" update="UpdateTemplateRequest"
        initial={{}} example={{ name: 'base', image: 'ubuntu:24.04' }} gone="Pods and endpoints that were made of it stay as they are." first={['name', 'image', 'ports', 'env', 'disk', 'serverless']} labels={{ '/env': 'Environment', '/disk': 'Disk (GB)' }}
        choices={{ '/registry': registryChoices(registries.data) }} before={t => ({ name: t.name, image: t.image, args: t.args, disk: t.disk, ports: t.ports, env: t.env, category: t.category, public: t.public, serverless: t.serverless, startSsh: t.startSsh, startJupyter: t.startJupyter, registry: t.registry ?? undefined })}
        columns={[
          { name: 'Name', width: 'minmax(110px, 1.3fr)', cell: t => t.name, by: t => t.name }, { name: 'Image', width: 'minmax(100px, 1.6fr)', less: true, cell: t => muted(t.image), by: t => t.image },
          { name: 'For', width: '92px', less: true, cell: t => (t.serverless ? 'Endpoints' : 'Pods') }, { name: 'Category', width: '86px', less: true, cell: t => t.category }, { name: 'Disk', width: '66px', right: true, less: true, cell: t => `${t.disk} GB` }, { name: 'Seen by', width: '80px', less: true, cell: t => (t.public ? 'All' : 'You') },
        ]} />
    </Page>
  )
}

export function Volumes() {
  const centers = useDataCenters()
  return (
    <Page title="Volumes">
      <h2>Network volumes</h2>
      <Collection one="network volume" icon="volumes" says="Storage in a data center that outlives pods, and that several can mount." path="/v2/network-volumes" of={useVolumes()} create="CreateNetworkVolumeRequest" update="UpdateNetworkVolumeRequest" initial={{ size: 10 }}
        example={{ name: 'data', size: 10, dataCenter: 'EU-RO-1' }} gone="What is stored on it is gone for good." labels={{ '/size': 'Size (GB)' }} choices={{ '/dataCenter': dataCenterChoices(centers.data) }} first={['name', 'size', 'dataCenter', 'type']} before={v => ({ name: v.name, size: v.size })}
        columns={[{ name: 'Name', width: 'minmax(110px, 1.5fr)', cell: v => v.name, by: v => v.name }, { name: 'Size', width: '80px', right: true, cell: v => `${v.size} GB`, by: v => v.size }, { name: 'Data center', width: '1fr', less: true, cell: v => v.dataCenter, by: v => v.dataCenter }, { name: 'Type', width: '1fr', less: true, cell: v => muted(v.type) }]} />
      <h2>Global volumes</h2>
      <Collection one="global volume" icon="volumes" says="Storage that workers with GPUs mount in every data center." path="/v2/global-volumes" of={useGlobalVolumes()} create="CreateGlobalVolumeRequest" update="UpdateGlobalVolumeRequest" initial={{}} example={{ name: 'models' }} gone="What is stored on it is gone for good."
        columns={[{ name: 'Name', width: 'minmax(110px, 2fr)', cell: v => v.name, by: v => v.name }, { name: 'Created', width: '120px', right: true, less: true, cell: v => <Time at={v.createdAt} />, by: v => v.createdAt }]} />
    </Page>
  )
}

export function Secrets() {
  return (
    <Page title="Secrets">
      <p class="muted">A value that is written once and never shown. An environment refers to it as <code>{'{{ RUNPOD_SECRET_name }}'}</code>.</p>
      <Collection one="secret" icon="secrets" says="Secrets keep tokens and passwords out of the settings of pods and endpoints." path="/v2/account/secrets" of={useSecrets()} create="CreateSecretRequest" update="UpdateSecretRequest" initial={{}} example={{ name: 'HF_TOKEN', value: '...' }}
        gone="What refers to it no longer finds it when it is started." before={s => ({ description: s.description ?? undefined })} long={['/description']} first={['name', 'value', 'description']}
        columns={[{ name: 'Name', width: 'minmax(110px, 1fr)', cell: s => s.name, by: s => s.name }, { name: 'Description', width: '1.6fr', less: true, cell: s => muted(s.description ?? '') }, { name: 'Created', width: '118px', right: true, less: true, cell: s => <Time at={s.createdAt} />, by: s => s.createdAt }, { name: 'Value stored', width: '118px', right: true, less: true, cell: s => <Time at={s.valueLastUpdatedAt ?? s.createdAt} /> }]} />
    </Page>
  )
}

export function Registries() {
  const delegations = useResource('delegations', async () => (await send('get', '/v2/registries/delegations')).delegations, ['registry'])
  return (
    <Page title="Registries">
      <h2>Credentials</h2>
      <Collection one="credential" icon="registries" says="The login to a registry of private images. The password is never shown." path="/v2/registries" of={useRegistries()} create="CreateRegistryRequest" initial={{}} example={{ name: 'hub', username: 'me', password: '...' }} gone="Images that need it can no longer be pulled."
        columns={[{ name: 'Name', width: 'minmax(110px, 2fr)', cell: r => r.name, by: r => r.name }]} />
      <h2>Delegations</h2>
      <Collection one="delegation" icon="registries" says="A repository of ECR that another account lets this one pull from." path="/v2/registries/delegations" of={delegations as Resource<{ id: string; name?: string | null; repository: string; tag: string; awsRegion: string }[]>} create="CreateDelegationRequest" initial={{}}
        example={{ resource: 'arn:aws:ecr:eu-west-1:123456789012:repository/images' }} gone="Its images can no longer be pulled."
        columns={[{ name: 'Repository', width: 'minmax(110px, 2fr)', cell: d => `${d.repository}:${d.tag}` }, { name: 'Region', width: '120px', less: true, cell: d => d.awsRegion }, { name: 'Name', width: '1fr', less: true, cell: d => muted(d.name ?? '') }]} />
    </Page>
  )
}

export function Clusters() {
  const clusters = useResource('clusters', async () => (await send('get', '/v2/clusters')).clusters, ['cluster', 'pod'])
  const remove = async (id: string, name: string) => {
    if (!(await sure(`Delete ${name}?`, 'All of its pods are terminated.', 'Delete'))) return
    await send('delete', '/v2/clusters/{id}', { path: { id } })
    clusters.reload()
  }
  return (
    <Page title="Clusters">
      <Card flush>
        <Shown of={clusters}>
          {all => all.length === 0 ? <Empty icon="clusters" title="There is no cluster yet" line={curl('POST', '/v2/clusters', { name: 'first', type: 'TRAINING', image: 'ubuntu:24.04', compute: { gpuTypeId: 'NVIDIA H100 80GB HBM3', gpuCountPerPod: 8, podCount: 2 } })}><p>A cluster has equal GPU pods in one data center, with a network between them.</p></Empty> : (
            <Table label="Clusters" rows={all} id={c => c.id} to={c => (c.primary ? href('pods', c.primary.podId) : href('clusters'))} columns={[
              { name: 'Name', width: 'minmax(110px, 1fr)', cell: c => c.name, by: c => c.name }, { name: 'Type', width: '110px', less: true, cell: c => c.type }, { name: 'Pods', width: '60px', right: true, cell: c => c.pods.total },
              { name: 'GPUs', width: 'minmax(100px, 1fr)', less: true, cell: c => `${c.compute.gpuCountPerPod} × ${c.compute.gpuTypeId} each` }, { name: 'Status', width: '130px', cell: c => (c.primary ? <Status of={c.primary.status} /> : '–') },
              { name: 'Created', width: '118px', right: true, less: true, cell: c => <Time at={c.createdAt} /> }, { name: 'Actions', width: '70px', right: true, cell: c => <Button small kind="bare" onClick={() => remove(c.id, c.name)} label={`Delete ${c.name}`}>Delete</Button> },
            ]} />
          )}
        </Shown>
      </Card>
    </Page>
  )
}
