import {
  daprdImage,
  kafkaImage,
  mongoImage,
  nodeImage,
  postgresqlImage,
  reaperImage,
  serviceImage,
  services,
} from '@orderflow/cli'
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
  describeImage(nodeImage, nodeContract)
  describeImage(daprdImage, daprdContract)
  describeImage(kafkaImage, kafkaContract)
  describeImage(mongoImage, mongoContract)
  describeImage(postgresqlImage, postgresqlContract)
  describeImage(reaperImage, reaperContract)
  for (const service of services) describeImage(serviceImage(service.name), (image) => serviceContract(image, service))
}
