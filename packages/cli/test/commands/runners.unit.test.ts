import { expect } from 'chai'
import { supportedRunner } from '../../src/commands/runners.ts'
import { everyStackImage } from '../../src/lib/images.ts'
import { fakeDocker } from '../containers/fake-docker.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

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
