import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { daprdFile, daprdFlags, eventually, freeServicePorts, newSecret, repository } from '@orderflow/cli'
import { createSidecar, type Sidecar } from '@orderflow/service-kit/sidecar'

/** The application whose documents these sidecars keep. */
export const appId = 'store-contract'

/** A real sidecar with the component of one store, and nothing else. */
export interface StoreSidecar extends Sidecar {
  kill: (signal: NodeJS.Signals) => Promise<void>
  /** Again after it was killed. */
  start: () => Promise<void>
  /** Has it answer nobody meanwhile. */
  suspend: (meanwhile: () => Promise<void>) => Promise<void>
}

/**
 * Starts a sidecar. Several of the same store are replicas' sidecars.
 * @param store the folder of its component in components/
 * @param connectionString as `State__ConnectionString` has it
 */
export async function startStoreSidecar(
  folder: string,
  store: 'sqlite' | 'mongodb' | 'postgresql',
  connectionString: string,
): Promise<StoreSidecar> {
  const resources = join(folder, 'resources')
  // Another run may have had another store.
  rmSync(resources, { recursive: true, force: true })
  mkdirSync(resources, { recursive: true })
  for (const file of [`${store}/statestore.yaml`, 'secretstore.yaml']) {
    copyFileSync(join(repository, 'components', file), join(resources, file.replace('/', '-')))
  }
  const ports = await freeServicePorts()
  const token = newSecret()
  const configuration = join(repository, 'components/configuration.yaml')
  const flags = daprdFlags(appId, ports, { folders: [resources], configuration })
  // It would wait for an application.
  const args = flags.filter(([flag]) => !flag.startsWith('app-p')).flatMap(([flag, value]) => [`--${flag}`, value])
  let daprd: ChildProcess
  const sidecar = createSidecar({
    Sidecar: { Host: '127.0.0.1', HttpPort: ports.daprHttp, GrpcPort: ports.daprGrpc, Token: token },
    Stream: { PubSub: 'none' },
    State: { Store: 'statestore' },
  })
  async function start() {
    const env = { PATH: process.env.PATH, DAPR_API_TOKEN: token, State__ConnectionString: connectionString }
    daprd = spawn(daprdFile(), args, { env, stdio: 'ignore' })
    await eventually(() => sidecar.read(['none']).then(Boolean, () => false), 'the sidecar of a store')
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

/** All of its threads: a signal reaches a busy one later. */
function isStopped(pid: number | undefined): true | undefined {
  return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('T') || undefined
}
