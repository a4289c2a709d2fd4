import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface PortOwner {
  pid: number
  /** False when the port is merely the near end of a connection that the process opened. */
  listens: boolean
}

/** Who holds a TCP port, when the system lets us see it. */
export function portOwner(port: number): PortOwner | undefined {
  for (const listens of [true, false]) {
    const pid = process.platform === 'linux' ? fromProc(port, listens) : fromLsof(port, listens)
    if (pid) return { pid, listens }
  }
  return undefined
}

function fromProc(port: number, listens: boolean): number | undefined {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => socketsOn(table, port, listens)))
  if (inodes.size === 0) return undefined
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).find((pid) => socketInodes(pid).some((inode) => inodes.has(inode)))
}

/** /proc/net/tcp: local address as HEX:PORT in the second column, state 0A is LISTEN, the socket's inode in the tenth. */
function socketsOn(table: string, port: number, listens: boolean): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  try {
    return readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(`:${hex}`) && (fields[3] === '0A') === listens)
      .map((fields) => fields[9] ?? '')
  } catch {
    return []
  }
}

function socketInodes(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => socketInode(`/proc/${pid}/fd/${fd}`))
  } catch {
    return []
  }
}

/** Empty for a descriptor that is no socket, or closed meanwhile. */
function socketInode(descriptor: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(descriptor))?.[1] ?? ''
  } catch {
    return ''
  }
}

function fromLsof(port: number, listens: boolean): number | undefined {
  try {
    const state = listens ? '-sTCP:LISTEN' : '-sTCP:^LISTEN'
    const output = execFileSync('lsof', ['-nP', `-iTCP:${port}`, state, '-t'], { encoding: 'utf8' })
    return Number(output.split('\n')[0]) || undefined
  } catch {
    return undefined
  }
}
