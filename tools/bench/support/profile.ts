/** The used part of V8’s profile (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile). */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  samples: number[]
  timeDeltas: number[]
}

export interface Share {
  where: string
  ms: number
}

/** Returns the busy time of a process’s main thread by package or folder. */
export function profileShares({ nodes, samples, timeDeltas }: CpuProfile): { busyMs: number; shares: Share[] } {
  const wheres = new Map(nodes.map(({ id, callFrame }) => [id, whereOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const where = wheres.get(id) ?? ''
    times.set(where, (times.get(where) ?? 0) + (timeDeltas[index] ?? 0) / 1_000)
  }
  times.delete('(idle)')
  const shares = [...times].map(([where, ms]) => ({ where, ms })).sort((a, b) => b.ms - a.ms)
  return { busyMs: shares.reduce((sum, { ms }) => sum + ms, 0), shares }
}

function whereOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string {
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (dependency) return dependency
  const [, own] = /^file:.*\/([^/]+\/(?:src|parts|support|compare))\//.exec(url) ?? []
  if (own) return own
  if (url.startsWith('node:')) return `Node, ${url.split('/').slice(0, 2).join('/')}`
  // Names in parentheses are V8’s own. Other frames without a URL are native or generated code.
  return functionName.startsWith('(') ? functionName : 'native or generated'
}
