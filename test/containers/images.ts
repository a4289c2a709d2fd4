import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { send } from '@orderflow/chaos/clients/api'
import { repository, serviceImage, services } from '@orderflow/stack'
import { expect } from 'chai'
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers'

const port = 8080
const withinMs = 10_000
/** MB as `docker images` counts them. */
const largest = 250

/** What a hosting platform or a careful operator does to a container. Its file system is read-only, too. */
class Hardened extends GenericContainer {
  constructor(image: string) {
    super(image)
    this.hostConfig.ReadonlyRootfs = true
    this.withUser('10001').withDroppedCapabilities('ALL')
  }
}

/** The services' images, each run alone. */
export function images(): void {
  for (const { name } of services) {
    describe(`the image of ${name}`, function () {
      this.timeout(60_000)
      const image = serviceImage(name)
      let started: StartedTestContainer
      before(async () => {
        started = await new Hardened(image)
          .withEnvironment({ PORT: String(port), APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd' })
          .withExposedPorts(port)
          .withWaitStrategy(Wait.forHttp('/healthz', port))
          .withStartupTimeout(withinMs)
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

      it('ends in order within 10 s of a SIGTERM', async () => {
        const { container: client } = await getContainerRuntimeClient()
        const container = client.getById(started.getId())
        const ending = container.wait()
        const askedAt = Date.now()
        await container.kill({ signal: 'SIGTERM' })
        expect(await ending).to.deep.include({ StatusCode: 0 })
        expect(Date.now() - askedAt).to.be.below(withinMs)
      })
    })
  }
}

/** Where the packages would be that only `npm ci` with development brings. */
function developmentPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  const development = Object.entries(lock.packages).filter(([, { dev }]) => dev)
  return development.map(([path]) => `/app/${path}/package.json`)
}
