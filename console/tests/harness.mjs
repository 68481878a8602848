// What the tests of the console share: servers, tabs that tell of everything that goes wrong in them, and axe.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

export const [berth, executablePath, screenshots] = process.argv.slice(2)
const patience = 100_000 // milliseconds, for a busy machine
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const scratch = await mkdtemp(join(tmpdir(), 'berth-console-'))
const servers = []
let browser

export const key = 'the-key-of-the-console-tests'

// start gives what a server prints once it is ready: url, controlsKey and more; send asks it for something.
export async function start(...args) {
  const child = spawn(berth, ['serve', '--ephemeral', '--json', '--listen', '127.0.0.1:0', ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  servers.push(child)
  for await (const line of createInterface({ input: child.stdout })) return of(JSON.parse(line), child)
  throw new Error('berth serve ended')
}

function of(server, child) {
  server.child = child
  server.send = async (method, path, body, using = /^\/_berth\/(?!jobs|pods)/.test(path) ? server.controlsKey : key) => {
    const answer = await fetch(server.url + path, { method, headers: { Authorization: `Bearer ${using}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) }, body: body === undefined ? undefined : JSON.stringify(body) })
    const text = await answer.text()
    assert(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return text ? JSON.parse(text) : undefined
  }
  return server
}

export async function until(what, ask) {
  for (const began = Date.now(); ; await new Promise(done => setTimeout(done, 50))) {
    const found = await ask()
    if (found) return found
    assert(Date.now() - began < patience, `never: ${what}`)
  }
}

// open gives a tab that is signed in, and what went wrong in it. Answers that the test asks for are no errors: expected matches them.
export async function open(server, path = '', { theme = 'light', phone = false, keys = `key=${key}&controls=${server.controlsKey}`, expected = /^$/ } = {}) {
  browser ??= await chromium.launch({ executablePath, timeout: patience, args: process.getuid() === 0 ? ['--no-sandbox'] : [] })
  const context = await browser.newContext({ viewport: phone ? { width: 390, height: 844 } : { width: 1440, height: 900 }, colorScheme: theme, reducedMotion: 'reduce', deviceScaleFactor: phone ? 2 : 1 })
  const page = await context.newPage()
  page.setDefaultTimeout(patience)
  const wrong = []
  page.on('console', message => message.type() === 'error' && !expected.test(`${message.text()} ${message.location().url}`) && wrong.push(`console: ${message.text()} ${message.location().url}`))
  page.on('pageerror', error => wrong.push(`error: ${error}`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== server.url) wrong.push(`request to elsewhere: ${url}`)
    if (url.search.includes(key)) wrong.push(`a key in a query: ${url}`)
  })
  await page.goto(`${server.url}/console${path}${keys && `#${keys}`}`)
  if (keys) await page.locator('h1').first().waitFor()
  return { page, wrong, server, theme, phone }
}

// settled waits until nothing of the page is loading.
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('.loading') && document.querySelector('h1'))
  await page.waitForTimeout(80)
}

export async function shot({ page, theme, phone }, name) {
  await page.screenshot({ path: join(screenshots, `${name}-${theme}${phone ? '-phone' : ''}.png`) })
}

// fair holds the page against axe: in the dark what is of colours, since all else is the same there.
export async function fair(tab, name) {
  await tab.page.evaluate(axe)
  const found = await tab.page.evaluate(dark => window.axe.run(document, { resultTypes: ['violations'], ...(dark ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}) }), tab.theme === 'dark')
  tab.wrong.push(...found.violations.flatMap(v => v.nodes.map(n => `axe, ${name}: ${v.id}: ${n.target} ${n.failureSummary.split('\n').slice(1).join(' ').trim()}`)))
}

export async function done(tab, name) {
  assert.deepEqual(tab.wrong, [], name)
  await tab.page.context().close()
  console.log(`ok: ${name}`)
}

// go leads a tab to another page of the console without loading it anew.
export async function go(tab, path) {
  await tab.page.evaluate(to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')) }, `/console${path}`)
  await settled(tab.page)
}

export async function close() {
  // A browser that had a hundred tabs may not end by itself; it ends with this process.
  await Promise.race([browser?.close(), new Promise(late => setTimeout(late, 5000))])
  await Promise.all(servers.map(child => new Promise(ended => {
    if (child.exitCode !== null || child.signalCode !== null) return ended()
    child.on('exit', ended)
    child.kill()
  })))
  await rm(scratch, { recursive: true, force: true })
}
