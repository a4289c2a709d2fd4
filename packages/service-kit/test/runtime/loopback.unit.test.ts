import { expect } from 'chai'
import { bypassProxies } from '../../src/runtime/process/loopback.ts'

const loopback = 'localhost,127.0.0.1,::1,[::1]'

describe('bypassProxies', () => {
  for (const [env, lower, upper = lower] of [
    [{}, loopback],
    [{ no_proxy: '', NO_PROXY: '' }, loopback],
    [{ no_proxy: 'corp.example' }, `corp.example,${loopback}`],
    [{ NO_PROXY: 'corp.example, 10.0.0.1' }, `corp.example,10.0.0.1,${loopback}`],
    [
      { no_proxy: 'localhost,a.example', NO_PROXY: 'b.example' },
      'localhost,a.example,127.0.0.1,::1,[::1]',
      `b.example,${loopback}`,
    ],
    [{ NO_PROXY: '*' }, '*'],
  ] as [NodeJS.ProcessEnv, string, string?][]) {
    it(`adds loopback to the exceptions of ${JSON.stringify(env)}, in both variables`, () => {
      const changed = { ...env }
      bypassProxies(changed)
      expect(changed).to.deep.equal({ no_proxy: lower, NO_PROXY: upper })
      bypassProxies(changed)
      expect(changed).to.deep.equal({ no_proxy: lower, NO_PROXY: upper })
    })
  }
})
