import { placeText } from '@orderflow/service-kit/operations'
import { expect } from 'chai'
import { signedHeaders } from '../signed-headers.ts'
import { World } from '../world.ts'
import type { HostileRecord } from './hostile.ts'

/** Writes records into the log of a new world and has each service take in all of it. Answers where each record stands, as text. */
export async function deliverHostile(records: HostileRecord[]): Promise<{ world: World; places: string[] }> {
  const world = new World()
  const places = records.map((record) => {
    const { topic, key, value } = record
    return placeText(world.log.append({ topic, key, value: value ?? '', headers: signedHeaders(record) }))
  })
  const all = world.log.records.slice()
  for (const [role, topic] of world.subscriptions) {
    const due = all.filter((record) => record.topic === topic)
    expect(await world.deliver(role, topic, due), 'delivered again').to.have.length(due.length)
  }
  return { world, places }
}
