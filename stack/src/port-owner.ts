import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Pid of the process listening on a TCP port, when the system lets us see it. */
export function portOwner(port: number): number | undefined {
  return process.platform === 'linux' ? fromProc(port) : fromLsof(port)
}

function fromProc(port: number): number | undefined {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => listenerInodes(table, port)))
  if (inodes.size === 0) return undefined
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).find((pid) => socketInodes(pid).some((inode) => inodes.has(inode)))
}

/** /proc/net/tcp: local address as HEX:PORT in the second column, state 0A is LISTEN, the socket's inode in the tenth. */
function listenerInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  try {
    return readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(`:${hex}`) && fields[3] === '0A')
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

function fromLsof(port: number): number | undefined {
  try {
    const output = execFileSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'], { encoding: 'utf8' })
    return Number(output.split('\n')[0]) || undefined
  } catch {
    return undefined
  }
}
