import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clusterMissing } from '@orderflow/cluster'
import { buildTimeoutMs } from '@orderflow/cluster/installation'
import { services } from '@orderflow/stack'
import { serviceImage } from '@orderflow/stack/internals'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { checkOutRelease, lastRelease, releaseHas } from '../support/checkouts/last-release.ts'
import { type Shop, settled, startShop } from './shop.ts'

const { version } = lastRelease
const title = `an upgrade from the chart of version ${version}`
const missing =
  (await clusterMissing()) ?? ((await releaseHas('chart')) ? undefined : `version ${version} has no chart`)
const tag = 'release'

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  // A pod may need minutes to start.
  this.timeout(300_000)
  this.bail(true)
  const temporary = mkdtempSync(join(tmpdir(), 'orderflow-chart-test-'))
  const sources = join(temporary, 'release')
  let servers: Shop['servers']
  let shop: Shop['shop']
  let orders: Shop['orders']
  let stop: Shop['stop'] | undefined
  let remove: (() => Promise<void>) | undefined

  before(async function () {
    this.timeout(buildTimeoutMs)
    remove = await checkOutRelease(sources)
    const started = await startShop()
    ;({ servers, shop, orders, stop } = started)
    const images = [...services.map(({ name }) => name), 'setup'].map((name) => `${serviceImage(name)}:${tag}`)
    await started.cluster.loadImages(images, sources)
  })
  after(async () => {
    await stop?.()
    await remove?.()
    rmSync(temporary, { recursive: true, force: true })
  })

  it('begins with the images and the chart of the release', async () => {
    await shop.applyChart(join(sources, 'chart'), `images.tag=${tag}`)
    await orders.pays()
    orders.begin()
  })

  it('replaces them while orders arrive', async () => {
    await shop.apply()
    await settled(shop)
    await orders.pays()
  })

  it('pays each accepted order once', () => orders.requireEachPaidOnce(servers))
}
