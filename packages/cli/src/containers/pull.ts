import { repository } from '../lib/paths.ts'
import { type RunToolOptions, runTool, withHeartbeat } from '../lib/run-tool.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import { imageDigests } from './image-digests.ts'

/** An engine that cannot reach a registry may try for minutes; one that can says so at once. */
const silenceMs = 20_000

/** Pulls an image. Answers why it could not, in a line; undefined when it is there. */
export async function pull(image: string, { onProgress, signal }: ProvisionOptions): Promise<string | undefined> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), silenceMs)
  let layers = 0
  let pulled = 0
  const onLine = (line: string) => {
    clearTimeout(timer)
    if (line.endsWith(': Pulling fs layer')) layers += 1
    if (line.endsWith(': Pull complete')) pulled += 1
  }
  onProgress(`${image}: pulling`)
  try {
    const either = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])])
    await withHeartbeat(image, { onProgress, detail: () => `${pulled} of ${layers} layers pulled` }, () =>
      pullPinned(image, { cwd: repository, signal: either, onLine }),
    )
    onProgress(`${image}: pulled`)
    return undefined
  } catch (error) {
    if (signal?.aborted) throw error
    if (silence.signal.aborted) return `no answer in ${silenceMs / 1000} s`
    return (error as Error).message.trim().split('\n').at(-1) ?? ''
  } finally {
    clearTimeout(timer)
  }
}

/** By its digest where one is known; it has its tag then, too. */
async function pullPinned(image: string, options: RunToolOptions): Promise<void> {
  const digest = imageDigests[image]
  const pinned = digest ? `${image.replace(/:.*/, '')}@${digest}` : image
  await runTool('docker', ['pull', pinned], options)
  if (digest) await runTool('docker', ['tag', pinned, image], options)
}
