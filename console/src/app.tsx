// The frame around the pages: the rail, the line on the connection, the palette, the keyboard.
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { readClock, forgetAll } from './data'
import { follow, how, listen, retry, retryAt, unfollow } from './live'
import { sections } from './places'
import { go, href, parts } from './router'
import { forget, hasControls, session, signedIn } from './session'
import { resume, SignIn } from './signin'
import { nextTheme, theme } from './theme'
import { Button, Empty, Page, Questions, Toasts } from './ui/bits'
import { Icon } from './ui/icons'
import { Mark } from './ui/mark'
import { Help, helpOpen, Palette, paletteOpen } from './ui/palette'
import { ClockLine } from './pages/clock_line'
import { Overview } from './pages/overview'
import { Pods } from './pages/pods'
import { NewPod } from './pages/pod_new'
import { PodPage } from './pages/pod'
import { Endpoints, NewEndpoint } from './pages/endpoints'
import { EndpointPage } from './pages/endpoint'
import { Jobs } from './pages/jobs'
import { JobPage } from './pages/job'
import { NewJob } from './pages/job_new'
import { Workers, WorkerPage } from './pages/workers'
import { Clusters, Registries, Secrets, Templates, Volumes } from './pages/resources'
import { Hosts } from './pages/hosts'
import { Keys } from './pages/keys'
import { Users } from './pages/users'
import { Login } from './pages/login'
import { Billing } from './pages/billing'
import { Clock } from './pages/clock'
import { Faults } from './pages/faults'
import { Journal } from './pages/journal'
import { Webhooks } from './pages/webhooks'
import { States } from './pages/states'
import { GraphQL } from './pages/graphql'
import { Documents } from './pages/documents'

const lists: Record<string, ComponentType> = {
  pods: Pods, endpoints: Endpoints, jobs: Jobs, workers: Workers, clusters: Clusters, hosts: Hosts, templates: Templates, volumes: Volumes, secrets: Secrets,
  registries: Registries, keys: Keys, users: Users, billing: Billing, clock: Clock, faults: Faults, journal: Journal, webhooks: Webhooks, states: States, graphql: GraphQL, documents: Documents,
}
const creates: Record<string, ComponentType> = { pods: NewPod, endpoints: NewEndpoint, jobs: NewJob }
const details: Record<string, ComponentType<{ id: string }>> = { pods: PodPage, endpoints: EndpointPage, jobs: JobPage }

function Shown() {
  const [section, id, below] = parts.value
  if (!section) return <Overview />
  if (section === 'workers' && id && below) return <WorkerPage key={below} endpoint={id} id={below} />
  if (section === 'flash' && id === 'login') return <Login />
  const New = id === 'new' ? creates[section] : undefined
  if (New) return <New />
  const Detail = id ? details[section] : undefined
  if (Detail && id) return <Detail key={id} id={id} />
  const List = id ? undefined : lists[section]
  return List ? <List /> : <Page title="Nothing here"><Empty title="There is no such page" icon="search"><a href={href()}>To the overview</a></Empty></Page>
}

const railOpen = signal(false)

export function App() {
  useEffect(() => void resume(), [])
  useEffect(() => {
    if (!signedIn.value) return
    void follow()
    void readClock()
    const silence = listen(changes => changes.some(c => c.kind === 'clock' || c.kind === 'reset') && void readClock())
    return () => {
      silence()
      unfollow()
      forgetAll()
    }
  }, [signedIn.value])
  useKeyboard()
  if (!signedIn.value) return <><SignIn /><Toasts /></>
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={e => { e.preventDefault(); document.getElementById('main')?.focus() }}>To the content</a>
      <div class="top">
        <Button kind="bare" icon="menu" label="Menu" onClick={() => { railOpen.value = !railOpen.value }}>{null}</Button>
        <a class="brand" href={href()}><Mark />berth</a>
        <span class="end"><Button kind="bare" icon="search" label="Go to" onClick={() => { paletteOpen.value = true }}>{null}</Button></span>
      </div>
      <Rail />
      {railOpen.value && <div class="shade" onClick={() => (railOpen.value = false)} />}
      <main id="main" tabIndex={-1}>
        <Connection />
        <Shown />
      </main>
      {paletteOpen.value && <Palette />}
      {helpOpen.value && <Help />}
      <Questions />
      <Toasts />
    </div>
  )
}

function Rail() {
  const at = parts.value[0] ?? ''
  const s = session.value!
  return (
    <aside class={railOpen.value ? 'rail open' : 'rail'} aria-label="berth" onClick={e => (e.target as Element).closest('a') && (railOpen.value = false)}>
      <a class="brand" href={href()}><Mark />berth</a>
      <nav aria-label="Pages">
        {sections().map(section => (
          <div key={section.title}>
            {section.title && <h2>{section.title}</h2>}
            {section.places.map(p => (
              <a key={p.path} href={href(...(p.path ? [p.path] : []))} aria-current={p.path === at ? 'page' : undefined} title={p.letter ? `g ${p.letter}` : undefined}><Icon name={p.icon} />{p.title}</a>
            ))}
          </div>
        ))}
      </nav>
      <div class="foot">
        {hasControls.value && <ClockLine />}
        <p>{[s.name, s.user, s.version && `berth ${s.version}`, s.runtime].filter(Boolean).join(' · ')}</p>
        <p>{how.value === 'events' ? 'Live' : how.value === 'asking' ? 'Looks every 4 s' : how.value === 'away' ? 'Not connected' : ''}</p>
        <div class="row-of">
          <Button kind="bare" icon="search" label="Go to" title="Ctrl K" onClick={() => { paletteOpen.value = true }}>{null}</Button>
          <Button kind="bare" icon={theme.value === 'dark' ? 'moon' : theme.value === 'light' ? 'sun' : 'auto'} label={`Colours: ${theme.value}`} title={`Colours: ${theme.value}`} onClick={nextTheme}>{null}</Button>
          <Button kind="bare" icon="help" label="Keys of the keyboard" title="?" onClick={() => { helpOpen.value = true }}>{null}</Button>
          <Button kind="bare" icon="leave" label="Sign out" title="Sign out" onClick={() => { unfollow(); forget() }}>{null}</Button>
        </div>
      </div>
    </aside>
  )
}

function Connection() {
  if (how.value !== 'away') return null
  return (
    <div class="banner" role="alert">
      <Icon name="faults" />
      <span>The server does not answer. What is shown may be old; the next try is in {Math.max(1, Math.round((retryAt.value - Date.now()) / 1000))} s.</span>
      <Button small onClick={retry}>Try now</Button>
    </div>
  )
}

function useKeyboard(): void {
  useEffect(() => {
    let g = 0 // when g was pressed
    const press = (e: KeyboardEvent) => {
      if (!signedIn.value) return
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') {
        e.preventDefault()
        paletteOpen.value = !paletteOpen.value
        return
      }
      const target = e.target as HTMLElement
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable || document.querySelector('dialog[open]')) return
      if (Date.now() - g < 1200) {
        g = 0
        const place = sections().flatMap(s => s.places).find(p => p.letter === e.key)
        if (place) {
          e.preventDefault()
          go(href(...(place.path ? [place.path] : [])))
        }
        return
      }
      if (e.key === 'g') g = Date.now()
      else if (e.key === '?') helpOpen.value = true
      else if (e.key === 'n') document.querySelector<HTMLElement>('[data-new], a.button.main')?.click()
      else if (e.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-search]')
        if (search) {
          e.preventDefault()
          search.focus()
        }
      } else if (e.key === 'Escape') railOpen.value = false
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
