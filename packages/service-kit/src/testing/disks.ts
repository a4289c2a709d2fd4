import { execFile, execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Disk = Awaited<ReturnType<typeof mountDisk>>

const roomy = '75%'
/** The space that is left for writes of other programs while `mount` starts, in bytes. */
const margin = 64 * 1024 * 1024

/**
 * Mounts a file system in memory (tmpfs) on a folder. A test can fill it.
 * @param size the size of the disk in the syntax of `mount`, until `relieve` is called. The default is three quarters of the memory
 * @throws {Error} if this user may not mount a disk
 */
export async function mountDisk(path: string, size = roomy) {
  mkdirSync(path, { recursive: true })
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'orderflow-test', path]).catch(throwBriefly)
  const resize = (size: string) => run('mount', ['-o', `remount,size=${size}`, path]).catch(throwBriefly)
  /** The file that fills the disk. It has no name, because it is already deleted. */
  let filler: number | undefined
  return {
    path,
    async fill(): Promise<void> {
      filler ??= nameless(path)
      const { blocks, bfree, bsize } = await statfs(path)
      // The kernel refuses a size below the used space, and other programs may write meanwhile. So the new size has a margin, which is then filled.
      await resize(String((blocks - bfree) * bsize + margin))
      fillUp(filler)
    },
    /** Frees the space that `fill` has taken. */
    async relieve(): Promise<void> {
      await resize(roomy)
      if (filler !== undefined) closeSync(filler)
      filler = undefined
    },
  }
}

function nameless(folder: string): number {
  const file = join(folder, '.filler')
  const descriptor = openSync(file, 'w')
  rmSync(file)
  return descriptor
}

function fillUp(descriptor: number): void {
  const zeros = Buffer.alloc(64 * 1024)
  try {
    for (;;) writeSync(descriptor, zeros)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

function throwBriefly(error: unknown): never {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  throw new Error(stderr.trim().split('\n').at(-1) || message, { cause: error })
}

/** Unmounts every disk at or below a folder, even if a process uses it. The kernel frees the disk when the last such process ends. */
export function unmountBelow(folder: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const paths = mounts.map((line) => line.split(' ')[1]?.replaceAll('\\040', ' ') ?? '')
  for (const path of paths.filter((path) => `${path}/`.startsWith(`${folder}/`)))
    execFileSync('umount', ['--lazy', path])
}
