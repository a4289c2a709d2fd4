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

/**
 * Tests the properties of images that this project depends on, and the contents of its own images. The same tests run for the published
 * images and for local builds under their names.
 */
export function images(): void {
  describeImage(nodeImage, nodeContract)
  describeImage(daprdImage, daprdContract)
  describeImage(kafkaImage, kafkaContract)
  describeImage(mongoImage, mongoContract)
  describeImage(postgresqlImage, postgresqlContract)
  describeImage(reaperImage, reaperContract)
  for (const { name, watches } of services) {
    describeImage(serviceImage(name), (image) => serviceContract(image, watches ? '/data' : undefined))
  }
}
