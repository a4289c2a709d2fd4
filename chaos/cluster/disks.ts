import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system of its own in memory, which can be full without filling the machine. */
export interface Disk {
  path: string
  /** No byte more fits from now on. */
  fill(): Promise<void>
  /** There is room again. */
  relieve(): Promise<void>
}

/**
 * Mounts a tmpfs on a folder.
 * @throws {Error} in one line, where this user may not
 */
export async function mountDisk(path: string): Promise<Disk> {
  mkdirSync(path, { recursive: true })
  await run('mount', ['-t', 'tmpfs', '-o', 'size=75%', 'orderflow-chaos', path]).catch(tellBriefly)
  const resize = (size: string) => run('mount', ['-o', `remount,size=${size}`, path]).catch(tellBriefly)
  return {
    path,
    async fill() {
      // What is written between the look and the resizing makes the size too small, and that is refused.
      for (let attempt = 1; ; attempt += 1) {
        const { blocks, bfree, bsize } = await statfs(path)
        const refused = await resize(String((blocks - bfree) * bsize)).then(
          () => undefined,
          (error: unknown) => error,
        )
        if (!refused) return
        if (attempt === 50) throw refused
        await delay(10)
      }
    },
    relieve: async () => void (await resize('75%')),
  }
}

function tellBriefly(error: unknown): never {
  const { stderr = '', message } = error as { stderr?: string; message: string }
  throw new Error(stderr.trim().split('\n').at(-1) || message, { cause: error })
}

/** Unmounts every disk below a folder, at once or, where a process still uses it, when that ends. */
export function unmountBelow(folder: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const paths = mounts.map((line) => line.split(' ')[1]?.replaceAll('\\040', ' ') ?? '')
  for (const path of paths.filter((path) => path.startsWith(`${folder}/`))) execFileSync('umount', ['--lazy', path])
}
