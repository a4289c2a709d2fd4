import { buildImage, createOperator, docker, serviceNamed } from '@orderflow/stack/rehearsal'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'

describeInContainers('the start of a release image', () => {
  const image = `orderflow-test-start-${process.pid}`
  const settings = {
    PORT: '8080',
    Stream__Brokers: 'broker.example.com:9093',
    State__ConnectionString: 'mongodb+srv://me:a-secret@store.example.com/',
    Auth__Mode: 'open',
    Trust__SigningKeys: 'a-secret-of-all-services-of-32-chars',
  }

  before(() => buildImage(serviceNamed('payment'), image, { onLine: () => {} }))
  after(() => docker(['image', 'rm', image]))

  const start = (env: Record<string, string>) => {
    const names = Object.keys(env).map((name) => `--env ${name}`)
    return createOperator(env).bash(`docker run --rm --read-only --network none ${names.join(' ')} ${image}`)
  }

  const wrong: [changes: Record<string, string>, problem: RegExp][] = [
    [{ PORT: '' }, /- PORT: is missing/],
    [{ PORT: 'eighty' }, /- PORT: must be/],
    [{ Stream__Brokers: '' }, /- Stream__Brokers: is missing/],
    [{ State__ConnectionString: '' }, /- State__ConnectionString: is missing/],
    [
      { State__ConnectionString: 'mongodb://me:a-secret@store.example.com/' },
      /- State__ConnectionString: needs replicaSet=/,
    ],
    [{ Stream__AuthType: 'password', Stream__SaslUsername: 'me' }, /- Stream__SaslPassword: is missing/],
    [{ Stream__SaslMechanism: 'SCRAM-SHA-512' }, /- Stream__SaslMechanism: must be one of/],
    [{ Stream__CaCert: 'not a certificate' }, /- Stream__CaCert: must be a PEM certificate/],
    [{ Auth__Mode: 'loopback' }, /- Auth__Mode: must be closed, because others reach 0\.0\.0\.0/],
    [{ Auth__Mode: 'closed', Auth__Issuer: 'https://login.example.com' }, /- Auth__Audience: is missing/],
    [{ Trust__SigningKeys: '' }, /- Trust__SigningKeys: is missing/],
    [{ Policy__ApproveUpTo: 'much' }, /- Policy__ApproveUpTo: must be number/],
    [{ Stream__Broker: 'x:1' }, /- Stream__Broker: no such setting/],
  ]
  for (const [changes, problem] of wrong) {
    it(`stops before anything runs, and names the variable: ${JSON.stringify(changes)}`, async () => {
      const { status, output } = await start({ ...settings, ...changes })
      expect(output)
        .to.match(/^error: settings are not usable:\n/)
        .and.match(problem)
      expect(output.match(/^ {2}- /gm)).to.have.length(1)
      expect(output)
        .to.match(/\nnext: set them/)
        .and.not.include('a-secret')
      expect(status).to.equal(1)
    })
  }
})
