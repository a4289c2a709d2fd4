import type { Demo } from '@orderflow/service-kit/application'
import { application } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { checkDemo } from '../../src/commands/work/check-demo.ts'

describe('checkDemo', () => {
  const demo = application.demo as Demo
  const wrong: [change: Partial<Demo>, message: RegExp][] = [
    [{ body: { ...demo.body, total: 'much' } }, /total/],
    [{ body: {} }, /total/],
    [{ body: { ...demo.body, total: -1 } }, /total/],
    [{ post: '/v1/order' }, /there is no operation POST \/v1\/order$/],
    [{ get: '/v1/order/{id}' }, /there is no operation GET /],
  ]
  for (const [change, message] of wrong) {
    it(`refuses a demo with ${JSON.stringify(change)}`, async () => {
      const failure = await checkDemo({ ...demo, ...change }).catch((error) => error)
      expect(failure).to.be.instanceOf(CliError).with.property('message').that.matches(message)
    })
  }

  it('accepts the demo of services.json, and an application without a demo', async () => {
    await checkDemo(demo)
    await checkDemo(undefined)
  })
})
