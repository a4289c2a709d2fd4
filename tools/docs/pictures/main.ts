// `make -C tools pictures` takes the pictures of the README and of an alert from a real run.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { addressAt, defaultPorts, serviceNamed } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
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
