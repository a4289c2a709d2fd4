import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { services } from '../../src/application/services.ts'
import { createOperator } from './support/commands.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('the command line of releases', () => {
  const folder = temporaryFolder()
  const operator = createOperator({ RELEASE_FOLDER: folder })
  const names = services.map(({ role }) => role)

  function exported(service: string, vars: Record<string, string>): void {
    mkdirSync(join(folder, service), { recursive: true })
    writeFileSync(join(folder, service, 'config-vars.json'), JSON.stringify(vars))
  }

  it('refuses an unknown service, and lists all services', async () => {
    for (const [args, problem] of [
      [['ps'], 'the name of a service is missing'],
      [['ps', 'nothing', '--app', 'my-app'], 'unknown service nothing'],
    ] as const) {
      const { status, output } = await operator.orderflow(...args)
      expect(output).to.equal(`error: ${problem}\nnext: ./orderflow ps NAME; NAME is one of ${names.join(', ')}\n`)
      expect(status).to.equal(1)
    }
  })

  it('exports a service’s config vars and lists missing ones', async () => {
    const { status, output } = await operator.orderflow('export', 'payment')
    expect(output)
      .to.match(/payment-service\/config-vars\.json +\d+ config vars/)
      .and.match(/- Stream__Brokers: is missing/)
    expect(output).to.match(/next: \.\/orderflow release payment --app /)
    expect(status).to.equal(0)
  })

  it('creates topics with the settings of the named service, or else of the first service', async () => {
    exported('order-service', { Stream__Brokers: 'x:1', Stream__SaslMechanism: 'of-orders' })
    exported('payment-service', { Stream__Brokers: 'x:1', Stream__SaslMechanism: 'of-payments' })
    expect((await operator.orderflow('release-topics')).output).to.match(/error: Stream__SaslMechanism: of-orders /)
    expect((await operator.orderflow('release-topics', '--service', 'payment-service')).output).to.match(
      /error: Stream__SaslMechanism: of-payments /,
    )
    expect((await operator.orderflow('release-topics', '--service', 'payment')).output).to.include(
      'error: SERVICE (payment) is not a service\nnext: use one of order-service, payment-service, event-gateway',
    )
  })

  it('changes nothing if DRY_RUN is ambiguous', async () => {
    const rollBack = (dryRun: string) =>
      operator.makeWith({ env: { ACCESS_TOKEN: 'a-token' } }, 'rollback-order', 'APP=my-app', `DRY_RUN=${dryRun}`)
    expect((await rollBack('maybe')).output).to.include('error: DRY_RUN (maybe) must mean yes or no\nnext: ')
    expect((await rollBack('0')).output).to.include('error: this folder has no release of my-app')
  })

  it('prefers options to variables', async () => {
    const rollBack = (...options: string[]) =>
      operator.orderflowWith(
        { env: { ACCESS_TOKEN: 'a-token', APP: 'another-app', DRY_RUN: 'maybe' } },
        ...['rollback', 'order', '--app', 'my-app', ...options],
      )
    expect((await rollBack('--dry-run')).output).to.include('error: this folder has no release of my-app')
    expect((await rollBack('--dry-run=no')).output).to.include('error: this folder has no release of my-app')
    expect((await rollBack('--dry-run=perhaps')).output).to.include('error: rollback: --dry-run=perhaps is neither')
    expect((await rollBack('--token=secret')).output).to.include('error: rollback: unknown option --token\nnext: ')
  })
})
