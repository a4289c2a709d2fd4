import { MongoClient, MongoServerError } from 'mongodb'

/** MongoDB's code AlreadyInitialized. */
const alreadyInitialized = 23

/**
 * Makes a single MongoDB server the replica set that its URI names, and waits until it takes writes: transactions exist on
 * replica sets only. A server that is one already stays as it is.
 * @param uri with one host, by which the members and all clients know the server, and `replicaSet=`
 */
export async function ensureReplicaSet(uri: string): Promise<void> {
  const { host, searchParams } = new URL(uri)
  const name = searchParams.get('replicaSet')
  searchParams.delete('replicaSet')
  const direct = await MongoClient.connect(uri.replace(/\?.*/, `?${searchParams}`), { directConnection: true })
  try {
    await direct.db('admin').command({ replSetInitiate: { _id: name, members: [{ _id: 0, host }] } })
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error
  } finally {
    await direct.close()
  }
  // Finds no server until one is the primary of that set.
  const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 30_000 })
  await client.close()
}
