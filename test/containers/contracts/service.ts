import { send } from '@orderflow/chaos/clients/api'
import { runtimeFolders } from '@orderflow/packages/sbom'
import type { Service } from '@orderflow/stack'
import { expect } from 'chai'
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers'

const port = 8080
/** The grace period of a service in docker-compose.yml (stop_grace_period). */
const graceMs = 12_000
/** The maximum size of an image in MB (1,000,000 bytes). */
const largest = 250

/** Runs a container without capabilities and with a read-only file system. */
class Hardened extends GenericContainer {
  constructor(image: string, dataFolder?: string) {
    super(image)
    this.hostConfig.ReadonlyRootfs = true
    // A new volume gets the owner and the rights of its folder in the image.
    if (dataFolder) this.hostConfig.Mounts = [{ Type: 'volume', Source: '', Target: dataFolder }]
    this.withUser('10001').withDroppedCapabilities('ALL')
  }
}

export function serviceContract(image: string, { folder, watches }: Service): void {
  let started: StartedTestContainer
  before(async () => {
    started = await new Hardened(image, watches ? '/data' : undefined)
      .withEnvironment({ PORT: String(port), APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd', Auth__Mode: 'open' })
      .withExposedPorts(port)
      .withWaitStrategy(Wait.forHttp('/livez', port))
      .start()
  })
  after(() => started?.stop())

  it('answers on $PORT and reports that it is not ready while its sidecar is missing', async () => {
    const url = `http://${started.getHost()}:${started.getMappedPort(port)}`
    expect((await send(`${url}/livez`)).status).to.equal(200)
    expect((await send(`${url}/readyz`)).status).to.equal(503)
  })

  it('contains only packages that the service needs, and no tests', async () => {
    const script = `const found = fs.globSync(['/app/node_modules/{*,@*/*}/package.json', '/app/*/test', '/app/**/.env*'])
      console.log(JSON.stringify(found))`
    const { stdout } = await started.exec(['node', '-e', script])
    const found: string[] = JSON.parse(stdout)
    const needed = runtimeFolders(folder).map((path) => `/app/${path}/package.json`)
    expect(needed).to.include('/app/node_modules/express/package.json')
    expect(found).to.include('/app/node_modules/express/package.json')
    const isOwn = (path: string) => path.startsWith('/app/node_modules/@orderflow/')
    expect(found.filter((path) => !isOwn(path) && !needed.includes(path))).to.deep.equal([])
  })

  it(`takes less than ${largest} MB of disk`, async function () {
    const { container: client } = await getContainerRuntimeClient()
    const { Size: bytes } = await client.dockerode.getImage(image).inspect()
    const size = Math.round(bytes / 1_000_000)
    expect(size).to.be.below(largest)
    if (this.test) this.test.title += ` (${size} MB)`
  })

  it('stops with exit code 0 within the grace period', async () => {
    const { container: client } = await getContainerRuntimeClient()
    const container = client.getById(started.getId())
    await client.stop(container, { timeout: graceMs })
    expect((await container.inspect()).State.ExitCode).to.equal(0)
  })
}
