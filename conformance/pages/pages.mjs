// Opens each page of a server in headless Chromium, sends a request from the reference and a document from the playground, and
// fails at whatever the console calls an error, and at a request to anywhere else.
//
//   node pages.mjs BERTH CHROMIUM DIRECTORY_OF_SCREENSHOTS
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const [berth, executablePath, screenshots] = process.argv.slice(2)
const patience = 60_000 // milliseconds, for a busy machine
const scratch = await mkdtemp(join(tmpdir(), 'berth-pages-'))
await mkdir(screenshots, { recursive: true })
const servers = []
let browser

// start gives what a server prints once it is ready: url, key and more.
async function start(command, ...args) {
  const data = join(scratch, `data-${servers.length}`)
  const child = spawn(berth, [command, '--json', '--listen', '127.0.0.1:0', '--data', data, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(child)
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line)
  throw new Error(`berth ${command} ended`)
}

// open gives a tab at the address, and what went wrong in it.
async function open(server, path) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 1000 } })).newPage()
  page.setDefaultTimeout(patience)
  const wrong = []
  page.on('console', message => message.type() === 'error' && wrong.push(`console: ${message.text()} ${message.location().url}`))
  page.on('pageerror', error => wrong.push(`error: ${error}`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.protocol !== 'data:' && url.protocol !== 'blob:' && url.origin !== server.url) wrong.push(`request to elsewhere: ${url}`)
  })
  page.on('websocket', socket => wrong.push(`socket to ${socket.url()}`))
  await page.goto(server.url + path)
  return { page, wrong }
}

async function done({ page, wrong }, name) {
  await page.screenshot({ path: join(screenshots, `${name}.png`) })
  assert.deepEqual(wrong, [], name)
  await page.context().close()
  console.log(`ok: ${name}`)
}

async function operations(server, path) {
  const document = await (await fetch(server.url + path)).json()
  return Object.values(document.paths).flatMap(item => Object.values(item).filter(of => of.operationId)).length
}

// lists checks that a page of the reference shows every operation of its document.
async function lists(server, name, path) {
  const tab = await open(server, `/docs/${name}`)
  const want = await operations(server, path)
  assert(want > 0)
  await tab.page.locator('.opblock').nth(want - 1).waitFor()
  assert.equal(await tab.page.locator('.opblock').count(), want)
  await done(tab, name)
}

async function authorize(page, key) {
  await page.locator('button.authorize').first().click()
  await page.locator('.modal-ux input').fill(key)
  await page.locator('.modal-ux button.authorize').click()
  await page.locator('.modal-ux button.btn-done').click()
}

// createsAPod sends createPod from the page and reads the pod over REST.
async function createsAPod(server) {
  const tab = await open(server, '/docs/rest')
  const { page } = tab
  await page.locator('.opblock').first().waitFor()
  await authorize(page, server.key)
  const block = page.locator('.opblock').filter({ has: page.locator('.opblock-summary-method', { hasText: 'POST' }) })
    .filter({ has: page.locator('[data-path="/v2/pods"]') })
  await block.locator('.opblock-summary-control').first().click()
  await block.locator('textarea.body-param__text').fill(JSON.stringify({ name: 'from the page', image: 'ubuntu:24.04', cpu: { id: 'cpu3g', vcpuCount: 2 } }))
  await block.locator('button.execute').click()
  const answer = block.locator('.live-responses-table .response').first()
  await answer.locator('.response-col_status', { hasText: '201' }).waitFor()
  const { id } = JSON.parse(await answer.locator('.highlight-code code, .microlight').first().innerText())
  const pod = await fetch(`${server.url}/v2/pods/${id}`, { headers: { Authorization: `Bearer ${server.key}` } })
  assert.equal(pod.status, 200)
  assert.equal((await pod.json()).name, 'from the page')
  await answer.scrollIntoViewIfNeeded()
  await done(tab, 'createPod')
}

async function index(server, name, links) {
  const tab = await open(server, '/docs/reference')
  assert.deepEqual(await tab.page.locator('td:first-child a').evaluateAll(all => all.map(a => a.getAttribute('href'))), links)
  await done(tab, name)
}

// site reads the documentation: its search finds a setting and a page, and leads there.
async function site(server) {
  const tab = await open(server, '/docs')
  const { page } = tab
  await page.keyboard.press('/')
  await page.keyboard.type('queue-listen')
  const first = page.locator('#found li a').first()
  await first.waitFor()
  assert.equal(await first.getAttribute('href'), '/docs/settings#queue-listen')
  await first.click()
  await page.waitForURL('**/docs/settings#queue-listen')
  await page.locator('#search').fill('in_queue for ever')
  await page.locator('#found li a[href^="/docs/troubleshooting"]').first().waitFor()
  await page.keyboard.press('Escape')
  await page.locator('#found').waitFor({ state: 'hidden' })
  assert.equal(await page.locator('.pages a[aria-current=page]').count(), 1)
  await done(tab, 'site')

  const dark = await open(server, '/docs/start')
  await dark.page.emulateMedia({ colorScheme: 'dark' })
  await dark.page.setViewportSize({ width: 420, height: 800 })
  await dark.page.locator('.pages summary').click()
  assert(await dark.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the window')
  await done(dark, 'site-narrow-dark')
}

async function licenses(server) {
  const tab = await open(server, '/docs/reference')
  await tab.page.locator('.note a').click()
  await tab.page.locator('text=Apache License').first().waitFor()
  await done(tab, 'licenses')
}

async function playground(server) {
  const tab = await open(server, '/graphql')
  const { page } = tab
  await page.locator('[name=key]').fill(server.key)
  await page.locator('[name=query]').fill('mutation($in: PodFindAndDeployOnDemandInput) { podFindAndDeployOnDemand(input: $in) { id name } }')
  await page.locator('[name=variables]').fill(JSON.stringify({ in: { name: 'played', imageName: 'ubuntu:24.04', gpuTypeId: 'NVIDIA L4', gpuCount: 1, cloudType: 'ALL' } }))
  await page.locator('button').click()
  await page.locator('pre', { hasText: '200' }).waitFor()
  const body = JSON.parse((await page.locator('pre').innerText()).split('\n').slice(1).join('\n'))
  assert.equal(body.errors, undefined, JSON.stringify(body))
  const made = await (await fetch(`${server.url}/v2/pods/${body.data.podFindAndDeployOnDemand.id}`, { headers: { Authorization: `Bearer ${server.key}` } })).json()
  assert.equal(made.name, 'played')
  await done(tab, 'playground')
}

try {
  const [serve, dev] = await Promise.all([start('serve', '--test-controls'), start('dev', '--', 'sleep', '3600')])
  browser = await chromium.launch({ executablePath, timeout: 2 * patience, args: process.getuid() === 0 ? ['--no-sandbox'] : [] })
  await index(serve, 'index', ['/docs/rest', '/docs/queue', '/docs/worker', '/docs/controls'])
  await licenses(serve)
  await site(serve)
  await lists(serve, 'rest', '/v2/openapi.json')
  for (const name of ['queue', 'worker', 'controls']) await lists(serve, name, `/openapi/${name}.json`)
  await createsAPod(serve)
  await index(dev, 'index-dev', ['/docs/rest', '/docs/queue', '/docs/worker', '/graphql'])
  await playground(dev)
} finally {
  await browser?.close()
  await Promise.all(servers.map(child => child.exitCode ?? new Promise(ended => child.on('exit', ended) && child.kill())))
  await rm(scratch, { recursive: true, force: true })
}
