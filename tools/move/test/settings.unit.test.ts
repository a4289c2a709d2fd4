import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { sideOf } from '../log/settings.ts'

const cluster = {
  Stream__Brokers: 'a:9092,b:9092',
  Stream__AuthType: 'password',
  Stream__SaslMechanism: 'SHA-512',
  Stream__SaslUsername: 'mover',
  Stream__SaslPassword: 'secret',
}
const containers = { KAFKA_OPERATOR_PASSWORD: 'secret', KAFKA_CERTIFICATE: 'AAAA' }
const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

describe('sideOf', () => {
  let folder: string
  let stack: string | undefined
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-side-'))
    writeFileSync(join(folder, 'services.json'), '{ "portOffset": 2000, "services": {} }')
    stack = process.env.STACK
    delete process.env.STACK
  })
  afterEach(() => {
    rmSync(folder, { recursive: true })
    if (stack !== undefined) process.env.STACK = stack
  })

  /** Reads variables from the settings of a cluster, or from the `.env` of containers. */
  function side(file: 'new.env' | '.env', variables: Record<string, string>) {
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(folder, file), lines.join(''))
    return sideOf(folder, file === '.env' ? undefined : join(folder, file))
  }

  it('reads the connection to a cluster, with all lines of a quoted certificate', () => {
    const { kafka } = side('new.env', { ...cluster, Stream__CaCert: `"${certificate}"` })
    expect(kafka).to.deep.equal({
      bootstrapBrokers: ['a:9092', 'b:9092'],
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'mover', password: 'secret' },
      tls: { ca: certificate },
    })
  })

  it('reads the keys of signatures', () => {
    const since = '2026-11-21T10:00:00Z'
    const expected = { signingKeys: ['new', 'old'], signedSince: Date.parse(since) }
    const variables = { Trust__SigningKeys: 'new,old', Trust__SignedSince: since }
    expect(side('new.env', { ...cluster, ...variables })).to.deep.include(expected)
    expect(side('.env', { ...containers, SIGNING_KEYS: 'new,old', SIGNED_SINCE: since })).to.deep.include(expected)
    expect(side('.env', containers)).to.deep.include({ signingKeys: [], signedSince: Number.NEGATIVE_INFINITY })
  })

  it('connects to the port of containers, which depends on the application', () => {
    expect(side('.env', containers).kafka.bootstrapBrokers).to.deep.equal(['localhost:11092'])
    expect(side('.env', { ...containers, KAFKA_PORT: '4711' }).kafka.bootstrapBrokers).to.deep.equal(['localhost:4711'])
  })

  const failures: Record<string, [file: 'new.env' | '.env', variables: Record<string, string>, error: RegExp]> = {
    'no address': ['new.env', {}, /Stream__Brokers is missing\nnext: correct this file \(components\/README\.md/],
    'no password': [
      'new.env',
      { ...cluster, Stream__SaslPassword: '' },
      /Stream__SaslPassword is missing\nnext: correct/,
    ],
    'an unknown mechanism': [
      'new.env',
      { ...cluster, Stream__SaslMechanism: 'SCRAM' },
      /Stream__SaslMechanism: SCRAM is not supported\nnext: correct this file/,
    ],
    'an unknown authentication': [
      'new.env',
      { ...cluster, Stream__AuthType: 'Password' },
      /Stream__AuthType: Password is not supported\nnext: correct this file/,
    ],
    'a certificate without quotes': [
      'new.env',
      { ...cluster, Stream__CaCert: certificate },
      /Stream__CaCert is not a certificate in PEM\nnext: write all lines of the certificate, in quotes/,
    ],
    'an invalid time of signatures': [
      'new.env',
      { ...cluster, Trust__SignedSince: '2026-11-21' },
      /Trust__SignedSince must be a date-time .*\nnext: correct this variable \(docs\/trust\.md\)/s,
    ],
    'an invalid time of signatures of containers': [
      '.env',
      { ...containers, SIGNED_SINCE: 'yesterday' },
      /SIGNED_SINCE must be a date-time .*\nnext: correct this variable/s,
    ],
    'no password of the operator': [
      '.env',
      { ...containers, KAFKA_OPERATOR_PASSWORD: '' },
      /KAFKA_OPERATOR_PASSWORD is missing\nnext: run make up and then make down in \//,
    ],
    'no certificate of the broker': [
      '.env',
      { KAFKA_OPERATOR_PASSWORD: 'x' },
      /KAFKA_CERTIFICATE is missing\nnext: run/,
    ],
  }
  for (const [title, [file, variables, error]] of Object.entries(failures)) {
    it(`refuses settings with ${title}`, () => {
      const failure = failureOf(() => side(file, variables))
      expect(failure).to.match(error)
      expect(failure.startsWith(`${join(folder, file)}: `), failure).to.equal(true)
    })
  }

  it('refuses a missing file of settings', () => {
    expect(failureOf(() => sideOf(folder, join(folder, 'none.env')))).to.match(
      /\/none\.env cannot be read: ENOENT.*\nnext: write the variables of the Kafka cluster into this file/,
    )
  })
})

function failureOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof CliError) return `${error.message}\nnext: ${error.nextStep}`
    throw error
  }
  return 'no failure'
}
