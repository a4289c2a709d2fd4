import { services } from '@orderflow/stack'
import { serviceImage } from '@orderflow/stack/internals'
import { images as external } from '@orderflow/stack/machine'
import { daprdContract } from './contracts/daprd.ts'
import { kafkaContract } from './contracts/kafka.ts'
import { mongoContract } from './contracts/mongo.ts'
import { nodeContract } from './contracts/node.ts'
import { postgresqlContract } from './contracts/postgresql.ts'
import { reaperContract } from './contracts/reaper.ts'
import { serviceContract } from './contracts/service.ts'
import { describeImage } from './describe-image.ts'

/** Tests the required properties of images. The same tests run for published and for locally built images. */
export function images(): void {
  describeImage(external.node, nodeContract)
  describeImage(external.daprd, daprdContract)
  describeImage(external.kafka, kafkaContract)
  describeImage(external.mongo, mongoContract)
  describeImage(external.postgresql, postgresqlContract)
  describeImage(external.reaper, reaperContract)
  for (const service of services) describeImage(serviceImage(service.name), (image) => serviceContract(image, service))
}
