import type { MongoClient } from 'mongodb'

/**
 * What one transaction wrote without the rest of it. A document that is listed and the chunk of the list that names it are
 * written together (service-kit/src/state/arrival-list.ts), so one of them alone is half a transaction; so is a chain of chunks
 * that ends in nothing, and a document that the list names twice. Read past Dapr, once no request is under way.
 */
export async function halfWritten(mongo: MongoClient, service: string): Promise<string[]> {
  const documents = await mongo
    .db(service)
    .collection<{ _id: string; value: string }>('daprCollection')
    .find()
    .toArray()
  const stored = new Map(documents.map(({ _id, value }) => [_id.replace(`${service}||`, ''), JSON.parse(value)]))
  const chunks = [...stored].filter(([key]) => key.startsWith('list/') && key !== 'list/root')
  const listed = [...stored].filter(([, { listed }]) => listed)
  /** `ORDER` in order/ORDER/OrderCreated, `PAYMENT` in payment/PAYMENT. */
  const ids = new Set(listed.map(([key]) => key.split('/')[1]))

  const missing = listed.flatMap(([key, document]) => {
    const [chunk, index] = document.listed.split(':')
    return stored.get(`list/${chunk}`)?.ids[index] === key.split('/')[1] ? [] : [`${key} is not in list/${chunk}`]
  })
  const dangling = chunks.flatMap(([key, chunk]) => {
    const unknown = chunk.ids.filter((id: string) => !ids.has(id)).map((id: string) => `${id} of ${key} is missing`)
    return chunk.older && !stored.has(`list/${chunk.older}`) ? [...unknown, `${key} leads to nothing`] : unknown
  })
  const entries: string[] = chunks.flatMap(([, chunk]) => chunk.ids)
  const twice = entries.filter((id, index) => entries.indexOf(id) !== index).map((id) => `${id} is listed twice`)
  const root = stored.get('list/root')
  const headless = listed.length > 0 && !stored.has(`list/${root?.newest}`) ? ['list/root leads to nothing'] : []
  return [...missing, ...dangling, ...twice, ...headless]
}
