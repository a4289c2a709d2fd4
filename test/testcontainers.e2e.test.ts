import { whyNoContainers } from './containers/available.ts'
import { images } from './containers/images.ts'
import { isolation } from './containers/isolation.ts'
import { theLocalImages } from './containers/local-images.ts'
import { replicas } from './containers/replicas.ts'
import { buildImages, type RunningContainers, startContainers } from './containers/running-containers.ts'
import { storedDocuments } from './containers/stored-documents.ts'
import { survival } from './containers/survival.ts'
import { allSpecs } from './specs/all.ts'
import { notRun } from './support/not-run.ts'

const missing = await whyNoContainers()
if (missing) notRun.push(`the system in containers (${missing})`)
else describe('in containers', inContainers)

function inContainers() {
  before('builds the images', function () {
    this.timeout(600_000)
    return buildImages()
  })
  theLocalImages()
  images()

  describe('of docker-compose.yml', () => {
    let stack: RunningContainers
    before(async function () {
      this.timeout(180_000)
      stack = await startContainers()
    })
    after(async function () {
      this.timeout(120_000)
      await stack?.stop()
    })

    allSpecs(() => stack)
    isolation(() => stack)
    storedDocuments(() => stack)
    survival(() => stack)
    replicas(() => stack)
  })
}
