import { describeInContainers } from './containers/available.ts'
import { images } from './containers/images.ts'
import { isolation } from './containers/isolation.ts'
import { theLocalImages } from './containers/local-images.ts'
import { containersOperator } from './containers/operator.ts'
import { replicas } from './containers/replicas.ts'
import { buildImages, type RunningContainers, startContainers } from './containers/running-containers.ts'
import { storedDocuments } from './containers/stored-documents.ts'
import { survival } from './containers/survival.ts'
import { allSpecs } from './specs/all.ts'
import { serviceRefusals } from './specs/every-service.ts'
import { rebuiltStores } from './specs/rebuild.ts'
import { testedServices } from './support/tested-services.ts'

const tested = await testedServices()

describeInContainers('in containers', () => {
  before('builds the images', function () {
    this.timeout(600_000)
    return buildImages()
  })
  theLocalImages()
  images()

  describe('of docker-compose.yml', () => {
    const stack = useContainers('specs')
    const operator = () => containersOperator(stack())
    allSpecs(stack, operator)
    for (const service of tested) serviceRefusals(service, stack)
    rebuiltStores(stack, operator)
    isolation(stack)
    storedDocuments(stack)
  })

  // A stack of its own: counting every order in a database that the specs have filled would take longer.
  describe('that die', () => {
    const stack = useContainers('deaths')
    survival(stack)
    replicas(stack)
  })
})

/** Starts containers before the tests of this block and removes them afterwards. */
function useContainers(suite: string): () => RunningContainers {
  let stack: RunningContainers | undefined
  before(async function () {
    this.timeout(180_000)
    stack = await startContainers(suite)
  })
  after(async function () {
    this.timeout(120_000)
    await stack?.stop()
  })
  return () => stack as RunningContainers
}
