import { docker } from './docker.ts'

/** The label of a container or network that must not outlive the process whose id is its value. */
const ownerLabel = 'orderflow.owner'

/** docker's options that make this process the owner. */
export const owned = ['--label', `${ownerLabel}=${process.pid}`]

/** Removes what processes that were killed left in the Docker engine. */
export async function removeOrphans(): Promise<void> {
  const format = `{{.Label "${ownerLabel}"}}`
  const containers = await docker(['ps', '--all', '--filter', `label=${ownerLabel}`, '--format', format])
  const networks = await docker(['network', 'ls', '--filter', `label=${ownerLabel}`, '--format', format])
  const owners = new Set(`${containers}\n${networks}`.split('\n').map(Number).filter(Boolean))
  for (const pid of owners) if (!isAlive(pid)) await removeOf(pid)
}

/** Removes all that a process owns. */
export async function removeOf(pid: number): Promise<void> {
  const filter = ['--quiet', '--filter', `label=${ownerLabel}=${pid}`]
  const containers = await docker(['ps', '--all', ...filter])
  for (const id of lines(containers)) await docker(['rm', '--force', '--volumes', id]).catch(() => {})
  const networks = await docker(['network', 'ls', ...filter])
  for (const id of lines(networks)) await docker(['network', 'rm', id]).catch(() => {})
}

const lines = (text: string) => text.split('\n').filter(Boolean)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
