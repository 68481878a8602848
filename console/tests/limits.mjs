// What is much, what is slow, and what is gone: ten thousand jobs, an empty server, one that does not answer, a shell.
import assert from 'node:assert/strict'
import { done, fair, go, open, settled, shot, start, until } from './harness.mjs'

// Long tasks of the browser are kept from the beginning of the page.
const watch = () => {
  window.long = []
  new PerformanceObserver(list => window.long.push(...list.getEntries().map(e => Math.round(e.duration)))).observe({ type: 'longtask', buffered: true })
}

// scrolled is how long the frames of an element took that is scrolled from end to end, in milliseconds, the shortest first.
const scrolled = async (element, count) => {
  const took = []
  element.scrollTop = 0
  for (let last = performance.now(), n = 0; n < count; n++) {
    element.scrollTop += element.scrollHeight / count
    await new Promise(requestAnimationFrame)
    took.push(performance.now() - last)
    last = performance.now()
  }
  return took.sort((a, b) => a - b)
}

// bareFrames are those of a page that has as many rows and nothing else: what the machine gives a browser just now.
async function bareFrames(page) {
  const bare = await page.context().newPage()
  await bare.setContent(`<div style="height: 700px; overflow: auto">${'<p>a buoy</p>'.repeat(10_000)}</div>`)
  const frames = await bare.locator('div').evaluate(scrolled, 90)
  await bare.close()
  return frames
}

const middle = frames => frames[frames.length >> 1]

// measured gives the frames of what is tested, and the middle one of a bare page. What the machine gives changes by the second: a bare page is looked
// at before and after, and what took too long is looked at again, up to three times.
async function measured(tested, bare) {
  for (let n = 1; ; n++) {
    const before = middle(await bare())
    const frames = await tested()
    const most = Math.max(before, middle(await bare()))
    if (n === 3 || middle(frames) < 5 * most) return [frames, most]
  }
}

export async function thousands(server) {
  const job = JSON.stringify({ input: { prompt: 'a buoy' } })
  const submit = async () => {
    for (let n = 0; n < 500; n++) {
      const answer = await fetch(`${server.url}/v2/consoleblocked/run`, { method: 'POST', headers: { Authorization: 'Bearer the-key-of-the-console-tests', 'Content-Type': 'application/json' }, body: job })
      assert.equal(answer.status, 200)
      await answer.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: 20 }, submit))
  const tab = await open(server, '/jobs')
  const { page } = tab
  await settled(page)
  const table = page.getByRole('table', { name: 'Jobs' })
  await until('all jobs are listed', async () => {
    await table.evaluate(e => (e.scrollTop = e.scrollHeight))
    return /10,0\d\d jobs/.test(await page.locator('.jobbar').innerText())
  })
  assert((await page.locator('.table .rows .row').count()) < 100, 'only the rows that are seen are drawn')
  await page.evaluate(watch)
  const [frames, bare] = await measured(async () => {
    await page.bringToFront()
    await page.evaluate(() => (window.long.length = 0))
    return table.evaluate(scrolled, 90)
  }, () => bareFrames(page))
  const long = await page.evaluate(() => window.long)
  await shot(tab, 'jobs-10000')
  console.log(`10,000 jobs, scrolled from end to end: half of the frames within ${middle(frames).toFixed(0)} ms, the longest ${frames.at(-1).toFixed(0)} ms, on a bare page half within ${bare.toFixed(0)} ms; long tasks: ${long.join(', ') || 'none'}`)
  assert(middle(frames) < 5 * bare, 'half of the frames took longer than five of a bare page')
  await done(tab, 'ten thousand jobs')
}

