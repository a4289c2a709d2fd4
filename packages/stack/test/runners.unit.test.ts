import { expect } from 'chai'
import { everyStackImage } from '../src/application/images.ts'
import type { CliError } from '../src/base/error.ts'
import { chooseBrokers, supportedRunner } from '../src/start.ts'
import { fakeDocker } from './containers/fake-docker.ts'
import { removeFolders, temporaryFolder } from './support.ts'

describe('supportedRunner', () => {
  const { PATH } = process.env
  const progress: string[] = []
  afterEach(() => {
    process.env.PATH = PATH
    progress.length = 0
    removeFolders()
  })

  async function chosen(env: NodeJS.ProcessEnv): Promise<string> {
    const options = { onProgress: (line: string) => progress.push(line), signal: new AbortController().signal }
    return (await supportedRunner(env, options)).name
  }
  function withoutDocker(): void {
    process.env.PATH = temporaryFolder()
  }

  it('returns the runner that STACK names, without a check of this machine', async () => {
    withoutDocker()
    expect([await chosen({ STACK: 'docker' }), await chosen({ STACK: 'local' })]).to.deep.equal(['docker', 'local'])
    expect(progress).to.deep.equal([])
  })

  it('returns the runner of processes if Docker is missing, and prints the reason', async () => {
    withoutDocker()
    expect(await chosen({})).to.equal('local')
    expect(progress).to.deep.equal(['not in containers: docker is not installed', 'as processes'])
  })

  it('returns the runner of containers if Docker has all images', async () => {
    const docker = fakeDocker(temporaryFolder())
    for (const image of everyStackImage) docker.have(image)
    expect(await chosen({})).to.equal('docker')
    expect(progress).to.deep.equal(['in containers; STACK=local runs the stack as processes'])
  })
})

describe('chooseBrokers', () => {
  const runner = (last: number | undefined, brokerCounts = [1, 3]) => ({
    title: 'in containers',
    brokerCounts,
    lastBrokers: async () => last,
  })
  const refusal = (...args: Parameters<typeof chooseBrokers>) =>
    chooseBrokers(...args).then(
      () => undefined,
      ({ message, nextStep }: CliError) => `${message}; ${nextStep}`,
    )

  it('returns one broker by default, and later the number of brokers that have data', async () => {
    expect(await chooseBrokers(runner(undefined), undefined)).to.equal(1)
    expect(await chooseBrokers(runner(undefined), '3')).to.equal(3)
    expect(await chooseBrokers(runner(3), undefined)).to.equal(3)
    expect(await chooseBrokers(runner(3), '3')).to.equal(3)
  })

  it('refuses another number of brokers while Kafka has data, and names the next step', async () => {
    expect(await refusal(runner(1), '3'))
      .to.match(/^BROKERS=3, but the data of Kafka is from BROKERS=1; /)
      .and.contain('./orderflow clean')
  })

  it('refuses a number that the runner does not support, and every number if Kafka belongs to others', async () => {
    expect(await refusal(runner(undefined), '2')).to.equal(
      'BROKERS=2 is not supported in containers; set BROKERS to 1 or 3, or leave it out',
    )
    expect(await refusal(runner(undefined, []), '3')).to.contain('this stack uses a Kafka of others')
  })
})
