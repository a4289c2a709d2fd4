// `make -C tools pictures` takes the pictures of the README and of an alert from a real run.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { addressAt, defaultPorts, eventually, repository, serviceNamed } from '@orderflow/cli'

import { openBrowser } from '@orderflow/cli/browser'
import { execute } from '@orderflow/test/browser'
import { copyRepository } from '@orderflow/test/repository-copy'
import { takeMonitor } from './monitor.ts'
import { takeAlert, takeTrace, unpayable, untilScraped } from './observed.ts'
import { record } from './recording.ts'
import { terminalSvg } from './terminal-svg.ts'

const folder = join(repository, 'docs/pictures')
const copy = copyRepository()
try {
  const recording = await record(['make up STACK=local', 'make demo'], copy.folder)
  writeFileSync(
    join(folder, 'terminal.svg'),
    terminalSvg(recording, 'A terminal: make up starts the system, make demo pays an order'),
  )
  const { url } = addressAt('localhost', serviceNamed('order-service'))
  await takePage(url)
  const prometheus = `http://localhost:${defaultPorts.prometheus}`
  await copy.run('make', ['observe'])
  await takeTrace(url)
  await untilScraped(prometheus)
  const publish = (event: object) => {
    copy.write('event.json', JSON.stringify(event))
    return copy.run('./orderflow', ['publish', 'event.json', '--raw'])
  }
  await publish(unpayable)
  await takeAlert(prometheus)
  await takeMonitor({ orders: url, publish })
} finally {
  await copy.run('make', ['down'])
  copy.remove()
}

/** Takes a picture of order-service’s page with a placed order. */
async function takePage(url: string): Promise<void> {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 960, height: 2000 } })
    await page.goto(`${url}/`)
    const placed = await execute(page, 'POST /v1/orders')
    await placed.locator('.opblock-summary-control').click()
    const arePaid = async () => !(await (await fetch(`${url}/v1/orders`)).text()).includes('"Created"')
    await eventually(arePaid, 'all orders are paid')
    const read = await execute(page, 'GET /v1/orders/{id}')
    const top = await page.locator('.opblock-tag').first().boundingBox()
    const end = await read.locator('.live-responses-table .highlight-code').first().boundingBox()
    if (!top || !end) throw new Error(`${url} shows no answer`)
    const clip = { x: 0, y: top.y, width: 960, height: end.y + end.height + 10 - top.y }
    await page.screenshot({ path: join(folder, 'page.png'), clip })
  } finally {
    await browser.close()
  }
}
