import { MongoClient, MongoServerError } from 'mongodb'

/** MongoDB's code for a user that exists already. */
const exists = 51003

/**
 * Creates a user for each service, who may only read and write the database of the same name (components/mongodb).
 * @param uri the URI of a user who may create users
 * @param passwords the password of each user, by the service's name
 */
export async function ensureUsers(uri: string, passwords: Readonly<Record<string, string>>): Promise<void> {
  const client = await MongoClient.connect(uri, { serverSelectionTimeoutMS: 30_000 })
  try {
    for (const [name, pwd] of Object.entries(passwords)) {
      const rights = { pwd, roles: [{ role: 'readWrite', db: name }] }
      await client
        .db('admin')
        .command({ createUser: name, ...rights })
        .catch((error: unknown) => {
          if (!(error instanceof MongoServerError) || error.code !== exists) throw error
          return client.db('admin').command({ updateUser: name, ...rights })
        })
    }
  } finally {
    await client.close()
  }
}
