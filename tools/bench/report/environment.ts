import { execFileSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { repository } from '@orderflow/stack/base'

export interface Environment {
  /** ISO 8601 in UTC. */
  date: string
  machine: string
  /** The commit, which also has the versions of Node, daprd and Kafka. A plus means uncommitted changes. */
  commit: string
  /** The load average before the measurement. If it is above the number of cores, other programs were busy. */
  loadBefore: number
}

export function environment(now: Date): Environment {
  const [processor] = cpus()
  return {
    date: now.toISOString(),
    machine: `${cpus().length} x ${processor?.model.trim() || 'unknown processor'}`,
    commit: git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') ? '+' : ''),
    loadBefore: loadavg()[0] ?? 0,
  }
}

/** Returns the output of git, or an empty string outside a repository. */
function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}
