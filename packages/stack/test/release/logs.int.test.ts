import { expect } from 'chai'
import { eventually } from '../../src/base/run-tool.ts'
import { followLogs } from '../../src/release/logs.ts'
import { logLine } from './rehearsal/platform/log.ts'
import { contextFor, type FakePlatform, startFakePlatform } from './support/fake-platform.ts'

describe('./orderflow app-logs', () => {
  let fake: FakePlatform
  beforeEach(async () => {
    fake = await startFakePlatform()
  })
  afterEach(() => fake.close())

  const write = (text: string, dyno = 'web.1') => logLine(fake.app('my-app'), { source: 'app', dyno, text })

  it('shows each line once, even if a log session ends and another one begins', async () => {
    const context = contextFor(fake)
    write('line 0')
    const following = followLogs(context)
    const numbers = () => [...context.text().matchAll(/line (\d+)/g)].map((match) => Number(match[1]))
    for (let number = 1; number <= 60; number += 1) {
      write(`line ${number}`)
      if (number % 20 === 0) fake.endLogSessions()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await eventually(() => numbers().at(-1) === 60, 'the last line')
    context.stop()
    await following
    expect(numbers()).to.deep.equal(Array.from({ length: 61 }, (_, number) => number))
  })

  it('shows only lines of web processes, and masks secrets of the app', async () => {
    const context = contextFor(fake)
    await context.platform.patchConfigVars({ State__ConnectionString: 'mongodb://me:word-of-me@host/' })
    write('another', 'worker.1')
    write('cannot open mongodb://me:word-of-me@host/')
    const following = followLogs(context)
    await eventually(() => context.text().includes('cannot open'), 'the line')
    context.stop()
    await following
    expect(context.text()).to.match(/^\S+ app\[web\.1\]: cannot open \*\*\*\n$/)
  })

  it('fails with the reason if the platform refuses the request', async () => {
    const error = await followLogs(contextFor(fake, { token: 'wrong-token' })).catch((caught: unknown) => caught)
    expect(error).to.include({ code: 'platform', status: 401 })
  })
})
