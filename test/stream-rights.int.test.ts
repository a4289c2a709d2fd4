import { envelopeCommand } from './specs/envelope-command.ts'
import { streamRights } from './specs/stream-rights.ts'
import { streamUsers } from './specs/stream-users.ts'
import { type SecuredKafka, startSecuredKafka } from './support/secured-kafka.ts'

describe('a Kafka that requires authentication', () => {
  let kafka: SecuredKafka
  before(async () => {
    kafka = await startSecuredKafka('stream-rights')
  })
  after(() => kafka?.stop())

  streamUsers(() => kafka)
  streamRights(() => kafka)
  envelopeCommand(() => kafka)
})
