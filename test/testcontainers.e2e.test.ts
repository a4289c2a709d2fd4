import { images } from './containers/images.ts'
import { type RunningContainers, startContainers } from './containers/running-containers.ts'
import { storedDocuments } from './containers/stored-documents.ts'
import { survival } from './containers/survival.ts'
import { allSpecs } from './specs/all.ts'

describe('in containers', () => {
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
    storedDocuments(() => stack)
    survival(() => stack)
  })
})
