// Measures the cost of checking an event’s publisher: packages/cli/node tools/bench/signatures.ts (docs/adr/0021)
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from 'node:crypto'
import { createEnvelope, orderEvents, parseEnvelope } from '@orderflow/envelope-schema'
import { readTrust, type TrustSettings } from '@orderflow/service-kit'
import { publisherOf } from '@orderflow/service-kit/testing'
import { median } from './report/statistics.ts'

const rounds = 9
const perRound = 20_000

const service = publisherOf('OrderCreated')
const root = new URL('../../order-service/', import.meta.url)
const settings = {
  File: '../../components/trust/trust.json',
  Publishers: '../../components/trust/publishers.json',
  SigningKeys: 'k'.repeat(32),
  SignedSince: '',
}

const event = createEnvelope({
  app: service,
  type: 'OrderCreated@1',
  creationDate: new Date(),
  payload: { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'GB-123456789', Total: 42.5 },
})
const value = Buffer.from(JSON.stringify(event))
const outside = { ...event, AppId: randomUUID(), AppName: 'older-application' }

const trusted = (changes: Partial<TrustSettings> = {}) => readTrust(root, { ...settings, ...changes })
const [signing, silent] = [trusted(), trusted({ SigningKeys: '' })]
const signature = signing.sign(orderEvents, event, value)
const evidence = { value, signature, appendedAt: Date.now() }

const pair = generateKeyPairSync('ed25519')
const privateKey = createPrivateKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
const publicKey = createPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' }))
const ed25519 = sign(null, value, privateKey)

const cases: Record<string, () => unknown> = {
  'the envelope parsed (for comparison)': () => parseEnvelope(value),
  'the check of an application outside': () => silent.requireTrusted(orderEvents, outside, evidence),
  'the check of a service of ours, without keys': () => silent.requireTrusted(orderEvents, event, evidence),
  'HMAC-SHA-256, sign (publishing)': () => signing.sign(orderEvents, event, value),
  'HMAC-SHA-256, verify (receiving)': () => signing.requireTrusted(orderEvents, event, evidence),
  'Ed25519, sign': () => sign(null, value, privateKey),
  'Ed25519, verify': () => verify(null, value, publicKey, ed25519),
}

/** Returns the median processor time of each case in microseconds. */
function measure(): Map<string, number> {
  const times = new Map(Object.keys(cases).map((name) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(cases)) {
      const before = process.cpuUsage()
      for (let count = 0; count < perRound; count += 1) work()
      const { user, system } = process.cpuUsage(before)
      times.get(name)?.push((user + system) / perRound)
    }
  }
  return new Map([...times].map(([name, values]) => [name, median(values)]))
}

process.stdout.write(`an event of ${value.byteLength} bytes, µs of processor time\n`)
for (const [name, time] of measure()) process.stdout.write(`${time.toFixed(2).padStart(8)}  ${name}\n`)