// A thousand submissions a second for a while: the page goes on drawing, and answers.
export async function busy() {
  const server = await start('--endpoint', 'nobody=')
  const id = server.endpoints.nobody
  const tab = await open(server, '/jobs', { keys: `key=${server.key}` })
  const { page } = tab
  await settled(page)

  const body = JSON.stringify({ input: { prompt: 'a buoy' } })
  const began = Date.now()
  let submitted = 0, over = false
  const submit = async () => {
    while (submitted < 5000 || !over) {
      const early = submitted++ - (Date.now() - began) // in milliseconds, at one each
      if (early > 0) await new Promise(due => setTimeout(due, early))
      const answer = await fetch(`${server.url}/v2/${id}/run`, { method: 'POST', headers: { Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/json' }, body })
      assert.equal(answer.status, 200)
      await answer.arrayBuffer()
    }
  }
  const load = Promise.all(Array.from({ length: 16 }, submit))
  const drawn = page => page.evaluate(async () => {
    const took = []
    for (let last = performance.now(), began = last; last - began < 2000;) {
      await new Promise(requestAnimationFrame)
      took.push(performance.now() - last)
      last = performance.now()
    }
    return took.sort((a, b) => a - b)
  })
  const drawnEmpty = async () => {
    const empty = await page.context().newPage()
    const frames = await drawn(empty)
    await empty.close()
    await page.bringToFront()
    return frames
  }
  let frames, bare, answered
  try {
    [frames, bare] = await measured(() => drawn(page), drawnEmpty)
    const asked = Date.now()
    await page.getByRole('link', { name: 'Endpoints' }).click()
    await page.getByRole('link', { name: 'nobody' }).first().waitFor()
    answered = Date.now() - asked
  } finally {
    over = true
  }
  await load

  console.log(`${Math.round(submitted / (Date.now() - began) * 1000)} submissions a second: half of the frames within ${middle(frames).toFixed(0)} ms, 99 of 100 within ${frames[Math.floor(frames.length * 0.99)].toFixed(0)} ms, of an empty page half within ${bare.toFixed(0)} ms; another page after ${answered} ms`)
  assert(middle(frames) < 5 * bare, 'half of the frames took longer than five of an empty page')
  await done(tab, 'a busy queue')
}

export async function empty() {
  const server = await start('--test-controls')
  const tab = await open(server, '', { keys: `key=${server.key}&controls=${server.controlsKey}`, expected: /404.*pods\/none/ })
  const { page } = tab
  for (const [path, says] of [['', 'Nothing runs here yet'], ['/pods', 'There is no pod yet'], ['/endpoints', 'There is no endpoint yet'], ['/jobs', 'There is no job yet'], ['/workers', 'No worker is up'], ['/templates', 'There is no template yet'], ['/volumes', 'There is no network volume yet'], ['/secrets', 'There is no secret yet'], ['/faults', 'Nothing is scripted'], ['/webhooks', 'No webhook was sent'], ['/states', 'Nothing is saved yet'], ['/jobs/new', 'A job needs an endpoint'], ['/pods/none', 'There is no such thing']]) {
    await go(tab, path)
    await page.getByText(says).first().waitFor()
  }
  await go(tab, '')
  await fair(tab, 'empty')
  await shot(tab, 'empty')

  // First paint of a page that no cache has, and the server goes away.
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime)
  console.log(`first paint after ${Math.round(paint)} ms`)
  await done(tab, 'an empty server')

  const away = await open(server, '/pods', { keys: `key=${server.key}`, expected: /ERR_|Failed to load/ })
  await settled(away.page)
  server.child.kill('SIGKILL')
  await away.page.getByText('The server does not answer').waitFor()
  await away.page.getByRole('button', { name: 'Try now' }).click()
  await away.page.getByText('The server does not answer').waitFor()
  await fair(away, 'away')
  await shot(away, 'away')
  await done(away, 'a server that went away')
}

// The shell speaks with what answers like a server, as a test has no pod with a real one.
export async function shell(server) {
  const tab = await open(server, '/pods/consolenoteb01?tab=shell', { keys: '' })
  const { page } = tab
  const got = []
  await page.routeWebSocket(/\/exec/, socket => {
    const say = (channel, text) => socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
    got.push(socket.url())
    setTimeout(() => say(1, 'root@notebook:~# '), 50)
    socket.onMessage(message => {
      const data = Buffer.from(message)
      if (data[0] !== 0) return
      const text = data.subarray(1).toString()
      got.push(text)
      if (text === '\x04') {
        say(3, JSON.stringify({ exitCode: 3 }))
        socket.close()
      } else say(1, text === '\r' ? '\r\nhello from \x1b[32mthe pod\x1b[0m\r\nroot@notebook:~# ' : text)
    })
  })
  await page.getByLabel('API key').fill('the-key-of-the-console-tests')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const screen = page.locator('.xterm-rows')
  await screen.getByText('root@notebook').waitFor()
  await page.locator('.term').click()
  await page.keyboard.type('echo')
  await page.keyboard.press('Enter')
  await screen.getByText('hello from').waitFor()
  await settled(page)
  await shot(tab, 'shell')
  await page.keyboard.press('Control+d')
  await page.getByText('The shell ended with 3.').waitFor()
  assert.match(got[0], /\/_berth\/pods\/consolenoteb01\/exec\?tty=true&stdin=true&width=\d+&height=\d+$/)
  assert.equal(got.slice(1, 6).join(''), 'echo\r')
  await fair(tab, 'shell')
  await done(tab, 'a shell')
}

// A shell in a pod that is a process of this machine: the server speaks for itself.
export async function realShell(server) {
  const tab = await open(server, '/pods/new', { keys: `key=${server.key}` })
  const { page } = tab
  await page.locator('[data-pointer="/name"]').fill('box')
  await page.locator('[data-pointer="/image"]').fill('box')
  await page.getByRole('button', { name: 'Create the pod' }).click()
  await page.locator('.titles .status', { hasText: 'Running' }).waitFor()
  await page.getByRole('tab', { name: 'Shell' }).click()
  const screen = page.locator('.xterm-rows')
  await until('a prompt', async () => /[#$]/.test(await screen.innerText()))
  await page.locator('.term').click()
  await page.keyboard.type('echo $((6*7)) from the shell')
  await page.keyboard.press('Enter')
  await screen.getByText('42 from the shell').waitFor()
  await shot(tab, 'shell-of-a-process')
  await page.keyboard.type('exit 3')
  await page.keyboard.press('Enter')
  await page.getByText('The shell ended with 3.').waitFor()
  await done(tab, 'a shell in a process')
}

// Somebody who has read nothing: from the link of the banner to a pod, a job, why another one waits, a frozen clock and a fault.
export async function newcomer(banner) {
  const server = await banner()
  const tab = await open(server, '', { keys: `key=${server.key}&controls=${server.controlsKey}`, expected: /503/ })
  const { page } = tab
  await page.getByRole('link', { name: 'Create a pod' }).first().click()
  await page.locator('[data-pointer="/name"]').fill('mine')
  await page.locator('[data-pointer="/image"]').fill('ubuntu:24.04')
  await page.getByRole('button', { name: 'Create the pod' }).click()
  await page.locator('.titles .status', { hasText: 'Running' }).waitFor()
  await page.getByRole('tab', { name: 'Shell' }).click()
  await page.getByText('what the server has is simulated').waitFor()

  await page.getByRole('link', { name: 'Endpoints' }).click()
  await page.getByRole('link', { name: 'echo' }).first().click()
  await page.getByRole('link', { name: 'Run a job' }).click()
  await page.locator('[data-pointer="/input"]').fill('{"hello": "console"}')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.titles .status', { hasText: 'Completed' }).waitFor()
  await page.getByLabel('Output').getByText('"console"').waitFor()

  await page.getByRole('link', { name: 'Jobs', exact: true }).first().click()
  await page.getByRole('link', { name: 'Run a job' }).click()
  await page.getByLabel('Endpoint').selectOption({ label: (await page.getByLabel('Endpoint').locator('option').allInnerTexts()).find(t => t.startsWith('nobody')) })
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.why .because').waitFor()
  console.log(`why it waits: ${await page.locator('.why .because').innerText()}`)

  await page.getByRole('link', { name: 'Clock' }).click()
  await page.getByRole('button', { name: 'Freeze' }).click()
  await page.getByText('It stands still').waitFor()
  await page.getByRole('link', { name: 'Faults' }).click()
  await page.getByRole('button', { name: 'Script a fault' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Script it' }).click()
  await page.getByRole('row', { name: /createPod/ }).waitFor()
  await page.getByRole('link', { name: 'Pods', exact: true }).first().click()
  await page.getByRole('link', { name: 'Create a pod' }).first().click()
  await page.locator('[data-pointer="/name"]').fill('refused')
  await page.locator('[data-pointer="/image"]').fill('ubuntu:24.04')
  await page.getByRole('button', { name: 'Create the pod' }).click()
  await page.getByRole('alert').getByText('503').waitFor()

  await page.getByRole('link', { name: 'Journal' }).click()
  await page.getByRole('row', { name: /503 createPod/ }).waitFor()
  await page.getByRole('row', { name: /201 createPod/ }).waitFor()
  await page.getByRole('row', { name: /200 run / }).first().waitFor()
  await shot(tab, 'newcomer')
  await done(tab, 'somebody new')
}
