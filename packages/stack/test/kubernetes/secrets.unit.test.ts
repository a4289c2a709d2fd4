import { expect } from 'chai'
import { services, storedServices } from '../../src/application/services.ts'
import { connectionStrings } from '../../src/containers/project.ts'
import { ensureSecrets } from '../../src/kubernetes/secrets.ts'
import { temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'
import { cleanUp, cluster, failureOf, valuesWith } from './runner-tests.ts'

describe('the runner of Kubernetes', () => {
  cleanUp()

  describe('ensureSecrets', () => {
    const given = {
      Stream__SaslUsername: 'admin',
      Stream__SaslPassword: 'given-password',
      State__ConnectionString: 'mongodb://given-uri/',
    }
    const values = () => valuesWith('kafka: { brokers: "kafka:9092" }')
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    type Sent = { items: { metadata: { name: string; resourceVersion?: string }; data: Record<string, string> }[] }
    const sentBy = (fake: ReturnType<typeof fakeCluster>, verb: string) =>
      fake.calls().flatMap(({ args, input }) => (args.includes(verb) ? (JSON.parse(input) as Sent).items : []))

    it('creates the keys that the chart reads, and sends them through the standard input', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      await ensureSecrets(cluster, values(), given)
      const created = new Map(sentBy(fake, 'create').map(({ metadata, data }) => [metadata.name, data]))
      expect([...created.keys()]).to.have.members([
        ...services.map(({ name }) => `${name}-secrets`),
        'operator-secrets',
      ])
      const own = created.get(`${storedServices[0]?.name}-secrets`) ?? {}
      expect(Object.keys(own)).to.have.members([
        'APP_API_TOKEN',
        'DAPR_API_TOKEN',
        'Stream__SaslPassword',
        'DryRun__Token',
        'State__ConnectionString',
        'Trust__SigningKeys',
      ])
      const keys = new Set([...created.values()].flatMap(({ Trust__SigningKeys: key }) => (key ? [key] : [])))
      expect(keys.size).to.equal(1)
      const secrets = [...created.values()].flatMap((data) => Object.values(data))
      const decoded = secrets.map((value) => Buffer.from(value, 'base64').toString())
      const shown = fake.argumentsOfAll()
      expect([...secrets, ...decoded].filter((secret) => shown.includes(secret) && secret !== 'admin')).to.deep.equal(
        [],
      )
    })

    it('gives each sidecar its own user of the store, whom the setup job creates', async () => {
      for (const [store, suffix] of [
        ['mongodb', ''],
        ['postgresql', '.store'],
      ] as const) {
        const fake = fakeCluster(temporaryFolder())
        fake.answer('secrets', { items: [] })
        const uri = `${store}://admin:of-all@one:1,two:2/?tls=true`
        await ensureSecrets(cluster, { ...values(), store }, { ...given, State__ConnectionString: uri })
        const created = new Map(sentBy(fake, 'create').map(({ metadata, data }) => [metadata.name, data]))
        const uriOf = (name: string) =>
          Buffer.from(created.get(name)?.State__ConnectionString ?? '', 'base64').toString()
        expect(uriOf('operator-secrets')).to.equal(uri)
        const uris = storedServices.map(({ name }) => uriOf(`${name}-secrets`))
        for (const [index, { name }] of storedServices.entries())
          expect(uris[index]).to.match(new RegExp(`^${store}://${name}${suffix}:[\\w-]{32}@one:1,two:2/\\?tls=true$`))
        expect(new Set(uris.map((own) => own.split(/[:@]/)[2])).size).to.equal(storedServices.length)
      }
    })

    it('accepts a URI for each service instead', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      const { State__ConnectionString: _, ...others } = given
      const own = Object.fromEntries(
        Object.values(connectionStrings).map((variable) => [variable, `uri of ${variable}`]),
      )
      await ensureSecrets(cluster, values(), { ...others, ...own })
      const uris = sentBy(fake, 'create').flatMap(({ data }) => data.State__ConnectionString ?? [])
      expect(uris).to.have.members(Object.values(own).map(encoded))
    })

    it('keeps existing values, and adds only missing keys', async () => {
      const fake = fakeCluster(temporaryFolder())
      const [stored] = storedServices
      const name = `${stored?.name}-secrets`
      const data = { Trust__SigningKeys: encoded('kept-key'), APP_API_TOKEN: encoded('kept-token') }
      fake.answer('secrets', { items: [{ metadata: { name, resourceVersion: '7' }, data }] })
      await ensureSecrets(cluster, values(), given)
      const [replaced] = sentBy(fake, 'replace')
      expect(replaced?.metadata.resourceVersion).to.equal('7')
      expect(replaced?.data).to.include(data)
      const signing = sentBy(fake, 'create').flatMap((secret) => secret.data.Trust__SigningKeys ?? [])
      expect(new Set(signing)).to.deep.equal(new Set([encoded('kept-key')]))
    })

    it('changes nothing at a second start', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      await ensureSecrets(cluster, values(), given)
      const items = sentBy(fake, 'create')
      const second = fakeCluster(temporaryFolder())
      second.answer('secrets', { items })
      expect(await ensureSecrets(cluster, values(), {})).to.deep.equal([])
      expect(second.calls().map(({ args }) => args.at(7))).to.deep.equal(['get'])
    })

    it('names the variables that must be given once', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      const error = await failureOf(() => ensureSecrets(cluster, values(), {}))
      expect(error.message.split('\n').map((line) => line.trim().split(':')[0])).to.deep.equal([
        'these secrets are missing',
        'State__ConnectionString',
        'Stream__SaslUsername',
        'Stream__SaslPassword',
      ])
      expect(fake.calls().length).to.equal(1)
    })

    it('gives the operator the password of the user that creates it', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      await ensureSecrets(cluster, values(), { ...given, Stream__SaslUsername: 'operator' })
      const operator = sentBy(fake, 'create').find(({ metadata }) => metadata.name === 'operator-secrets')
      expect(operator?.data.KAFKA_OPERATOR_PASSWORD).to.equal(encoded('given-password'))
    })
  })
})
