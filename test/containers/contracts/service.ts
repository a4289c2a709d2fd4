import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { send } from '@orderflow/chaos/clients/api'
import { repository } from '@orderflow/cli'
import { expect } from 'chai'
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers'

const port = 8080
/** What docker-compose.yml gives a service (stop_grace_period); then it is killed, which is another exit code. */
const graceMs = 12_000
/** MB as `docker images` counts them. */
const largest = 250

/** What a hosting platform or a careful operator does to a container. Its file system is read-only, too. */
class Hardened extends GenericContainer {
  constructor(image: string, dataFolder?: string) {
    super(image)
    this.hostConfig.ReadonlyRootfs = true
    // A new volume has the owner and the rights that its folder has in the image.
    if (dataFolder) this.hostConfig.Mounts = [{ Type: 'volume', Source: '', Target: dataFolder }]
    this.withUser('10001').withDroppedCapabilities('ALL')
  }
}

/**
 * The image of a service, run alone.
 * @param dataFolder where docker-compose.yml gives it a volume; undefined for a service that keeps no files
 */
export function serviceContract(image: string, dataFolder?: string): void {
  let started: StartedTestContainer
  before(async () => {
    started = await new Hardened(image, dataFolder)
      .withEnvironment({ PORT: String(port), APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd', Auth__Mode: 'open' })
      .withExposedPorts(port)
      .withWaitStrategy(Wait.forHttp('/healthz', port))
      .start()
  })
  after(() => started?.stop())

  it('answers on $PORT without a sidecar, and says that it is not ready', async () => {
    const url = `http://${started.getHost()}:${started.getMappedPort(port)}`
    expect((await send(`${url}/healthz`)).status).to.equal(200)
    expect((await send(`${url}/readyz`)).status).to.equal(503)
  })

  it('holds no package of development and no test', async () => {
    const script = `const found = fs.globSync(['/app/node_modules/{*,@*/*}/package.json', '/app/*/test', '/app/**/.env*'])
      console.log(JSON.stringify(found))`
    const { stdout } = await started.exec(['node', '-e', script])
    const found: string[] = JSON.parse(stdout)
    expect(found).to.include('/app/node_modules/express/package.json')
    expect(found.filter((path) => !path.endsWith('/package.json'))).to.deep.equal([])
    const development = developmentPackages()
    expect(development).to.include('/app/node_modules/mocha/package.json')
    expect(found.filter((path) => development.includes(path))).to.deep.equal([])
  })

  it(`is smaller than ${largest} MB`, async function () {
    const { container: client } = await getContainerRuntimeClient()
    const { Size: bytes } = await client.dockerode.getImage(image).inspect()
    const size = Math.round(bytes / 1_000_000)
    expect(size).to.be.below(largest)
    if (this.test) this.test.title += ` (${size} MB)`
  })

  it('ends in order when it is asked to, before anybody has to kill it', async () => {
    const { container: client } = await getContainerRuntimeClient()
    const container = client.getById(started.getId())
    await client.stop(container, { timeout: graceMs })
    expect((await container.inspect()).State.ExitCode).to.equal(0)
  })
}

/** Where the packages would be that only `npm ci` with development brings. */
function developmentPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  const development = Object.entries(lock.packages).filter(([, { dev }]) => dev)
  return development.map(([path]) => `/app/${path}/package.json`)
}
