import { repository } from '../lib/paths.ts'
import { type RunToolOptions, runTool } from '../lib/run-tool.ts'
import type { ProvisionOptions } from '../provision/options.ts'
import { imageDigests } from './image-digests.ts'

/** An engine that cannot reach a registry may try for minutes; one that can says so at once. */
const silenceMs = 20_000

/** Answers about one image; any other failure is about the registry, and so about all of them. */
const aboutTheImage = /manifest unknown|no matching manifest|access denied/i

export interface PullFailure {
  /** One line. */
  reason: string
  registry: boolean
}

/** Pulls an image; undefined when it is there then. */
export async function pull(image: string, { onProgress, signal }: ProvisionOptions): Promise<PullFailure | undefined> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), silenceMs)
  onProgress(`${image}: pulling`)
  try {
    const onLine = () => clearTimeout(timer)
    const either = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])])
    await pullPinned(image, { cwd: repository, signal: either, onLine })
    return undefined
  } catch (error) {
    if (signal?.aborted) throw error
    if (silence.signal.aborted) return { reason: `no answer in ${silenceMs / 1000} s`, registry: true }
    return failure((error as Error).message)
  } finally {
    clearTimeout(timer)
  }
}

/** Whether an image could be pulled, without doing it. */
export async function pullable(image: string): Promise<PullFailure | undefined> {
  try {
    const signal = AbortSignal.timeout(silenceMs)
    await runTool('docker', ['manifest', 'inspect', image], { cwd: repository, signal })
    return undefined
  } catch (error) {
    return failure((error as Error).message)
  }
}

/** Reads what docker printed; the reason is its last line. */
export function failure(printed: string): PullFailure {
  const reason = printed.trim().split('\n').at(-1) ?? ''
  return { reason, registry: !aboutTheImage.test(reason) }
}

/** By its digest where one is known; it has its tag then, too. */
async function pullPinned(image: string, options: RunToolOptions): Promise<void> {
  const digest = imageDigests[image]
  const pinned = digest ? `${image.replace(/:.*/, '')}@${digest}` : image
  await runTool('docker', ['pull', pinned], options)
  if (digest) await runTool('docker', ['tag', pinned, image], options)
}
