import { images } from '../../../src/application/images.ts'
import { docker } from '../../../src/release/docker.ts'
import type { Containers } from './containers.ts'

/** The command of the server. It creates the key file that a replica set with passwords requires. */
const start = `
head -c 512 /dev/urandom | base64 -w 0 >/tmp/keyfile
chown mongodb /tmp/keyfile
chmod 400 /tmp/keyfile
exec docker-entrypoint.sh mongod --replSet rs0 --bind_ip_all --keyFile /tmp/keyfile`

const initiate = `
db.getSiblingDB('admin').auth(process.env.MONGO_INITDB_ROOT_USERNAME, process.env.MONGO_INITDB_ROOT_PASSWORD)
try { rs.status() } catch { rs.initiate({ _id: 'rs0', members: [{ _id: 0, host: 'mongo:27017' }] }) }
if (!db.hello().isWritablePrimary) quit(1)`

/** Starts a replica set with one member that requires a password. Returns its URI for other containers. */
export async function startMongo(containers: Pick<Containers, 'run'>, user: string, password: string): Promise<string> {
  const env = { MONGO_INITDB_ROOT_USERNAME: user, MONGO_INITDB_ROOT_PASSWORD: password }
  const run = { env, options: ['--entrypoint', 'bash'], args: ['-euc', start] }
  await containers.run('mongo', images.mongo, run, (id) =>
    docker(['exec', id, 'mongosh', '--quiet', '--norc', '--eval', initiate]),
  )
  return `mongodb://${user}:${encodeURIComponent(password)}@mongo:27017/?authSource=admin&replicaSet=rs0`
}
