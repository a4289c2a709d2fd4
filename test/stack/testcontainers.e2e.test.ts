import { publishUser } from '@orderflow/stack/internals'
import { duplicates, reacting, testedServices } from '@orderflow/test-kit'
import { access } from '../containers/access.ts'
import { describeInContainers } from '../containers/available.ts'
import { forgers } from '../containers/forgers.ts'
import { images } from '../containers/images.ts'
import { isolation } from '../containers/isolation.ts'
import { type RunningContainers, startCheckout } from '../containers/running-containers.ts'
import { storedDocuments } from '../containers/stored-documents.ts'
import { networkSpecs } from '../specs/all.ts'
import { transactionalProducers } from '../specs/stream/transactions.ts'

const tested = reacting(await testedServices())

describeInContainers('the system in containers', () => {
  images()

  describe('the stack of docker-compose.yml', () => {
    let started: RunningContainers | undefined
    before(async () => {
      started = await startCheckout()
    })
    after(async () => {
      await started?.stop()
    })
    const stack = () => started as RunningContainers
    const operator = () => stack().operator

    networkSpecs(stack)
    for (const service of tested) describe(service.name, () => duplicates(service, stack, operator))
    transactionalProducers(stack, () => stack().settings.kafkaAs(publishUser))
    forgers(stack)
    isolation(stack)
    access(stack)
    storedDocuments(stack)
  })
})
