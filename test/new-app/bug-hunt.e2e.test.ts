import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { anOrder, post } from '@orderflow/chaos/clients/api'
import { entryOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { localPorts } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { followDocument, stepsIn } from '../support/documents/follow-document.ts'
import { attachTo } from '../support/programs/inspector.ts'

const document = 'docs/bug-hunt.md'
const service = 'payment-service'
const file = `${service}/src/policy.ts`

describe(document, () => {
  const steps = stepsIn(document)
  const correction = steps.findLastIndex((step) => step.do === 'change' && step.path === file)
  const debug = { do: 'act', what: 'stops at the bug, and shows the amount', act: stopAtBug } as const
  const reader = followDocument(document, steps.toSpliced(correction, 0, debug))

  /** Does what the reader does in the debugger. */
  async function stopAtBug(): Promise<void> {
    const { copy, env, offset } = reader()
    const inspector = await attachTo(entryOf(localPorts(env).inspectors, service))
    await inspector.send('Debugger.enable')
    const path = join(copy.folder, file)
    const lineNumber = readFileSync(path, 'utf8')
      .split('\n')
      .findIndex((line) => line.includes('decimalsOf(amount)'))
    await inspector.send('Debugger.setBreakpointByUrl', { url: pathToFileURL(path).href, lineNumber })
    const paused = inspector.next('Debugger.paused')
    await post(`http://localhost:${5000 + offset}/v1/orders`, { ...anOrder, total: 7 })
    const { callFrames } = (await paused) as { callFrames: { callFrameId: string }[] }
    const { result } = (await inspector.send('Debugger.evaluateOnCallFrame', {
      callFrameId: callFrames[0]?.callFrameId,
      expression: 'amount',
    })) as { result: { value: unknown } }
    await inspector.send('Debugger.resume')
    inspector.close()
    expect(result.value).to.equal(7)
  }

  it('leaves no open dead letter', async () => {
    const { copy, env } = reader()
    await eventually(async () => {
      const { stdout } = await copy.run('./orderflow', ['dead-letters', 'list', `handler-error/${service}`], env)
      return !/\bopen\b/.test(stdout)
    }, 'a list without open dead letters')
  })
})
