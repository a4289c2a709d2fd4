import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createSidecar, type Sidecar } from '@orderflow/service-kit/operations'
import { eventually, newSecret, repository } from '@orderflow/stack/base'
import { daprdFile, daprdFlags, freeServicePorts } from '@orderflow/stack/internals'

export const appId = 'store-contract'

/** A real sidecar that has a store but no topics. */
export interface StoreSidecar extends Sidecar {
  kill: (signal: NodeJS.Signals) => Promise<void>
  start: () => Promise<void>
  /** Suspends the sidecar’s process during `meanwhile`, so that the sidecar does not answer. */
  suspend: (meanwhile: () => Promise<void>) => Promise<void>
}

/**
 * Starts a sidecar. Several sidecars of the same store act as the sidecars of several replicas.
 * @param store the folder of the store’s component in components/
 * @param connectionString a value of `State__ConnectionString`
 */
export async function startStoreSidecar(
  folder: string,
  store: 'sqlite' | 'mongodb' | 'postgresql',
  connectionString: string,
): Promise<StoreSidecar> {
  const resources = join(folder, 'resources')
  // An earlier run may have used another store.
  rmSync(resources, { recursive: true, force: true })
  mkdirSync(resources, { recursive: true })
  const components = join(repository, 'components')
  const files = [...readdirSync(join(components, store)).map((name) => join(store, name)), 'secretstore.yaml']
  for (const file of files) {
    // The scopes allow only the services of the application.
    const unscoped = readFileSync(join(components, file), 'utf8').replace(/^scopes:\n(?: .*\n)+/m, '')
    writeFileSync(join(resources, basename(file)), unscoped)
  }
  const ports = await freeServicePorts()
  const token = newSecret()
  const configuration = join(repository, 'components/configuration.yaml')
  const flags = daprdFlags(appId, ports, { folders: [resources], configuration })
  // Leaves out the flags that make the sidecar wait for an application.
  const args = flags.filter(([flag]) => !flag.startsWith('app-p')).flatMap(([flag, value]) => [`--${flag}`, value])
  let daprd: ChildProcess
  const sidecar = createSidecar({
    Sidecar: { Host: '127.0.0.1', HttpPort: ports.daprHttp, GrpcPort: ports.daprGrpc, Token: token },
    Stream: { PubSub: 'none' },
    State: { Store: 'statestore' },
  })
  const log = openSync(join(folder, 'daprd.log'), 'a')
  function run() {
    const { PATH } = process.env
    const env = { PATH, DAPR_HOST_IP: '127.0.0.1', DAPR_API_TOKEN: token, State__ConnectionString: connectionString }
    daprd = spawn(daprdFile(), args, { env, stdio: ['ignore', log, log] })
  }
  /** Starts the sidecar, and starts it again if it ends early, for example because another sidecar creates the same table at the same time. */
  async function start() {
    run()
    const isReady = () => {
      if (daprd.exitCode !== null) run()
      return sidecar.read(['none']).then(Boolean, () => false)
    }
    await eventually(isReady, `the sidecar with the log ${join(folder, 'daprd.log')}`)
  }
  await start()
  return {
    ...sidecar,
    start,
    async suspend(meanwhile) {
      daprd.kill('SIGSTOP')
      await eventually(() => isStopped(daprd.pid), 'the sidecar to stop answering')
      await meanwhile().finally(() => daprd.kill('SIGCONT'))
    },
    async kill(signal) {
      const ended = once(daprd, 'exit')
      daprd.kill(signal)
      await ended
    },
  }
}

/** Returns true if all threads of the process are stopped. A busy thread receives the signal later. */
function isStopped(pid: number | undefined): true | undefined {
  return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('T') || undefined
}
