import { execFileSync } from 'node:child_process'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'

/** Returns the arguments that a target passes to ./orderflow. A program that prints its arguments takes the place of ./orderflow. */
function argumentsOf(target: string, variables: Record<string, string>): string[] {
  const given = Object.entries(variables).map(([name, text]) => `${name}=${text}`)
  const printed = execFileSync('make', ['-s', target, "orderflow=printf '%s\\n'", ...given], {
    cwd: repository,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return printed.toString().split('\n').slice(0, -1)
}

describe('make', () => {
  const id = '8faf08da'
  const group = 'handler-error/order-service'
  const cases: [target: string, variables: Record<string, string>, args: string[]][] = [
    ['dead-letters', {}, []],
    ['dead-letters', { LIST: group }, ['list', group]],
    ['dead-letters', { SHOW: id }, ['show', id]],
    ['dead-letters', { SHOW: id, VALUES: '1' }, ['show', id, '--values=1']],
    ['dead-letters', { REPLAY: group }, ['replay', group]],
    ['dead-letters', { REPLAY: 'all', DRY_RUN: '1' }, ['replay', 'all', '--dry-run=1']],
    ['dead-letters', { REPLAY: id, EDIT: '1', DRY_RUN: '1' }, ['replay', id, '--dry-run=1', '--edit=1']],
    ['dead-letters', { REPLAY: id, FILE: 'e.json' }, ['replay', id, '--file', 'e.json']],
    [
      'dead-letters',
      { REPLAY: id, FILE: 'e.json', ATTEMPT: 'orderevents/2/17' },
      ['replay', id, '--file', 'e.json', '--attempt', 'orderevents/2/17'],
    ],
    ['dead-letters', { REPLAY: 'a b', DRY_RUN: '' }, ['replay', 'a b']],
    ['dead-letters', { REPLAY: 'all', DRY_RUN: '0' }, ['replay', 'all', '--dry-run=0']],
    ['dead-letters', { REPLAY: 'all', DRY_RUN: 'a b' }, ['replay', 'all', '--dry-run=a b']],
    ['rebuild', {}, ['']],
    ['logs', {}, []],
    ['logs', { SERVICE: 'order-service', FOLLOW: '0' }, ['order-service', '--follow=0']],
    ['new-service', { NAME: 'shipping-service' }, ['shipping-service']],
    ['dev', {}, []],
    [
      'dev',
      { SERVICE: 'order-service payment-service', INSPECT: '1' },
      ['order-service', 'payment-service', '--inspect=1'],
    ],
    ['rebuild', { SERVICE: 'order-service' }, ['order-service']],
    [
      'rebuild',
      { SERVICE: 'payment-service', TO: '2026-11-21T11:00Z', FROM: '2026-11-21T10:00Z', TOPIC: 'orderevents' },
      ['payment-service', '--topic', 'orderevents', '--from', '2026-11-21T10:00Z', '--to', '2026-11-21T11:00Z'],
    ],
  ]
  for (const [target, variables, args] of cases) {
    const said = Object.entries(variables).map(([name, text]) => `${name}=${text}`)
    it(`${[target, ...said].join(' ')} runs ${target} with "${args.join(' ')}"`, () => {
      expect(argumentsOf(target, variables)).to.deep.equal([target, ...args])
    })
  }

  it('refuses an unknown target, and names the command that lists all', () => {
    expect(() => argumentsOf('demoo', {})).to.throw('there is no target demoo: make help lists all')
  })

  for (const name of ['STAK', 'DRYRUN', 'stack']) {
    it(`refuses the unknown variable ${name}, and lists all`, () => {
      expect(() => argumentsOf('up', { [name]: 'local' })).to.throw(
        new RegExp(`there is no variable ${name}: choose from .* DRY_RUN .* STACK `),
      )
    })
  }

  it('accepts settings, variables of commands, and words with = in a value', () => {
    const given = {
      Policy__ApproveUpTo: '5',
      Auth__Mode: 'open',
      PORT_OFFSET: '1000',
      ORDER_HTTP_PORT: '1',
      OTEL_SDK_DISABLED: 'true',
    }
    expect(argumentsOf('logs', { ...given, SERVICE: 'a STAK=b' })).to.deep.equal(['logs', 'a STAK=b'])
  })

  it('leaves the variables of other Makefiles to them', () => {
    const env = { PATH: process.env.PATH }
    const args = ['-s', '-n', '-C', 'tools', 'language', 'PART=docs']
    expect(execFileSync('make', args, { cwd: repository, env }).toString()).to.contain('tools/language/main.ts')
  })
})
