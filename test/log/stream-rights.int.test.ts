import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { protocolErrors } from '@orderflow/kafka-log'
import { withGroupLock } from '@orderflow/service-kit/operations'
import { type KafkaConnection, kafkaPasswords } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { streamSettings } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { envelopeCommand } from '../specs/rights/envelope-command.ts'
import { streamRights } from '../specs/rights/stream-rights.ts'
import { streamUsers } from '../specs/rights/stream-users.ts'
import { type SecuredKafka, startSecuredKafka } from '../support/kafka/secured-kafka.ts'

describe('a Kafka that requires authentication', () => {
  let kafka: SecuredKafka
  before(async () => {
    kafka = await startSecuredKafka('stream-rights')
  })
  after(() => kafka?.stop())

  /** Runs the program setup with the settings of a connection. */
  function setUp(connection: KafkaConnection): Promise<{ stdout: string; code?: number }> {
    const program = join(repository, 'packages/stack/src/setup.ts')
    const variables = Object.entries(kafkaPasswords).map(([user, variable]) => [variable, kafka.passwords[user] ?? ''])
    const env = { ...process.env, ...streamSettings(connection), ...Object.fromEntries(variables) }
    return promisify(execFile)(process.execPath, [program], { env }).catch(
      (error: { stdout: string; code: number }) => error,
    )
  }

  it('makes setup explain how to use a Kafka that refuses users and rights', async () => {
    const { stdout, code } = await setUp(kafka.as('payment-service'))
    expect(code).to.equal(1)
    expect(stdout).to.contain('this Kafka refuses the users and rights of services: CLUSTER_AUTHORIZATION_FAILED')
    expect(stdout).to.contain('setup.enabled: false').and.to.contain('./orderflow acls')
  })

  it('makes setup explain at once how to replace a wrong password', async () => {
    const { stdout, code } = await setUp(kafka.as('operator', 'wrong'))
    expect(code).to.equal(1)
    expect(stdout).to.contain('Kafka refuses the user operator or the password')
    expect(stdout).to.contain('Stream__SaslPassword').and.to.contain('operator-secrets')
  })

  it('lets setup run as any user with all rights, without a certificate and a store', async () => {
    const { stdout, code } = await setUp(kafka.operator)
    expect(code).to.equal(undefined)
    expect(stdout).to.contain('users and rights: ready (0 rights added, 0 removed)').and.to.contain('topics: ready')
    expect(stdout).not.to.match(/certificate|replica set|databases/)
  })

  it('denies services the group by which commands wait for each other, with the error for which commands continue', async () => {
    const lock = { group: 'orderflow-replay', holder: 'replay', onWait: () => {} }
    const hold = (connection: KafkaConnection) => withGroupLock(connection, lock, async () => 'held')
    expect(await hold(kafka.operator)).to.equal('held')
    const refusal = await hold(kafka.as('payment-service')).catch((error: unknown) => error)
    expect(protocolErrors(refusal)).to.include('GROUP_AUTHORIZATION_FAILED')
  })

  streamUsers(() => kafka)
  streamRights(() => kafka)
  envelopeCommand(() => kafka)
})
