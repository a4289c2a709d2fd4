import { createPrivateKey, X509Certificate } from 'node:crypto'
import { appendFileSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { generate } from 'selfsigned'
import { repository } from '../../src/application/paths.ts'
import { services, storedServices } from '../../src/application/services.ts'
import { bodyOf, makeCertificate, pemOf } from '../../src/base/credentials.ts'
import {
  brokersFile,
  defaultServers,
  ensureEnvFile,
  kafkaPasswords,
  postgresqlFile,
  readProject,
  recordObservers,
  recordServers,
  variableOf,
} from '../../src/containers/project.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('.env', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
    copyFileSync(join(repository, '.env.example'), join(folder, '.env.example'))
  })
  afterEach(removeFolders)

  it('contains a random secret for each empty variable of the example, and only its owner can read it', async () => {
    expect([await ensureEnvFile(folder), await ensureEnvFile(folder)]).to.deep.equal([true, false])
    const variables = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const secrets = Object.entries(variables).filter(([name]) => /PASSWORD|TOKEN/.test(name))
    expect(secrets).to.have.length(6 + 3 * services.length + 2 * storedServices.length)
    expect(new Set(secrets.map(([, value]) => value)).size).to.equal(secrets.length)
    for (const [name, value] of secrets) expect(value, name).to.match(/^[\w-]{32}$/)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('gets the tokens of a new service, and keeps all other values', async () => {
    await ensureEnvFile(folder)
    const before = readFileSync(join(folder, '.env'), 'utf8')
    const [first = ''] = services.map((service) => variableOf(service, 'APP_TOKEN'))
    writeFileSync(join(folder, '.env'), before.replace(new RegExp(`^${first}=.*\\n`, 'm'), ''))
    expect(await ensureEnvFile(folder)).to.equal(true)
    const after = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const { [first]: made, ...others } = after
    expect(parseEnv(before)).to.deep.include(others)
    expect(made).to.match(/^[\w-]{32}$/)
  })

  it('states that a new log has only signed events', async () => {
    await ensureEnvFile(folder)
    const fresh = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    expect(fresh.SIGNING_KEYS).to.match(/^[\w-]{32}$/)
    expect(fresh).not.to.have.property('SIGNED_SINCE')
  })

  it('gets missing secrets, keeps the others, and requires a signature for every event', async () => {
    writeFileSync(join(folder, '.env'), 'MONGO_PASSWORD=kept\n')
    expect(await ensureEnvFile(folder)).to.equal(true)
    const after = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    expect(after).to.include({ MONGO_PASSWORD: 'kept' }).and.not.have.property('SIGNED_SINCE')
    expect(after.SIGNING_KEYS).to.match(/^[\w-]{32}$/)
    const ofStores = storedServices.map((service) => variableOf(service, 'STORE_PASSWORD'))
    for (const name of ['KAFKA_BROKER_PASSWORD', ...Object.values(kafkaPasswords), ...ofStores])
      expect(after[name]).to.have.length(32)
    expect(await ensureEnvFile(folder)).to.equal(false)
  })

  it('gets a certificate with Kafka’s host names, and a new certificate before the first one expires', async () => {
    await ensureEnvFile(folder)
    const read = () => parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const { KAFKA_CERTIFICATE = '', KAFKA_KEY = '' } = read()
    const certificate = new X509Certificate(pemOf('CERTIFICATE', KAFKA_CERTIFICATE))
    for (const host of ['kafka', 'kafka-2', 'kafka-3', 'localhost']) expect(certificate.checkHost(host)).to.equal(host)
    expect(certificate.checkPrivateKey(createPrivateKey(pemOf('PRIVATE KEY', KAFKA_KEY)))).to.equal(true)
    expect(readProject(folder)?.kafka.tls?.ca).to.equal(pemOf('CERTIFICATE', KAFKA_CERTIFICATE))

    const ending = bodyOf(await certificateUntil(new Date(Date.now() + 6 * 24 * 60 * 60 * 1000)))
    const text = readFileSync(join(folder, '.env'), 'utf8')
    writeFileSync(join(folder, '.env'), text.replace(KAFKA_CERTIFICATE, ending))
    expect(await ensureEnvFile(folder)).to.equal(true)
    const after = read()
    expect(after.KAFKA_CERTIFICATE).to.not.be.oneOf([KAFKA_CERTIFICATE, ending])
    expect(after.KAFKA_KEY).to.not.equal(KAFKA_KEY)
    expect(readFileSync(join(folder, '.env'), 'utf8').match(/^KAFKA_(CERTIFICATE|KEY)=/gm)).to.have.length(2)
  })

  it('gets a new certificate for three brokers, if the existing one has only the name of one', async () => {
    const { certificate, key } = await makeCertificate(['kafka'])
    const body = bodyOf(certificate)
    writeFileSync(join(folder, '.env'), `KAFKA_CERTIFICATE=${body}\nKAFKA_KEY=${bodyOf(key)}\n`)
    const read = () => parseEnv(readFileSync(join(folder, '.env'), 'utf8')).KAFKA_CERTIFICATE ?? ''
    await ensureEnvFile(folder, 1)
    expect(read()).to.equal(body)
    await ensureEnvFile(folder, 3)
    expect(new X509Certificate(pemOf('CERTIFICATE', read())).checkHost('kafka-3')).to.equal('kafka-3')
  })

  it('contains a project name, so that two checkouts have different volumes', async () => {
    await ensureEnvFile(folder)
    expect(readProject(folder)?.name).to.match(/^orderflow-[0-9a-f]{4}$/)
  })

  it('selects PostgreSQL by COMPOSE_FILE, and MongoDB if this variable is missing', async () => {
    await ensureEnvFile(folder)
    const { COMPOSE_FILE: none, ...others } = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    expect([none, readProject(folder)?.store]).to.deep.equal([undefined, 'mongodb'])
    for (let twice = 0; twice < 2; twice += 1) recordServers({ store: 'postgresql', brokers: 1 }, folder)
    const text = readFileSync(join(folder, '.env'), 'utf8')
    expect(text.match(/^COMPOSE_FILE=.*$/gm)).to.deep.equal([`COMPOSE_FILE=docker-compose.yml:${postgresqlFile}`])
    expect(readProject(folder)?.store).to.equal('postgresql')
    recordServers(defaultServers, folder)
    expect(parseEnv(readFileSync(join(folder, '.env'), 'utf8'))).to.deep.equal(others)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('selects three brokers by COMPOSE_FILE, and then contains the addresses of all', async () => {
    await ensureEnvFile(folder)
    const usual = readProject(folder)
    recordServers({ store: 'postgresql', brokers: 3 }, folder)
    appendFileSync(join(folder, '.env'), 'KAFKA_3_PORT=1234\n')
    const { COMPOSE_FILE } = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    expect(COMPOSE_FILE).to.equal(`docker-compose.yml:${brokersFile}:${postgresqlFile}`)
    const { brokers, store, kafka } = readProject(folder) ?? {}
    expect([usual?.brokers, brokers, store]).to.deep.equal([1, 3, 'postgresql'])
    expect(usual?.kafka.bootstrapBrokers).to.deep.equal(['localhost:9092'])
    expect(kafka?.bootstrapBrokers).to.deep.equal(['localhost:9092', 'localhost:9094', 'localhost:1234'])
  })

  it('gets the profiles of observers and the address for traces, and loses them when no observer is left', async () => {
    await ensureEnvFile(folder)
    const read = () => readFileSync(join(folder, '.env'), 'utf8')
    const before = read()
    for (let twice = 0; twice < 2; twice += 1) recordObservers(['observe', 'grafana'], folder)
    expect(read().match(/^# from make observe$/gm)).to.have.length(1)
    expect(parseEnv(read())).to.include({
      COMPOSE_PROFILES: 'observe,grafana',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://jaeger:4318',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      Telemetry__TracePage: 'http://localhost:6686/',
    })
    expect(readProject(folder)?.observers).to.deep.equal({ jaeger: 6686, prometheus: 9090, grafana: 3000 })
    recordObservers(['observe'], folder)
    expect(readProject(folder)?.observers.grafana).to.equal(undefined)
    recordObservers([], folder)
    expect(read()).to.equal(before)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('keeps all changes of the user, such as another collector for traces', async () => {
    await ensureEnvFile(folder)
    const record = (line: string) => {
      appendFileSync(join(folder, '.env'), `${line}\n`)
      recordObservers(['observe'], folder)
      return parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    }
    const sampled = record('OTEL_TRACES_SAMPLER=traceidratio')
    expect(sampled).to.include({
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://jaeger:4318',
    })
    const elsewhere = record('OTEL_EXPORTER_OTLP_ENDPOINT=https://collector.example')
    expect(elsewhere).to.include({
      COMPOSE_PROFILES: 'observe',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
    })
    expect(elsewhere).not.to.include.keys('OTEL_EXPORTER_OTLP_INSECURE', 'Telemetry__TracePage')
  })

  it('contains the addresses of services and of Kafka', async () => {
    expect(readProject(folder)).to.equal(undefined)
    await ensureEnvFile(folder)
    const { kafka, services: reached } = readProject(folder) ?? {}
    expect(reached?.['order-service']?.url).to.equal('http://localhost:5000')
    expect(kafka?.bootstrapBrokers).to.deep.equal(['localhost:9092'])
    expect(kafka?.sasl?.password).to.have.length(32)
  })
})

async function certificateUntil(notAfterDate: Date): Promise<string> {
  return (await generate([], { keyType: 'ec', algorithm: 'sha256', notAfterDate })).cert
}
