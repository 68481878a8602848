// Opens the console of a server in headless Chromium: every page and what is done on it. It fails at whatever the browser's console
// calls an error, at a request to anywhere else, and at what axe finds, in light and dark.
//
//   node console.mjs BERTH CHROMIUM DIRECTORY_OF_SCREENSHOTS
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { controls, endpoints, jobs, keyboard, login, pods, resources, states } from './flows.mjs'
import { berth, close, screenshots, start } from './harness.mjs'
import { busy, empty, newcomer, realShell, shell, thousands } from './limits.mjs'
import { denied, furnish, pages, signIn } from './pages.mjs'

const only = process.env.ONLY
const began = Date.now()
await mkdir(screenshots, { recursive: true })
const seeded = async () => {
  const server = await start('--test-controls', '--private-webhooks', '--seed', fileURLToPath(new URL('seed.yaml', import.meta.url)))
  return { server, ids: await furnish(server) }
}
// run goes on after a failure: one run says all that is wrong.
const run = async (name, what) => {
  if (only && !only.split(' ').includes(name)) return
  try {
    await what()
  } catch (error) {
    console.error(`FAILED: ${name}: ${error.stack}`)
    process.exitCode = 1
  }
}

try {
  // Two rows of tests side by side, each with a server of its own: what one does, the other does not see.
  const [one, other] = await Promise.all([seeded(), seeded()])
  const first = async () => {
    await run('pages', () => pages(one.server, one.ids))
    await run('thousands', () => thousands(one.server))
  }
  const second = async () => {
    const { server, ids } = other
    await run('signIn', () => signIn(server))
    await run('denied', () => denied(server))
    await run('shell', () => shell(server))
    await run('keyboard', () => keyboard(server))
    await run('jobs', () => jobs(server, ids))
    await run('pods', () => pods(server))
    await run('endpoints', () => endpoints(server))
    await run('resources', () => resources(server))
    await run('controls', () => controls(server))
    await run('login', () => login(server))
    await run('states', () => states(server))
    await run('busy', () => busy())
    await run('empty', () => empty())
    await run('realShell', async () => realShell(await start('--runtime', 'process', '--process-accept', 'commands', '--endpoint', 'box=sleep 3600')))
    await run('newcomer', () => newcomer(() => start('--test-controls', '--endpoint', `echo=${berth} worker --handler echo`, '--endpoint', 'nobody=')))
  }
  await Promise.all([first(), second()])
  console.log(`the console: all of it in ${Math.round((Date.now() - began) / 1000)} s`)
} finally {
  await close()
  process.exit()
}
