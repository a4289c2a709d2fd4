import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { services } from '../src/settings/services.ts'
import { createOperator } from './support/commands.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('a release command', () => {
  const folder = temporaryFolder()
  const operator = createOperator({ RELEASE_FOLDER: folder })
  const names = services.map((service) => service.name)

  /** As an export that a person went on writing in. */
  function exported(service: string, vars: Record<string, string>): void {
    mkdirSync(join(folder, service), { recursive: true })
    writeFileSync(join(folder, service, 'config-vars.json'), JSON.stringify(vars))
  }

  it('that does not exist is refused with those that do', async () => {
    const { status, output } = await operator.run('bash', [
      '-c',
      'packages/cli/node packages/release/src/cli.ts release-nothing',
    ])
    expect(output).to.equal(
      'error: unknown command release-nothing\n' +
        `next: one of export, release, rollback, ps, stop, start, open, logs, a dash, and one of ${names.join(', ')}\n`,
    )
    expect(status).to.equal(1)
  })

  it('exports a service’s config vars, and says which are to be filled in', async () => {
    const { status, output } = await operator.make('export-payment')
    expect(output)
      .to.match(/payment-service\/config-vars\.json +\d+ config vars/)
      .and.match(/- Stream__Brokers: is missing/)
    expect(output).to.match(/next: make release-payment APP=/)
    expect(status).to.equal(0)
  })

  it('makes the topics with the settings of the first service, or of the one that is named', async () => {
    exported('order-service', { Stream__Brokers: 'x:1', Stream__SaslMechanism: 'of-orders' })
    exported('payment-service', { Stream__Brokers: 'x:1', Stream__SaslMechanism: 'of-payments' })
    expect((await operator.make('release-topics')).output).to.match(/error: Stream__SaslMechanism: of-orders /)
    expect((await operator.make('release-topics', 'SERVICE=payment-service')).output).to.match(
      /error: Stream__SaslMechanism: of-payments /,
    )
    expect((await operator.make('release-topics', 'SERVICE=payment')).output).to.include(
      'error: SERVICE (payment) is not a service\nnext: one of order-service, payment-service, event-gateway',
    )
  })

  it('does nothing where DRY_RUN is neither a yes nor a no', async () => {
    const rollBack = (dryRun: string) =>
      operator.makeWith({ env: { ACCESS_TOKEN: 'a-token' } }, 'rollback-order', 'APP=my-app', `DRY_RUN=${dryRun}`)
    expect((await rollBack('maybe')).output).to.include('error: DRY_RUN (maybe) is neither a yes nor a no\nnext: ')
    expect((await rollBack('0')).output).to.include('error: no release of my-app was made')
  })
})
