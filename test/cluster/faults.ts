import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@orderflow/stack/base'

// Faults of a container, which this machine causes through the container's first process.

/** Uses the memory of a container until the kernel kills the process. */
export async function exhaustMemory(pid: number): Promise<void> {
  // Among processes of similar size, the kernel kills the one with the larger number.
  writeFileSync(`/proc/${pid}/oom_score_adj`, '1000')
  const program = 'const all = []; setInterval(() => all.push(Buffer.alloc(8e6, 1)), 1)'
  const script = 'echo $$ >"$1" && exec "$2" --eval "$3"'
  const args = ['-c', script, 'sh', join(memoryGroup(pid), 'cgroup.procs'), process.execPath, program]
  const greedy = spawn('sh', args, { stdio: 'inherit' })
  try {
    await eventually(() => !existsSync(`/proc/${pid}`), `the end of process ${pid}`)
  } finally {
    greedy.kill('SIGKILL')
  }
}

/** Returns the folder of the cgroup that limits the memory of a process, in version 1 or 2 of cgroups. */
function memoryGroup(pid: number): string {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  const [, own] = /^\d+:memory:(.+)$/m.exec(groups) ?? []
  const [, unified = ''] = /^0::(.+)$/m.exec(groups) ?? []
  return own ? join('/sys/fs/cgroup/memory', own) : join('/sys/fs/cgroup', unified)
}

/** Fills a volume of a container with a file of the given size, such as `4G`. */
export function fillVolume(pid: number, folder: string, size: string): void {
  execFileSync('fallocate', ['--length', size, join(`/proc/${pid}/root`, folder, 'filler')])
}
