// Every page on a server with something on it: axe in light and dark, no error, screenshots wide and on a phone.
import { fair, go, key, open, done, settled, shot, until } from './harness.mjs'

export const all = [
  ['overview', ''], ['pods', '/pods'], ['pod-new', '/pods/new'], ['pod', '/pods/consoletrain01'], ['endpoints', '/endpoints'], ['endpoint-new', '/endpoints/new'], ['endpoint', '/endpoints/consolecaption'],
  ['endpoint-jobs', '/endpoints/consolecaption?tab=jobs'], ['endpoint-workers', '/endpoints/consolecaption?tab=workers'], ['endpoint-releases', '/endpoints/consolecaption?tab=releases'], ['endpoint-settings', '/endpoints/consolecaption?tab=settings'], ['endpoint-script', '/endpoints/consolecaption?tab=script'],
  ['jobs', '/jobs'], ['job-new', '/jobs/new'], ['workers', '/workers'], ['clusters', '/clusters'], ['hosts', '/hosts'], ['templates', '/templates'], ['volumes', '/volumes'], ['secrets', '/secrets'], ['registries', '/registries'], ['keys', '/keys'], ['users', '/users'], ['billing', '/billing'],
  ['clock', '/clock'], ['faults', '/faults'], ['journal', '/journal'], ['webhooks', '/webhooks'], ['states', '/states'], ['graphql', '/graphql'], ['documents', '/documents'], ['nothing', '/nowhere'],
]

const onPhones = ['overview', 'pods', 'pod-new', 'pod', 'endpoint', 'jobs', 'job-failed', 'journal', 'clock', 'hosts']

// furnish gives the server jobs of every kind, workers, a webhook and a fault, and stops its clock.
export async function furnish(server) {
  const { send } = server
  await send('PUT', '/_berth/endpoints/consolecaption/script', { answers: [
    { match: [{ pointer: '/prompt', equals: 'bad' }], error: JSON.stringify({ error_type: 'ValueError', error_message: 'no picture of bad', error_traceback: 'Traceback (most recent call last):\n  File "/app/handler.py", line 12, in handler\n    return draw(job["input"]["prompt"])\n  File "/app/handler.py", line 7, in draw\n    raise ValueError(f"no picture of {prompt}")\nValueError: no picture of bad' }) },
    { match: [{ pointer: '/prompt', equals: 'words' }], chunks: [{ after: 0, value: 'one' }, { after: 10, value: 'two' }] },
    { match: [{ pointer: '/prompt', equals: 'slow' }], delay: { fixed: 80000000 }, output: 'late' },
    { delay: { fixed: 900 }, output: { caption: 'a harbour at dawn', tokens: 17, scores: [0.92, 0.87, 0.44] } },
  ] })
  await send('POST', '/_berth/clock/freeze')
  const ids = {}
  for (const prompt of ['a harbour', 'a crane', 'bad', 'a lighthouse', 'words', 'bad']) {
    const { id } = await send('POST', '/v2/consolecaption/run', { input: { prompt }, ...(prompt === 'a crane' ? { webhook: `${server.url}/_berth/inbox/orders` } : {}) })
    ids[prompt] = id
  }
  await send('POST', '/_berth/clock/advance', { milliseconds: 60_000 })
  await until('the first job ends', async () => (await send('GET', `/_berth/jobs/${ids['a harbour']}`)).status === 'COMPLETED')
  ids.slow = (await send('POST', '/v2/consolecaption/run', { input: { prompt: 'slow' } })).id
  await send('POST', '/_berth/clock/advance', { milliseconds: 95_000 })
  ids.blocked = (await send('POST', '/v2/consoleblocked/run', { input: { prompt: 'a buoy' } })).id
  await send('POST', '/_berth/faults', { operation: 'createNetworkVolume', status: 503, times: 2 })
  await send('PUT', '/_berth/states/before-upgrade')
  return ids
}

export async function pages(server, ids) {
  const places = [...all, ['job-failed', `/jobs/${ids.bad}`], ['job', `/jobs/${ids['a harbour']}`], ['job-waiting', `/jobs/${ids.blocked}`]]
  const dark = await open(server, '', { theme: 'dark' })
  const light = await open(server, '')
  const phone = await open(server, '', { phone: true })
  await Promise.all([light, dark, phone].map(async tab => {
    for (const [name, path] of places.filter(([name]) => !tab.phone || onPhones.includes(name))) {
      await go(tab, path)
      await shot(tab, name)
      if (!tab.phone) await fair(tab, name)
    }
  }))
  for (const tab of [light, dark, phone]) await done(tab, `every page ${tab.theme}${tab.phone ? ' on a phone' : ''}`)
}

export async function signIn(server) {
  const expected = /401/
  const tab = await open(server, '/pods?status=RUNNING', { keys: '', expected })
  const { page } = tab
  await page.getByLabel('API key').fill('none-of-this-server')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('The server does not know this key.').waitFor()
  await fair(tab, 'sign-in')
  await shot(tab, 'sign-in')
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Pods', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'train-vision-large' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'train-vision-large' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await settledEmpty(page)
  await done(tab, 'sign in, over a reload, and out')
}

const settledEmpty = async page => {
  if (await page.evaluate(() => sessionStorage.length > 0 && sessionStorage.getItem('berth-keys'))) throw new Error('the key stays after signing out')
}

// A key that may only work the queue sees that it may not see the rest.
export async function denied(server) {
  const tab = await open(server, '/pods', { keys: 'key=the-key-that-works-the-queue', expected: /403/ })
  await tab.page.getByText('Your key may not see this').waitFor()
  await settled(tab.page)
  await fair(tab, 'denied')
  await shot(tab, 'denied')
  await done(tab, 'no permission')

  // Nor may one that only reads see queues: what it does not know is no 0.
  const reader = await open(server, '', { keys: 'key=the-key-that-only-reads', expected: /403/ })
  await reader.page.locator('.figures a', { hasText: 'Pods running' }).getByText(/of \d/).waitFor()
  await reader.page.locator('.figures a', { hasText: 'Jobs waiting' }).getByText('–', { exact: true }).waitFor()
  await done(reader, 'figures that are not known')
}
